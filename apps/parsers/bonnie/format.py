"""Parser of the text table of Bonnie 1.x: Tim Bray's, Garloff's of SuSE 1.2 to 1.4, FreeBSD's and Bonnie-64.

One real line: `druid-0  2047 13366 29.2 18486  0.9  7276  0.7 21276 60.7 39466  1.8  86.1  0.0`

    run: one row; label, MB, then rate and % CPU of putc, block write, rewrite, getc, block read, and seeks per second
    samples: char_write, write, rewrite, char_read, read: bandwidth; seek: rate; `cpu` on each

Units (`report` in Bonnie.c of Bonnie-64 1.2 and of 1996): K/sec is KiB/s, M/sec of Bonnie-64 MiB/s; MB is MiB.
Bonnie-64 divides by 1024 × 1024 × 1000 for its GB and drops the rest, so there the size is only known from the `File …,
size:` line.

Peculiarities:

- The label may be empty, have blanks or look like a number, and values may be wider than their columns, so numbers are
  counted from the right. Many rows may stand under one header, with blank lines between them.
- Garloff's: size `3*1024` is volumes × MB, and the product is the size. `(sync)` is printed with -y, `(nosync)`
  without. putc and getc may be unlocked, with -u (`-CharUnlk-`). `--04k (03)-` is the size of a seek's read and the
  number of seekers. Its progress lines have the same figures in kB/s and are not read.
- `*****` is a value that did not fit its column: no value, and its CPU may stand directly behind it. CPU can be over
  100 %, and -0.0.
- `xxxx` is printed where a patched Bonnie left a test out.
- Rows have four pairs where the header has no putc and getc.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

from apps.parsers.bonniepp import caption as bonniepp_caption
from apps.parsers.bonniepp.failures import find_attempts
from apps.parsers.core.models import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText

KIB, MIB = 1024, 1024**2
ALL_TESTS = ("char_write", "write", "rewrite", "char_read", "read", "seek")
BLOCK_TESTS = ("write", "rewrite", "read", "seek")

_CHARS = r"-+(?:Per Char|CharUnlk)-+"
_HEADER = re.compile(  # a mail program may have broken it behind -Rewrite-
    rf"(?:{_CHARS} +)?-+Block-+ +-+Rewrite-+(?: +(?:{_CHARS} +)?-+Block-|(?: +-+Per(?: +Char-+)?| +-+CharUnlk-+)? *$)"
)
_REST = re.compile(  # the rest of a header line that a mail program broke
    r"(?:\s*+(?:Char-++|-++(?:Per Char|Per|CharUnlk|Block|Seeks|[0-9]{1,4}k)-*+|\([0-9]{1,3}\)-|Seeks))++[ \t=]*"
)
_SEEKS = re.compile(r"-([0-9]{1,4})k \(([0-9]{1,3})\)-")
_SYNC = re.compile(r"Sequential Output \((nosync|sync)\)")
_FILE = re.compile(r"(?:Bonnie ([0-9.]{1,8})[^:]{0,40}: )?File '([^']{1,1000})', size: ([0-9]{1,18})")
_NUMBER = r"(?:[0-9]{1,15}(?:\.[0-9]{0,3})?|\*{3,}|x{3,})"
_CPU = r"(?:-?[0-9]{1,6}(?:\.[0-9]{0,3})?|\*{3,}|x{3,})"
_PAIRS = re.compile(rf"(?:{_NUMBER} {_CPU} )+")
_CELL = re.compile(rf"{_NUMBER}|{_CPU}")
_LABEL_AND_SIZE = re.compile(r"(?:(?<![0-9])[0-9]{1,4}\* ?|(?:^| ))[0-9]{1,9}$")
_OVERFLOW = re.compile(r"\*{3,}")
_QUOTE = re.compile(r"[A-Z]{1,4}>+ ?")
_LONGEST_ROW = 400
_LONGEST_KEPT = 1000
_MOST_PROGRESS = 10
_MOST_BETWEEN = 3  # other lines between rows, captions and carets, and bad rows in a table


@dataclass(slots=True)
class BonnieHeader:
    """The header of a table; `first` and `after` are indices of lines."""

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
class BonnieRow:
    """A row of a table; `index` is its first line, `last` its last."""

    head: str  # label and size
    cells: list[str]
    index: int
    last: int


def is_stray(line: str) -> bool:
    """Return whether it is the last line of a header without the lines above it."""
    return line.count("%CPU") > 3 and len(line) <= _LONGEST_ROW and "K/sec" in line


def is_header(line: str) -> bool:
    """Return whether it is the second line of a header, with the names of the tests."""
    return "-Rewrite-" in line and len(line) <= _LONGEST_ROW and _HEADER.search(line) is not None


def is_beginning(line: str) -> bool:
    """Return whether Bonnie tells in this line which file it is about to write."""
    return "Bonnie." in line and "size:" in line and _FILE.search(line[:2000]) is not None


def read_header(lines: Sequence[str], index: int, floor: int) -> BonnieHeader:
    """Read the header whose second line has this index, and what Bonnie wrote above it while it ran, down from line `floor`."""
    after = index + 1
    while after < len(lines) and after <= index + 4 and _is_units(lines[after]):
        after += 1
    read = _read_tests if sum(map(len, lines[index:after])) < _LONGEST_KEPT else _read_tests.__wrapped__
    header = BonnieHeader(index, after, *read(lines[index], " ".join(lines[index + 1 : after])))
    _read_above(header, lines, floor)
    return header


@lru_cache(maxsize=128)  # every run of a log prints the same lines
def _read_tests(line: str, units: str) -> tuple[tuple[str, ...], int, bool, bool, int | None, int | None]:
    """Read the second line of a header and those below it; return tests, scale, gigabytes, unlocked, bytes of a seek, seekers."""
    has_chars = f"{line} {units}".count("Char") == 2
    seeks = _SEEKS.search(f"{line} {units}")
    read, seekers = (int(seeks[1]) * KIB or None, int(seeks[2]) or None) if seeks else (None, None)
    tests, scale = ALL_TESTS if has_chars else BLOCK_TESTS, MIB if "M/sec" in units else KIB
    return tests, scale, " GB " in units, "-CharUnlk-" in line, read, seekers


def _is_units(line: str) -> bool:
    """Return whether it is the third line of a header, or the end of the second or third where a mail program broke them."""
    return "%CPU" in line or (len(line) < 60 and _REST.fullmatch(line) is not None)


def _is_groups(line: str) -> bool:
    """Return whether it is the first line of a header, or its end where a mail program broke it."""
    return (
        "Sequential" in line
        or "Rnd" in line
        or "--Random--" in line
        or line.strip(" \t-=") in ("Seek", "Output", "Random")
    )


def _read_above(header: BonnieHeader, lines: Sequence[str], floor: int) -> None:
    """Read what stands above a header into it: sync mode, version, target, size and the first line."""
    above = header.first - 1
    while above >= floor and above >= header.first - 2 and _is_groups(lines[above]):
        if match := _SYNC.search(lines[above]):
            header.sync = match[1]
        header.first = above
        above -= 1
    for at in range(above, max(above - _MOST_PROGRESS, floor - 1), -1):
        match = _FILE.search(lines[at][:2000])
        if match:
            header.first, header.version = at, match[1] or ""
            header.target, header.size = match[2].rpartition("/")[0], int(match[3])
        if match or is_header(lines[at]):
            return


def read_rows(lines: Sequence[str], header: BonnieHeader) -> tuple[list[BonnieRow | Broken], int]:
    """Read the rows under a header; return them with those that can not be read as `Broken`, and the index behind the last."""
    rows: list[BonnieRow | Broken] = []
    at = after = header.after
    between = bad = 0
    is_next = True  # until another line was passed
    while at < len(lines) and max(between, bad) <= _MOST_BETWEEN and not _begins_another(lines[at]):
        row = _read_row(lines, at, len(header.tests) * 2, is_next)
        if row is not None:
            rows.append(row)
            bad += isinstance(row, Broken)
            between = 0
            after = row.last + 1 if isinstance(row, BonnieRow) else at + 1
        elif lines[at].strip():
            between, is_next = between + 1, False
        at = max(at + 1, after)
    return rows, after


def _begins_another(line: str) -> bool:
    return "%CPU" in line or "Sequential Output" in line or "Writing with putc" in line


def _read_row(lines: Sequence[str], index: int, count: int, is_next: bool) -> BonnieRow | Broken | None:
    line = lines[index]
    if len(line) > _LONGEST_ROW:
        return None
    words = _split_words(line)
    if row := _make_row(words, count, index, index):
        return row
    numbers, last = _count_numbers(words), index
    while (
        last < index + 2 and last + 1 < len(lines) and len(words) > 3 and numbers <= count
    ):  # the size is a number, too
        more = _split_words(lines[last + 1])  # joined, because a mail program may have broken the row
        if not more or len(more) >= count or not all(map(_CELL.fullmatch, more)):
            break
        words, last = words + more, last + 1
        numbers = _count_numbers(words)
    words = _strip_remark(words, count)
    if row := _make_row(words, count, index, last):
        return row
    if is_next and sum(1 for word in words if _CELL.fullmatch(word)) >= max(5, len(words) * 0.6):
        return Broken("a row of Bonnie's that cannot be read", index, line.strip()[:120], f"a size and {count} numbers")
    return None


def _strip_remark(words: list[str], count: int) -> list[str]:
    """Cut the words behind the first `count` figures and a size in a row: they are somebody's remark."""
    figures = 0
    for at, word in enumerate(words):
        if _CELL.fullmatch(word):
            figures += 1
        elif figures >= count:
            return words[:at]
        else:
            figures = 0
    return words


def _make_row(words: list[str], count: int, index: int, last: int) -> BonnieRow | None:
    """Return the words as a row if they end with a size and `count` numbers, else None."""
    if len(words) <= count or not _PAIRS.fullmatch(" ".join(words[-count:]) + " "):
        return None
    head = " ".join(words[:-count])
    return BonnieRow(head, words[-count:], index, last) if _LABEL_AND_SIZE.search(head) else None


def _split_words(line: str) -> list[str]:
    if ">" in line and _QUOTE.match(line):
        line = _QUOTE.sub("", line, count=1)
    if "***" in line:
        line = _OVERFLOW.sub(" ***** ", line)  # the CPU behind it may be glued to it
    return line.rstrip("= ").split()


def _count_numbers(words: list[str]) -> int:
    """Return how many numbers stand at the end."""
    for count, word in enumerate(reversed(words)):
        if not _CELL.fullmatch(word):
            return count
    return len(words)


NAME = "bonnie"
TITLE = "Bonnie 1.x"

_SIZE = re.compile(r"(?P<label>.*?)(?:(?<![0-9])(?P<volumes>[0-9]{1,4})\* ?|(?:^| ))(?P<size>[0-9]{1,9})")
_LARGEST = 2**63 - 1
_STRAY = "a header of Bonnie's that is not whole: what stands below is not read"  # shown to users
_MISSING = {"*": "*****: wider than its column", "x": "xxxx: not run"}
_STOPPED = "Bonnie stopped before its table"
_CUT = "Bonnie began here, and its table is missing"


def looks_like(text: SourceText) -> float:
    """Return 1 if the text has a header of Bonnie, 0.9 if it began and its table is missing, else 0.

    bonnie++ writes `-Per Chr-` and `%CP` instead.
    """
    whole = text.text
    if "-Rewrite-" in whole and "%CPU" in whole and any(map(is_header, text.lines)):
        return 1.0
    return 0.9 if "size:" in whole and any(_find_missing_tables(text)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every row in the text into a run.

    Raises:
        ParseError: if there is none.
    """
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    lines, index, floor = text.lines, 0, 0
    while index < len(lines):
        if not is_header(lines[index]):
            if "%CPU" in lines[index] and is_stray(lines[index]):
                broken.append(
                    Broken(_STRAY, text.number(index), lines[index].strip()[:120], "three lines in their order")
                )
            index += 1
            continue
        header = read_header(lines, index, floor)
        caption, command = bonniepp_caption.find_caption(lines, header.first, floor)
        rows, index = read_rows(lines, header)
        broken += [replace(row, line=text.number(row.line or 0)) for row in rows if isinstance(row, Broken)]
        at = header.after
        for position, row in enumerate(row for row in rows if isinstance(row, BonnieRow)):
            if row.index > at:  # lines between rows may be a caption of the next one
                caption = bonniepp_caption.find_caption(lines, row.index, at)[0] or caption
            runs.append(_make_run(header, row, text, position == 0, caption, command))
            at = row.last + 1
        floor = index
    broken += _find_missing_tables(text)
    if not runs:
        raise _make_error(broken)
    return ParsedFile(tuple(runs), broken=tuple(broken))


def _find_missing_tables(text: SourceText) -> Iterator[Broken]:
    """Yield a `Broken` for each run that was cut off: Bonnie's first message is followed by another one, or by the end.

    Nothing where there is a table for each beginning: runs at the same time mix their lines.
    """
    begun = [index for index, line in enumerate(text.lines) if is_beginning(line)]
    headers = [index for index, line in enumerate(text.lines) if is_header(line)] if begun else []
    if len(headers) >= len(begun):
        return
    for index, following in zip_longest(begun, begun[1:], fillvalue=len(text.lines)):
        behind = bisect_right(headers, index)
        if behind == len(headers) or headers[behind] > following:
            attempts = find_attempts(text.lines[index:following])
            if attempts and attempts[0].failure:
                failed = text.number(index + attempts[0].failure_line)
                yield Broken(_STOPPED, failed, attempts[0].failure[:120], "its table")
            else:
                yield Broken(_CUT, text.number(index), text.lines[index].strip()[:120], "its table")


def _make_error(broken: list[Broken]) -> ParseError:
    if not broken:
        return ParseError("no result of Bonnie's", expected="its table")
    return ParseError(broken[0].message, line=broken[0].line, found=broken[0].found, expected=broken[0].expected)


def _make_run(
    header: BonnieHeader, row: BonnieRow, text: SourceText, is_first: bool, caption: str, command: str
) -> ParsedRun:
    match = _SIZE.fullmatch(row.head)
    label, volumes, printed = (match["label"], match["volumes"], int(match["size"])) if match else (row.head, None, 0)
    size = _compute_file_size(header, printed, int(volumes or 1), is_first)
    workload: dict[str, str | int | float | None] = {
        "file_size": size,
        "volumes": int(volumes) if volumes else None,
        "command": command or None,
    }
    labels = {"stdio": "unlocked"} if header.is_unlocked else {}
    if header.sync:
        labels["sync"] = header.sync
    if header.has_gigabytes:
        labels["size"] = f"{printed} GB"
    return ParsedRun(
        tool="bonnie",
        tool_version=header.version,
        samples=_make_samples(header, row, size, text.number(row.index)),
        labels=labels,
        workload={word: value for word, value in workload.items() if value is not None},
        host=label.strip()[:255],
        target=header.target if is_first else "",
        caption=caption,
        line=text.number(header.first if is_first else row.index),
        last_line=text.number(row.last),
    )


def _compute_file_size(header: BonnieHeader, printed: int, volumes: int, is_first: bool) -> int | None:
    if header.has_gigabytes:
        return header.size if is_first else None
    size = printed * volumes * MIB
    return size if 0 < size <= _LARGEST else None


def _make_samples(header: BonnieHeader, row: BonnieRow, size: int | None, line: int) -> tuple[ParsedSample, ...]:
    unit, quality = (" K/s", "exact") if header.scale == KIB else (" M/s", "rounded")
    samples = []
    for test, printed, cpu in zip(header.tests, row.cells[::2], row.cells[1::2], strict=True):
        reason = _MISSING.get(printed[0], "")
        value, suffix = (None, "") if reason else (float(printed), unit)
        if test == "seek":
            suffix = suffix and " /s"
            samples.append(ParsedSample(
                test, "rate", value, 0, size, header.seek_bytes, header.seekers, None, printed + suffix, line,
                "exact", reason, None, None, _read_cpu(cpu),
            ))  # fmt: skip
        else:
            value = None if value is None else value * header.scale
            samples.append(ParsedSample(
                test, "bandwidth", value, 0, size, None, None, None, printed + suffix, line,
                quality, reason, None, None, _read_cpu(cpu),
            ))  # fmt: skip
    return tuple(samples)


@lru_cache(maxsize=4096)  # a log has the same thousand figures again and again
def _read_cpu(printed: str) -> float | None:
    """Return a CPU share as a fraction, None where it is missing or negative.

    Bonnie prints -0.0 for hardly any; anything below that is no measurement.
    """
    if printed[0] in _MISSING:
        return None
    value = float(printed)
    return round(value * 1000) / 100000 if value >= 0 else None
