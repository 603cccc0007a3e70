"""The header of Bonnie's table and the rows below it; `bonnie1` says what they mean."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from apps.parsers.shape import Broken

KIB, MIB = 1024, 1024**2
ALL_TESTS = ("char_write", "write", "rewrite", "char_read", "read", "seek")
BLOCK_TESTS = ("write", "rewrite", "read", "seek")

_CHARS = r"-+(?:Per Char|CharUnlk)-+"
_HEADER = re.compile(  # perhaps broken by a mail behind -Rewrite-
    rf"(?:{_CHARS} +)?-+Block-+ +-+Rewrite-+(?: +(?:{_CHARS} +)?-+Block-|(?: +-+Per(?: +Char-+)?| +-+CharUnlk-+)? *$)"
)
_REST = re.compile(  # of a header's line that a mail broke
    r"(?:\s*+(?:Char-++|-++(?:Per Char|Per|CharUnlk|Block|Seeks|[0-9]{1,4}k)-*+|\([0-9]{1,3}\)-|Seeks))++[ \t=]*"
)
_SEEKS = re.compile(r"-([0-9]{1,4})k \(([0-9]{1,3})\)-")
_SYNC = re.compile(r"Sequential Output \((nosync|sync)\)")
_FILE = re.compile(r"(?:Bonnie ([0-9.]{1,8})[^:]{0,40}: )?File '([^']{1,1000})', size: ([0-9]{1,18})")
_NUMBER = r"(?:[0-9]{1,15}(?:\.[0-9]{0,3})?|\*{3,}|x{3,})"
_CPU = r"(?:-?[0-9]{1,6}(?:\.[0-9]{0,3})?|\*{3,}|x{3,})"
_PAIRS = re.compile(rf"(?:{_NUMBER} {_CPU} )+")
_CELL = re.compile(rf"{_NUMBER}|{_CPU}")
_SIZE = re.compile(r"(?:(?<![0-9])[0-9]{1,4}\* ?|(?:^| ))[0-9]{1,9}$")
_OVERFLOW = re.compile(r"\*{3,}")
_QUOTE = re.compile(r"[A-Z]{1,4}>+ ?")
_LONGEST_ROW = 400
_LONGEST_KEPT = 1000
_MOST_PROGRESS = 10
_MOST_BETWEEN = 3  # other lines between rows, captions and carets, and bad rows in a table


@dataclass(slots=True)
class Header:
    first: int
    after: int  # index of the line behind it
    tests: tuple[str, ...] = ALL_TESTS
    scale: int = KIB  # bytes in the unit of the rates
    has_gigabytes: bool = False
    is_unlocked: bool = False
    seek_bytes: int | None = None
    seekers: int | None = None
    sync: str = ""
    version: str = ""
    target: str = ""
    size: int | None = None


@dataclass(slots=True)
class Row:
    head: str  # label and size
    cells: list[str]
    index: int
    last: int


def is_stray(line: str) -> bool:
    """A header's last line that stands where none is."""
    return line.count("%CPU") > 3 and len(line) <= _LONGEST_ROW and "K/sec" in line


def is_header(line: str) -> bool:
    return "-Rewrite-" in line and len(line) <= _LONGEST_ROW and _HEADER.search(line) is not None


def is_beginning(line: str) -> bool:
    """Whether Bonnie says here which file it is about to write."""
    return "Bonnie." in line and "size:" in line and _FILE.search(line[:2000]) is not None


def header(lines: Sequence[str], index: int, floor: int) -> Header:
    """The header with this second line, and what Bonnie wrote above it while it ran."""
    after = index + 1
    while after < len(lines) and after <= index + 4 and _is_units(lines[after]):
        after += 1
    said = _said if sum(map(len, lines[index:after])) < _LONGEST_KEPT else _said.__wrapped__
    found = Header(index, after, *said(lines[index], " ".join(lines[index + 1 : after])))
    _read_above(found, lines, floor)
    return found


@lru_cache(maxsize=128)  # every run of a log prints the same lines
def _said(line: str, units: str) -> tuple[tuple[str, ...], int, bool, bool, int | None, int | None]:
    """What the second line and those below it say: tests, scale, gigabytes, unlocked, bytes of a seek and seekers."""
    has_chars = f"{line} {units}".count("Char") == 2
    seeks = _SEEKS.search(f"{line} {units}")
    read, seekers = (int(seeks[1]) * KIB or None, int(seeks[2]) or None) if seeks else (None, None)
    tests, scale = ALL_TESTS if has_chars else BLOCK_TESTS, MIB if "M/sec" in units else KIB
    return tests, scale, " GB " in units, "-CharUnlk-" in line, read, seekers


def _is_units(line: str) -> bool:
    """The third line; also the ends of the second and third where a mail program broke them."""
    return "%CPU" in line or (len(line) < 60 and _REST.fullmatch(line) is not None)


def _is_groups(line: str) -> bool:
    """The first line, or its end where a mail program broke it."""
    return (
        "Sequential" in line
        or "Rnd" in line
        or "--Random--" in line
        or line.strip(" \t-=") in ("Seek", "Output", "Random")
    )


def _read_above(found: Header, lines: Sequence[str], floor: int) -> None:
    above = found.first - 1
    while above >= floor and above >= found.first - 2 and _is_groups(lines[above]):
        if match := _SYNC.search(lines[above]):
            found.sync = match[1]
        found.first = above
        above -= 1
    for at in range(above, max(above - _MOST_PROGRESS, floor - 1), -1):
        match = _FILE.search(lines[at][:2000])
        if match:
            found.first, found.version = at, match[1] or ""
            found.target, found.size = match[2].rpartition("/")[0], int(match[3])
        if match or is_header(lines[at]):
            return


def rows(lines: Sequence[str], head: Header) -> tuple[list[Row | Broken], int]:
    """The rows under a header, with what is wrong with those that cannot be read, and the index behind the last."""
    found: list[Row | Broken] = []
    at = after = head.after
    between = bad = 0
    is_next = True  # as long as nothing else stood there
    while at < len(lines) and max(between, bad) <= _MOST_BETWEEN and not _begins_another(lines[at]):
        row = _row(lines, at, len(head.tests) * 2, is_next)
        if row is not None:
            found.append(row)
            bad += isinstance(row, Broken)
            between = 0
            after = row.last + 1 if isinstance(row, Row) else at + 1
        elif lines[at].strip():
            between, is_next = between + 1, False
        at = max(at + 1, after)
    return found, after


def _begins_another(line: str) -> bool:
    return "%CPU" in line or "Sequential Output" in line or "Writing with putc" in line


def _row(lines: Sequence[str], index: int, count: int, is_next: bool) -> Row | Broken | None:
    line = lines[index]
    if len(line) > _LONGEST_ROW:
        return None
    words = _words(line)
    if row := _plain_row(words, count, index, index):
        return row
    numbers, last = _numbers(words), index
    while last < index + 2 and last + 1 < len(lines) and len(words) > 3 and numbers <= count:  # and a size
        more = _words(lines[last + 1])  # a mail program broke the row
        if not more or len(more) >= count or not all(map(_CELL.fullmatch, more)):
            break
        words, last = words + more, last + 1
        numbers = _numbers(words)
    words = _without_remark(words, count)
    if row := _plain_row(words, count, index, last):
        return row
    if is_next and sum(1 for word in words if _CELL.fullmatch(word)) >= max(5, len(words) * 0.6):
        return Broken("a row of Bonnie's that cannot be read", index, line.strip()[:120], f"a size and {count} numbers")
    return None


def _without_remark(words: list[str], count: int) -> list[str]:
    """Up to the end of the first `count` figures, and a size, in a row: what stands behind them are somebody's words."""
    figures = 0
    for at, word in enumerate(words):
        if _CELL.fullmatch(word):
            figures += 1
        elif figures >= count:
            return words[:at]
        else:
            figures = 0
    return words


def _plain_row(words: list[str], count: int, index: int, last: int) -> Row | None:
    """The words as a row, where they end with a size and `count` numbers."""
    if len(words) <= count or not _PAIRS.fullmatch(" ".join(words[-count:]) + " "):
        return None
    head = " ".join(words[:-count])
    return Row(head, words[-count:], index, last) if _SIZE.search(head) else None


def _words(line: str) -> list[str]:
    if ">" in line and _QUOTE.match(line):
        line = _QUOTE.sub("", line, count=1)
    if "***" in line:
        line = _OVERFLOW.sub(" ***** ", line)  # the CPU behind it may be glued to it
    return line.rstrip("= ").split()


def _numbers(words: list[str]) -> int:
    """How many numbers stand at the end."""
    for count, word in enumerate(reversed(words)):
        if not _CELL.fullmatch(word):
            return count
    return len(words)
