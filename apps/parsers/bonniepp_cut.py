"""CSV lines of bonnie++'s that end before there is enough of them to be read (`bonniepp_csv` reads those that have more):
told, so that nobody misses the run.

    alpha,4G,40001,91,50002,2            1.98,2.00,gamma,1,7,16G,

Anybody may put commas between a name, a size and numbers. So a line counts that has bonnie++'s alternation of K/s and
percents, or begins as a whole CSV line of the same file does, and has no neighbour of as many fields, as tables have.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from apps.parsers.bonniepp_csv import FEWEST_OLD_FIELDS, NEW_FIELDS, OLD_FIELDS, SEEK_FIELDS
from apps.parsers.bonniepp_record import Record
from apps.parsers.shape import Broken

_LONGEST = 400
_SIZE = re.compile(r"[0-9]{1,9}[MG](?::[0-9]{1,7}k?)?")
_RATE = re.compile(r"[0-9]{4,12}|\+{5}|")  # a disk's K/s; nothing where a test was left out
_CPU = re.compile(r"[0-9]{1,3}|\+{3}|")
_VERSIONS = re.compile(r"1\.9[0-9][a-z]?,(?:1\.9[0-9]|2\.[0-9]{2})[a-z]{0,2},")
_LETTER = re.compile("[A-Za-z]")
_COUNT = re.compile(r"[0-9]{0,12}")
_ASKED = (
    _COUNT,
    _COUNT,
    re.compile(r"[0-9]{1,9}[MGT]|"),
    re.compile(r"[0-9]{1,9}[km]?|"),
)  # threads, seed, size, chunk


def cut(lines: Sequence[str], index: int) -> Broken | None:
    """What is wrong with a line that can only be the beginning of a CSV line."""
    line = lines[index].strip()
    fields = line.split(",", FEWEST_OLD_FIELDS) if line.count(",") > 1 and len(line) < _LONGEST else []
    if not fields or " " in fields[0]:
        return None
    is_cut = _is_old(fields) or _is_new(line, fields)
    return _broken(line, index) if is_cut and not _is_in_table(lines, index) else None


def like(lines: Sequence[str], short: Iterable[int], records: Sequence[Record]) -> list[Broken]:
    """Of the lines with few commas those that begin as a whole CSV line does, but end sooner."""
    known = {_beginning(lines[one.first]) for one in records if not one.is_text and one.cut is None}
    found = ((index, lines[index].strip()) for index in short) if known else ()
    likely = (pair for pair in found if _beginning(pair[1]) in known and len(pair[1]) < _LONGEST)
    return [_broken(line, index) for index, line in islice(likely, 1000) if _are_figures(line.split(",")[2:-1], line)]


def _is_old(fields: Sequence[str]) -> bool:
    if len(fields) >= FEWEST_OLD_FIELDS or not _SIZE.fullmatch(fields[1]) or not _are_pairs(fields[2:-1]):
        return False  # of the last field nobody knows how much is there
    return any(map(all, zip(fields[2:-1:2], fields[3:-1:2], strict=False)))


def _is_new(line: str, fields: Sequence[str]) -> bool:
    """Where the line ends before its seeks: with more it is read, or is a table's."""
    if not _VERSIONS.match(line) or len(fields) < 3 or len(fields) > 4 + len(_ASKED):
        return False
    return bool(_LETTER.search(fields[2])) and all(
        form.fullmatch(one) for form, one in zip(_ASKED, fields[3:-1], strict=False)
    )


def _are_pairs(fields: Sequence[str]) -> bool:
    return all(map(_RATE.fullmatch, fields[::2])) and all(map(_CPU.fullmatch, fields[1::2]))


def _are_figures(fields: Sequence[str], line: str) -> bool:
    return bool(_VERSIONS.match(line)) or _are_pairs(fields)


def _beginning(line: str) -> str:
    """The first two fields: name and size, or both versions."""
    return ",".join(line.lstrip().split(",", 2)[:2])


def _is_in_table(lines: Sequence[str], index: int) -> bool:
    count = lines[index].count(",")
    return any(0 <= at < len(lines) and lines[at].count(",") == count for at in (index - 1, index + 1))


def _broken(line: str, index: int) -> Broken:
    wanted = OLD_FIELDS
    if _VERSIONS.match(line):
        wanted = SEEK_FIELDS if line >= "1.98" else NEW_FIELDS
    return Broken("a CSV line of bonnie++'s that is cut off", index, line[:120], f"{wanted} fields")
