r"""Tools' output inside strings, as who ran them for somebody keeps it: Ansible's results, logs of containers, programs.

    "  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)",            a list of lines (`stdout_lines`)
    {"log":"  read: IOPS=122k, BW=478MiB/s …\n","stream":"stdout","time":"…"}  a container's log
      - '  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)'          the same list in YAML
    "stdout": "rr: (groupid=0, jobs=1): err= 0: …\n  read: IOPS=122k, …"       all in one string

Lines keep their numbers; those of one string have all its number. A string that a list says over again is left out.
"""

import json
import re
from collections.abc import Callable

from apps.parsers.source_text import SourceText

_STRING = re.compile(r'\s{0,200}("(?:[^"\\]|\\.){0,4000}"),?\s*$')
_LOG = re.compile(r'\s{0,200}\{"log":\s?("(?:[^"\\]|\\.){0,4000}")[,}]')
_ITEM = re.compile(r"\s{0,200}- (?:'((?:[^']|''){0,4000}+)'|(.{0,4000}+))$")
_WHOLE = tuple(  # an end that is missing ends with the row: linear
    re.compile(form) for form in (r'"((?:[^"\\]|\\.)*)(?:"|\\?$)', r"'((?:[^'\\]|\\.)*)(?:'|\\?$)")
)
_ESCAPED = {"n": "\n", "r": "", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\([nrt\"'\\])")
_FEWEST = 3
_OTHERS = '"server_output_text"'  # which is of the test that iperf 3's JSON tells
_LIST_ENDS = ('",\n', '",\r\n', "\n- '", "  - '", '{"log":')


def unquoted(text: SourceText, word: str, sign: str = "") -> SourceText:
    """The text with what stands in strings as it was printed, where this word of the tool's is in there. `sign`: what stands in
    the file then, where that is not the word itself.
    """
    if (sign or word).encode() not in text.data:
        return text
    whole = text.text
    if not ("\\n" in whole or any(end in whole for end in _LIST_ENDS)):
        return text
    rows = whole.split("\n")
    lists: set[str] = set()
    is_changed = [_take_lists(rows, form, word, lists) for form in (_string, _item)]
    for place, row in enumerate(rows):
        if word in row and "\\n" in row and _OTHERS not in row and (found := _spread(row, word, lists)) is not None:
            rows[place] = found
            is_changed.append(True)
    return text.with_data("\n".join(rows).encode("utf-8", "replace")) if any(is_changed) else text


def _take_lists(rows: list[str], form: Callable[[str], str | None], word: str, lists: set[str]) -> bool:
    """Three strings or more on end become what is in them; each such list is put into `lists`."""
    first, is_changed = 0, False
    while first < len(rows):
        bare: list[str] = []
        while first + len(bare) < len(rows) and (one := form(rows[first + len(bare)])) is not None:
            bare.append(one)
        if len(bare) >= _FEWEST and any(word in one for one in bare):
            rows[first : first + len(bare)] = bare
            lists.add("\n".join(bare).strip())
            is_changed = True
        first += len(bare) + 1
    return is_changed


def _string(row: str) -> str | None:
    if '"' not in row or (match := _LOG.match(row) or _STRING.match(row)) is None:
        return None
    try:
        found = json.loads(match[1], strict=False)
    except ValueError:
        return None
    bare = str(found).rstrip("\r\n")
    return None if "\n" in bare else bare


def _item(row: str) -> str | None:
    """Of a list in YAML, in which what begins with blanks stands in apostrophes."""
    if (match := _ITEM.match(row.rstrip())) is None:
        return None
    if match[1] is None and (match[2].startswith((" ", "- ")) or ": (g" in match[2]):
        return None  # somebody's words before every line
    return match[1].replace("''", "'") if match[1] is not None else match[2]


def _spread(row: str, word: str, lists: set[str]) -> str | None:
    """Its strings of several lines with this word, with ends of lines that count as one line's; None where there is none."""
    for form in _WHOLE:
        strings = [_ESCAPE.sub(lambda match: _ESCAPED[match[1]], one[1]) for one in form.finditer(row)]
        found = [one for one in strings if word in one and "\n" in one.strip()]
        if found:
            return "\r".join(one.replace("\n", "\r") for one in found if one.strip() not in lists)
    return None
