"""Restoring of plain characters that pages, word processors and chats replaced: no-break spaces, one long dash for hyphens, one ellipsis for dots.

    ———-Sequential Output——– —Sequential Input- –Random–
    $ dd if=/dev/zero of=/data/t bs=1M count=4096 –verbose

A dash in prose stays, and so does a blank between digits that separates thousands, which differs from those around it.
Where most blanks of a text are such, all of them are replaced.
"""

import re

from apps.parsers.core.source_text import SourceText

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


def with_plain_characters(text: SourceText) -> SourceText | None:
    """Return the text in plain characters, with the same line numbers; None where it is so already."""
    if text.data.isascii() or not _SIGNS.search(whole := text.text):
        return None
    bare = _UNSEEN.sub("", whole).replace("\u2026", "...")
    bare = _replace_blanks(_DASHES.sub(_replace_dashes, _AT_A_WORD.sub(_replace_dash, bare)))
    return text.with_data(bare.encode("utf-8", "replace")) if bare != whole else None


def _replace_dash(match: re.Match[str]) -> str:
    return _DRAWN[match[0]]


def _replace_dashes(match: re.Match[str]) -> str:
    """Return the hyphens for several dashes in a row; a single one, between blanks or between words, is prose and stays."""
    return "".join(_DRAWN[dash] for dash in match[0]) if len(match[0]) > 1 else match[0]


def _replace_blanks(text: str) -> str:
    blanks = _BLANK.findall(text)
    if not blanks:
        return text
    if len(blanks) > text.count(" "):
        return _BLANK.sub(" ", text)
    separators = {match.start() for match in _BETWEEN_DIGITS.finditer(text)}
    return _BLANK.sub(lambda match: match[0] if match.start() in separators else " ", text)
