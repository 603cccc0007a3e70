"""The tables of bon_csv2html, copied from a browser as text: `bonniepp` reads them beside the rest.

    RAID6 Size Per Char Block Rewrite Per Char Block Num Files Create Read Delete Create Read Delete
    K/sec % CPU K/sec % CPU …
    47G 1265 99 1139579 96 423197 54 2467 99 1120794 66 632.3 42 16 29273 95 +++++ +++ …
    Latency 9192us 211us 114ms 7606us 87079us 90117us Latency 220us 92us 3631us 211us 10us 213us

The figures are those of the CSV; 1.98 and later have M/sec (changelog.txt). Empty cells vanish in the copying, see
`bonniepp_text`. The name of a single machine may end up before the header or before its row.
"""

import re
from collections.abc import Sequence

from apps.parsers.bonniepp_record import Record

HEADER = "Per Char Block Rewrite Per Char Block"
_PAIRS = re.compile(r"(?:(?:[0-9]{1,15}(?:\.[0-9]{1,3})?|\+{5}) (?:[0-9]{1,6}|\+{3}) )*")
_SIZE = re.compile(r"([0-9]{1,9}[MGT])(?::([0-9]{1,7}[km]?))?")
_COUNT = re.compile(r"[0-9]{1,9}")
_LATENCY = re.compile(r"[0-9]{1,9}(?:us|ms|s)")
_VERSION = re.compile(r"Version +([0-9]\.[0-9]{2}[a-z]{0,2})")
_ALL, _WITHOUT_CHARS = (0, 1, 2, 3, 4, 5), (1, 2, 4, 5)
_LONGEST_ROW = 600
_MOST_ABOVE = 3


def read(lines: Sequence[str], index: int, floor: int) -> list[Record]:
    """The rows under the header in this line."""
    first, version = index, ""
    for at in range(index, max(index - _MOST_ABOVE - 1, floor - 1), -1):
        if found := _VERSION.search(lines[at]):
            first, version = at, found[1]
            break
    unit = "M/s" if any("M/sec" in line for line in lines[index : index + 3]) else "K/s"
    name = lines[index].partition("Size ")[0].strip() if "Size " in lines[index] else ""
    records: list[Record] = []
    for at in range(index + 1, len(lines)):
        line = lines[at].strip()
        if line.startswith(("K/sec", "M/sec", "/sec")):
            continue
        if records and "Latency" in line:
            _put_latencies(records[-1], line.split(), at)
        elif record := _row(line, at):
            record.first = first if not records else at
            record.version, record.io_unit = version, unit
            record.name = record.name or (name if not records else "")
            records.append(record)
        else:
            break
    return records


def _row(line: str, index: int) -> Record | None:
    words = line.split()
    if len(words) < 9 or len(line) > _LONGEST_ROW:
        return None
    at = next((place for place, word in enumerate(words[:8]) if _SIZE.fullmatch(word)), None)
    if at is None or (size := _SIZE.fullmatch(words[at])) is None:
        return None
    rest = words[at + 1 :]
    tests = _ALL if len(rest) in (12, 25) else _WITHOUT_CHARS if len(rest) in (8, 21) else None
    if tests is None:
        return None
    large, small = rest[: 2 * len(tests)], rest[2 * len(tests) :]
    if not _PAIRS.fullmatch(" ".join([*large, *small[1:], ""])) or not _COUNT.fullmatch((small or ["0"])[0]):
        return None
    record = Record(index, index, name=" ".join(words[:at]), size=size[1], chunk=size[2] or "", lines=(index,) * 4)
    _put(record, tests, large)
    if small:
        record.files = (small[0], "", "", "")
        _put(record, range(6, 12), small[1:])
    return record


def _put(record: Record, tests: Sequence[int], cells: list[str]) -> None:
    for at, test in enumerate(tests):
        record.rates[test], record.cpus[test] = cells[2 * at], cells[2 * at + 1]


def _put_latencies(record: Record, words: list[str], index: int) -> None:
    """The latencies of the tests that have figures, in their order."""
    found = [word for word in words if _LATENCY.fullmatch(word)]
    tests = [test for test, rate in enumerate(record.rates) if rate]
    if len(found) == len(tests):
        for test, latency in zip(tests, found, strict=True):
            record.latencies[test] = latency
    record.last = index
    record.lines = (record.lines[0], record.lines[1], index, index)
