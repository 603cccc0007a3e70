"""What people's programs put before the lines of fio's normal report, and what is another one on every line.

 5\trr: (groupid=0, jobs=1): err= 0: pid=9     cat -n, nl, less -N, and editors, with a rule behind the number too
5:rr: (groupid=0, jobs=1): err= 0: pid=9       grep -n
a.log:5:rr: (groupid=0, jobs=1): err= 0: …     grep -Hn: the name stays
"""

import re
from collections.abc import Sequence

_NUMBERED = re.compile(
    r"(?:(?P<name>[^\s:]{1,200}?)(?P<mark>[:-])|\s{0,8})(?P<number>\d{1,7})(?(mark)[:-]|(?:[:)-]|\s?[|\u2502]\s?|[ \t]|$))"
)
_RATES = re.compile(r"(?:read|write|trim|mixed)\s{0,3}:\s{0,3}IOPS=")
_LONGEST = 1000
_FEWEST = 3


def plain(lines: Sequence[str]) -> list[str]:
    """The lines without numbers that count up before every line of a report; rates in tables as rates behind a name."""
    found = [_row(line) if "IOPS=" in line and line.count("|") > 1 else line for line in lines]
    for index, line in enumerate(found):
        if "(groupid=" in line and (match := _NUMBERED.match(line)) and match.end() < len(line):
            _without_numbers(found, index)
    return found


def _row(line: str) -> str:
    """Rates in a table of Markdown's, as rates behind a name: that of the cells before them."""
    cells = [cell.strip(" \t`*") for cell in line[:_LONGEST].strip().strip("|").split("|")]
    rates = [place for place, cell in enumerate(cells) if _RATES.match(cell)]
    names = [cell for cell in cells[: rates[0]] if cell] if rates else []
    return f"{', '.join(names)}: {'  '.join(cells[place] for place in rates)}" if names else line


def _without_numbers(lines: list[str], index: int) -> None:
    """Take away the numbers of the stretch around this line, where there is one."""
    mine: dict[int, str] = {}
    for step in (-1, 1):
        place, number, of = index, None, None
        while 0 <= place < len(lines) and (match := _NUMBERED.match(lines[place])):
            is_next = number is None or (int(match["number"]) - number) * step > 0
            if not is_next or (of is not None and of != (match["name"] or "")):
                break
            number, of = int(match["number"]), match["name"] or ""
            mine[place] = (f"{of}:" if of else "") + lines[place][match.end() :]
            place += step
    if len(mine) >= _FEWEST:
        for place, bare in mine.items():
            lines[place] = bare
