r"""Tools' output inside strings, as who ran them for somebody keeps it: Ansible's results, logs of containers, programs.

    "  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)",            a list of lines (`stdout_lines`)
    {"log":"  read: IOPS=122k, BW=478MiB/s …\n","stream":"stdout","time":"…"}  a container's log
     - '  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)'          the same list in YAML
    "stdout": "rr: (groupid=0, jobs=1): err= 0: …\n  read: IOPS=122k, …"       all in one string
    {"stdout": "1024+0 …", "stdout_lines": ["1024+0 records in", "1024+0 …"]}  both in one row

Lines keep their numbers; those of one row have all its number. A string that a list says over again is left out.
"""

import json
import re
from collections.abc import Iterator

from apps.parsers.source_text import SourceText

_STRING = re.compile(r'\s{0,200}("(?:[^"\\]|\\.)*+"),?\s*$')
_LOG = re.compile(r'\s{0,200}\{"log":\s?("(?:[^"\\]|\\.)*+")[,}]')
_ITEM = re.compile(r"\s{0,200}- (?:'((?:[^']|'')*+)'|(.*+))$")
_NAME = r'"(?:[\w.]{0,80}_lines|msg)":\s?\['
_NAMED = re.compile(_NAME + r"\s*$")
_LIST = re.compile(_NAME + r'((?:"(?:[^"\\]|\\.)*+"(?:, ?)?+)++)\]')
_WHOLE = tuple(  # an end that is missing ends with the row: linear
    re.compile(form) for form in (r'"((?:[^"\\]|\\.)*)(?:"|\\?$)', r"'((?:[^'\\]|\\.)*)(?:'|\\?$)")
)
_STREAM = re.compile(r'"[\w.]{0,80}std(?:out|err)": ?"((?:[^"\\]|\\.)*+)"')
_OUTPUT = re.compile(r'"[\w.]{0,80}(?:output|msg|log|result)":')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))")
_FEWEST = 3  # lines on end that nothing else says to be an output's
_OWN = ('"argv"', '"output"', '"server_output_text"')  # of the tools' own JSON, which says it all in figures
_SIGNS = ("\\n", '",\n', '",\r\n', '"\n', "  - '", "\n- '", '": ["', '":["', '{"log":')


def as_printed(text: SourceText) -> SourceText | None:
    """The same lines, with the same numbers, as the tools printed them; None where none of them stands in a string."""
    if not any(sign in text.text for sign in _SIGNS):
        return None
    rows = text.text.split("\n")
    lists = set(_taken_lists(rows))
    is_changed = bool(lists)
    for place, row in enumerate(rows):
        if ("\\n" in row or '"std' in row or '_lines"' in row or '"msg"' in row) and (
            found := _spread(row, lists)
        ) is not None:
            rows[place] = found
            is_changed = True
    return text.with_data("\n".join(rows).encode("utf-8", "replace")) if is_changed else None


def _taken_lists(rows: list[str]) -> Iterator[str]:
    """What each list of strings says, one in a row; the rows become what is in them."""
    for form in (_log, _string, _item):
        first = 0
        while first < len(rows):
            bare: list[str] = []
            while first + len(bare) < len(rows) and (one := form(rows[first + len(bare)])) is not None:
                bare.append(one)
            if bare and (form is _log or _is_output(rows, first, bare)):
                rows[first : first + len(bare)] = bare
                yield "\n".join(bare).strip()
            first += len(bare) + 1


def _is_output(rows: list[str], first: int, bare: list[str]) -> bool:
    """Whether the list is one of lines that a tool printed: its name says so, or there are some with words."""
    name = rows[first - 1] if first else ""
    if any(own in name for own in _OWN):
        return False
    if _NAMED.search(name[-200:]):
        return True
    mine = rows[first : first + len(bare)]
    if len(mine) < _FEWEST:
        return False
    if mine[0].lstrip()[:1] == "-":
        return any(" '" in row for row in mine)
    return all(row.rstrip()[-1:] == "," for row in mine[:-1]) and any(" " in one.strip() for one in bare)


def _log(row: str) -> str | None:
    return _loaded(match[1]) if '{"log":' in row and (match := _LOG.match(row)) else None


def _string(row: str) -> str | None:
    return _loaded(match[1]) if '"' in row and (match := _STRING.match(row)) else None


def _loaded(string: str) -> str | None:
    try:
        bare = str(json.loads(string, strict=False)).rstrip("\r\n")
    except ValueError:
        return None
    return None if "\n" in bare else bare


def _item(row: str) -> str | None:
    """Of a list in YAML, in which what begins with blanks stands in apostrophes."""
    if "- " not in row or (match := _ITEM.match(row.rstrip())) is None:
        return None
    if match[1] is None and match[2].startswith((" ", "- ")):
        return None  # somebody's words before every line
    return match[1].replace("''", "'") if match[1] is not None else match[2]


def _spread(row: str, lists: set[str]) -> str | None:
    """What its strings of several lines and its lists say, with ends of lines that count as one line's; None where there is none."""
    if any(own in row for own in _OWN):
        return None
    listed = ["\n".join(_plain(one[1]) for one in _WHOLE[0].finditer(match[1])) for match in _LIST.finditer(row)]
    streams = {_plain(match[1]) for match in _STREAM.finditer(row)}
    fewest = 1 if streams or _OUTPUT.search(row) else _FEWEST - 1  # ends of lines
    for form in _WHOLE:
        strings = [_plain(one[1]) for one in form.finditer(row)]
        found = [
            one
            for one in strings
            if one in streams or (one.count("\n") >= fewest and one.strip()) or one.strip() in lists
        ]
        if found or listed:
            said = lists.union(one.strip() for one in listed)
            told = [
                *(one for one in found if one.strip() not in said),
                *(one for one in listed if one.strip() not in lists),
            ]
            return "\r".join(one.replace("\n", "\r") for one in told)
    return None


def _plain(string: str) -> str:
    return _ESCAPE.sub(_unescaped, string)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])
