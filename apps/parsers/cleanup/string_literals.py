r"""Extraction of tools' output from strings, as Ansible's results, logs of containers and programs hold it.

    "  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)",            a list of lines (`stdout_lines`)
    {"log":"  read: IOPS=122k, BW=478MiB/s …\n","stream":"stdout","time":"…"}  a container's log
     - '  read: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)'          the same list in YAML
    "stdout": "rr: (groupid=0, jobs=1): err= 0: …\n  read: IOPS=122k, …"       all in one string
    {"stdout": "1024+0 …", "stdout_lines": ["1024+0 records in", "1024+0 …"]}  both in one row

Lines keep their numbers; all lines from one row of the file have its number. A string that repeats a list is dropped.
"""

import json
import re
from collections.abc import Iterator

from apps.parsers.core.source_text import SourceText

_STRING = re.compile(r'\s{0,200}("(?:[^"\\]|\\.)*+"),?\s*$')
_LOG = re.compile(r'\s{0,200}\{"log":\s?("(?:[^"\\]|\\.)*+")[,}]')
_ITEM = re.compile(r"\s{0,200}- (?:'((?:[^']|'')*+)'|(.*+))$")
_NAME = r'"(?:[\w.]{0,80}_lines|msg)":\s?\['
_NAMED = re.compile(_NAME + r"\s*$")
_LIST = re.compile(_NAME + r'((?:"(?:[^"\\]|\\.)*+"(?:, ?)?+)++)\]')
_WHOLE = tuple(  # a string without its closing quote ends with the row, which keeps the search linear
    re.compile(form) for form in (r'"((?:[^"\\]|\\.)*)(?:"|\\?$)', r"'((?:[^'\\]|\\.)*)(?:'|\\?$)")
)
_STREAM = re.compile(r'"[\w.]{0,80}std(?:out|err)": ?"((?:[^"\\]|\\.)*+)"')
_OUTPUT = re.compile(r'"[\w.]{0,80}(?:output|msg|log|result)":')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))")
_FEWEST = 3  # lines on end that count as output where no name says so
_OWN = ('"argv"', '"output"', '"server_output_text"')  # keys of tools' own JSON, which has the same as figures
_SIGNS = ("\\n", '",\n', '",\r\n', '"\n', "  - '", "\n- '", '": ["', '":["', '{"log":')


def without_quotes(text: SourceText) -> SourceText | None:
    """Return the text as the tools printed it, with the same line numbers; None where no output stands in a string."""
    if not any(sign in text.text for sign in _SIGNS):
        return None
    rows = text.text.split("\n")
    lists = set(_unquote_lists(rows))
    is_changed = bool(lists)
    for index, row in enumerate(rows):
        if ("\\n" in row or '"std' in row or '_lines"' in row or '"msg"' in row) and (
            spread := _spread_strings(row, lists)
        ) is not None:
            rows[index] = spread
            is_changed = True
    return text.with_data("\n".join(rows).encode("utf-8", "replace")) if is_changed else None


def _unquote_lists(rows: list[str]) -> Iterator[str]:
    """Replace each list of strings, one in a row, by its lines, and yield its text."""
    for form in (_read_log, _read_string, _read_item):
        first = 0
        while first < len(rows):
            bare: list[str] = []
            while first + len(bare) < len(rows) and (line := form(rows[first + len(bare)])) is not None:
                bare.append(line)
            if bare and (form is _read_log or _is_output(rows, first, bare)):
                rows[first : first + len(bare)] = bare
                yield "\n".join(bare).strip()
            first += len(bare) + 1


def _is_output(rows: list[str], first: int, bare: list[str]) -> bool:
    """Return whether the list holds lines that a tool printed: its name says so, or several of them contain words."""
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
    return all(row.rstrip()[-1:] == "," for row in mine[:-1]) and any(" " in line.strip() for line in bare)


def _read_log(row: str) -> str | None:
    """Return the line in a row of a container's log."""
    return _load(match[1]) if '{"log":' in row and (match := _LOG.match(row)) else None


def _read_string(row: str) -> str | None:
    """Return the line in a row that is one JSON string."""
    return _load(match[1]) if '"' in row and (match := _STRING.match(row)) else None


def _load(string: str) -> str | None:
    try:
        bare = str(json.loads(string, strict=False)).rstrip("\r\n")
    except ValueError:
        return None
    return None if "\n" in bare else bare


def _read_item(row: str) -> str | None:
    """Return the line in an item of a YAML list; those that begin with blanks are in apostrophes."""
    if "- " not in row or (match := _ITEM.match(row.rstrip())) is None:
        return None
    if match[1] is None and match[2].startswith((" ", "- ")):
        return None  # "- " stands before every line of some other text
    return match[1].replace("''", "'") if match[1] is not None else match[2]


def _spread_strings(row: str, lists: set[str]) -> str | None:
    """Return the lines in a row's strings and lists, joined with carriage returns; None where there are none.

    `lists` holds the texts of lists that were read before; strings that repeat one are dropped.
    """
    if any(own in row for own in _OWN):
        return None
    listed = ["\n".join(_unescape(item[1]) for item in _WHOLE[0].finditer(match[1])) for match in _LIST.finditer(row)]
    streams = {_unescape(match[1]) for match in _STREAM.finditer(row)}
    fewest = 1 if streams or _OUTPUT.search(row) else _FEWEST - 1  # ends of lines
    for form in _WHOLE:
        strings = [_unescape(match[1]) for match in form.finditer(row)]
        chosen = [
            string
            for string in strings
            if string in streams or (string.count("\n") >= fewest and string.strip()) or string.strip() in lists
        ]
        if chosen or listed:
            texts_of_lists = lists.union(string.strip() for string in listed)
            parts = [
                *(string for string in chosen if string.strip() not in texts_of_lists),
                *(string for string in listed if string.strip() not in lists),
            ]
            return "\r".join(string.replace("\n", "\r") for string in parts)
    return None


def _unescape(string: str) -> str:
    return _ESCAPE.sub(_replace_escape, string)


def _replace_escape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])
