"""What pages, word processors and chats make of plain characters: blanks that do not break, one long dash for hyphens, dots in one.

    ———-Sequential Output——– —Sequential Input- –Random–
    $ dd if=/dev/zero of=/data/t bs=1M count=4096 –verbose

A dash in prose stays, and so does a blank between digits that marks thousands: it is another than those around it. Where most
blanks of a text are such, all of them are blanks.
"""

import re

from apps.parsers.source_text import SourceText

_BLANKS = "\u00a0\u2000-\u200a\u202f\u205f\u3000"
_BLANK = re.compile(f"[{_BLANKS}]")
_BETWEEN_DIGITS = re.compile(f"(?<=[0-9])[{_BLANKS}](?=[0-9])")
_UNSEEN = re.compile("[\u200b\u2060\ufeff]")
_DASHES = re.compile(r"(?<![\u2013\u2014-])-*+[\u2013\u2014][\u2013\u2014-]*+")
_AT_A_WORD = re.compile(
    r"(?<![\w\u2013\u2014-])[\u2013\u2014](?=[A-Za-z])|(?<=[A-Za-z])[\u2013\u2014](?![\w\u2013\u2014-])"
)  # on one side
_DRAWN = {"\u2013": "--", "\u2014": "---", "-": "-"}
_SIGNS = re.compile(f"[{_BLANKS}\u200b\u2060\ufeff\u2013\u2014\u2026]")


def as_typed(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, in plain characters; None where they are."""
    if text.data.isascii() or not _SIGNS.search(whole := text.text):
        return None
    bare = _UNSEEN.sub("", whole).replace("\u2026", "...")
    bare = _with_blanks(_DASHES.sub(_dashes, _AT_A_WORD.sub(_dash, bare)))
    return text.with_data(bare.encode("utf-8", "replace")) if bare != whole else None


def _dash(match: re.Match[str]) -> str:
    return _DRAWN[match[0]]


def _dashes(match: re.Match[str]) -> str:
    """What several in a row were; one alone, between blanks or between words, is prose."""
    return "".join(_DRAWN[one] for one in match[0]) if len(match[0]) > 1 else match[0]


def _with_blanks(text: str) -> str:
    found = _BLANK.findall(text)
    if not found:
        return text
    if len(found) > text.count(" "):
        return _BLANK.sub(" ", text)
    kept = {match.start() for match in _BETWEEN_DIGITS.finditer(text)}
    return _BLANK.sub(lambda match: match[0] if match.start() in kept else " ", text)
