"""Removal of marks before every line of an output, as mails, patches, comments, boxes and file viewers have them.

    | 1024+0 records in                   mails, boxes (which end with `|` too)
    +1024+0 records in                    a patch; ` * `, `-- `, `// `, `; `, `REM ` a comment
        5<tab>1024+0 records in           cat -n, nl, less -N; `5:` grep -n, `5 │` bat

A mark stands before five or more lines on end. Where a text has sections in brackets, as job files do, `;` is taken for
a comment of the file and stays. Line numbers are removed only where nearly all lines of the text have one and they
count up by one: some tools number their rows.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from apps.parsers.core.source_text import SourceText

_MARKS = re.compile(r"(?:\+|\||:| \*| ?\* | ?--|//|;|%|!|(?:REM|rem)\b) ?")
_MARKED = re.compile(r"^(?:[+|:;%!]| \*|\* |--| --|//|REM\b|rem\b)", re.MULTILINE)
_SECTION = re.compile(r"^[ \t]{0,60}\[[^\]\n]{1,255}\][ \t]*$", re.MULTILINE)
_NUMBER = re.compile(r"\s{0,8}(\d{1,7})(?::|\)| ?[|│] ?|[ \t]|$)")
_TREE_BRANCH = re.compile(r"\|(?:-|[ |]{1,80}[|`]-)[^\s-]")
_BEHIND_BRANCH = ("-", " ", "")  # the sign
_FEWEST = 5
_SHARE = 0.9
_HEAD = 4000  # characters
_MOST_NUMBERED = 100_000  # lines


def without_marks(text: SourceText) -> SourceText | None:
    """Return the text without marks, with the same line numbers; None where there are none."""
    rows = _without_numbers(text.text) or _without_signs(text.text)
    return None if rows is None else text.with_data("\n".join(rows).encode("utf-8", "replace"))


def _without_numbers(whole: str) -> list[str] | None:
    head = whole if len(whole) <= _HEAD else whole[:_HEAD].rpartition("\n")[0]
    if not _match_numbers(head.split("\n")) or whole.count("\n") > _MOST_NUMBERED:
        return None
    rows = whole.split("\n")
    matches = _match_numbers(rows)
    return (
        [row[matches[index].end() :] if index in matches else row for index, row in enumerate(rows)]
        if matches
        else None
    )


def _match_numbers(rows: Sequence[str]) -> dict[int, re.Match[str]]:
    """Return the match of a number by line index; empty unless nearly all lines that are not blank have one, counting up by one."""
    filled = [(index, _NUMBER.match(row)) for index, row in enumerate(rows) if row.strip()]
    matches = {index: match for index, match in filled if match}
    steps = sum(1 for before, after in pairwise(matches.values()) if int(after[1]) - int(before[1]) == 1)
    is_counted = len(matches) >= max(_FEWEST, _SHARE * len(filled)) and steps >= _SHARE * (len(matches) - 1)
    return matches if is_counted else {}


def _without_signs(whole: str) -> list[str] | None:
    if not _MARKED.search(whole):
        return None
    rows, has_sections = whole.split("\n"), _SECTION.search(whole) is not None
    first = taken = 0
    while first < len(rows):
        match = _MARKS.match(rows[first])
        if match is None:
            first += 1
            continue
        sign = match[0].rstrip()
        last = first + 1
        while last < len(rows) and rows[last].startswith(sign):
            last += 1
        mine = rows[first:last]
        is_no_mark = (sign == "|" and _is_tree(mine)) or (sign == ";" and has_sections)
        if last - first >= _FEWEST and not is_no_mark:
            rows[first:last] = _strip_sign(mine, sign)
            taken += 1
        first = last
    return rows if taken else None


def _is_tree(mine: Sequence[str]) -> bool:
    """Return whether these lines, which begin with `|`, are branches of a tree as lsblk and findmnt draw it."""
    return _TREE_BRANCH.match(mine[0]) is not None and all(row[1:2] in _BEHIND_BRANCH for row in mine)


def _strip_sign(rows: Sequence[str], sign: str) -> list[str]:
    """Remove the sign, one blank behind it where every line has that, and the closing `|` of a box."""
    bare = [row[len(sign) :] for row in rows]
    if all(not row.strip() or row[0] == " " for row in bare):
        bare = [row[1:] for row in bare]
    if sign == "|" and all(row.rstrip().endswith(sign) for row in bare):
        bare = [row.rstrip().removesuffix(sign).rstrip() for row in bare]
    return bare
