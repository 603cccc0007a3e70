"""Bonnie 1.x (Tim Bray's, with Garloff's of SuSE 1.2 to 1.4, FreeBSD's and Bonnie-64): its text table.

One real line: `druid-0  2047 13366 29.2 18486  0.9  7276  0.7 21276 60.7 39466  1.8  86.1  0.0`

    run: one row; label, MB, then rate and % CPU of putc, block write, rewrite, getc, block read, and seeks per second
    samples: char_write, write, rewrite, char_read, read: bandwidth; seek: rate; `cpu` on each

Units (Bonnie.c of Bonnie-64 1.2 and of 1996, `report`): K/sec is KiB/s, M/sec of Bonnie-64 MiB/s; MB is MiB. Bonnie-64
divides by 1024 × 1024 × 1000 for its GB and drops the rest, so there the size is only known from the `File …, size:` line.

Oddities
- The label may be empty, have blanks or look like a number; values may be wider than their columns: numbers are counted
  from the right. Many rows may stand under one header, with blank lines between them.
- Garloff's: size `3*1024` is volumes × MB, all of it is the size; `(sync)` is with -y, `(nosync)`
  without; putc and getc may be unlocked, with -u (`-CharUnlk-`); `--04k (03)-` is the size of a seek's read and the number of seekers. Its progress
  lines have the same figures in kB/s and are not read.
- `*****` did not fit somebody's column: no value, and its CPU may be glued to it. CPU can be over 100 %, and -0.0.
- `xxxx` stands where a patched Bonnie left a test out.
- Without putc and getc in the header, rows have four pairs.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from apps.parsers import bonnie1_table, bonniepp_caption
from apps.parsers.bonnie1_table import KIB, MIB, Header, Row
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.source_text import SourceText

NAME = "bonnie"
TITLE = "Bonnie 1.x"

_SIZE = re.compile(r"(?P<label>.*?)(?:(?<![0-9])(?P<volumes>[0-9]{1,4})\* ?|(?:^| ))(?P<size>[0-9]{1,9})")
_LARGEST = 2**63 - 1
_STRAY = "a header of Bonnie's that is not whole: what stands below is not read"
_MISSING = {"*": "*****: wider than its column", "x": "xxxx: not run"}
_CUT = "Bonnie began here, and its table is missing"


def looks_like(text: SourceText) -> float:
    """1 for its header. bonnie++ writes `-Per Chr-` and `%CP`."""
    whole = text.text
    if "-Rewrite-" not in whole or "%CPU" not in whole:
        return 0.0
    return 1.0 if any(map(bonnie1_table.is_header, text.lines)) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every row in the text. `ParseError` where there is none."""
    runs: list[ParsedRun] = []
    broken: list[Broken] = []
    lines, index, floor = text.lines, 0, 0
    while index < len(lines):
        if not bonnie1_table.is_header(lines[index]):
            if "%CPU" in lines[index] and bonnie1_table.is_stray(lines[index]):
                broken.append(
                    Broken(_STRAY, text.number(index), lines[index].strip()[:120], "three lines in their order")
                )
            index += 1
            continue
        header = bonnie1_table.header(lines, index, floor)
        caption, command = bonniepp_caption.before(lines, header.first, floor)
        rows, index = bonnie1_table.rows(lines, header)
        broken += [replace(row, line=text.number(row.line or 0)) for row in rows if isinstance(row, Broken)]
        at = header.after
        for position, row in enumerate(row for row in rows if isinstance(row, Row)):
            if row.index > at:  # rows may have captions of their own
                caption = bonniepp_caption.before(lines, row.index, at)[0] or caption
            runs.append(_run(header, row, text, position == 0, caption, command))
            at = row.last + 1
        floor = index
    if not runs:
        raise _nothing(broken)
    return ParsedFile(tuple(runs), broken=(*broken, *_without_table(text)))


def _without_table(text: SourceText) -> Iterator[Broken]:
    """Runs that were cut off: behind what Bonnie says first comes another beginning, or the end. Not where there is a table for
    each beginning: runs at the same time mix their lines.
    """
    begun = [index for index, line in enumerate(text.lines) if bonnie1_table.is_beginning(line)]
    headers = [index for index, line in enumerate(text.lines) if bonnie1_table.is_header(line)] if begun else []
    if len(headers) >= len(begun):
        return
    for index, following in zip_longest(begun, begun[1:], fillvalue=len(text.lines)):
        behind = bisect_right(headers, index)
        if behind == len(headers) or headers[behind] > following:
            yield Broken(_CUT, text.number(index), text.lines[index].strip()[:120], "its table")


def _nothing(broken: list[Broken]) -> ParseError:
    if not broken:
        return ParseError("no result of Bonnie's", expected="its table")
    return ParseError(broken[0].message, line=broken[0].line, found=broken[0].found, expected=broken[0].expected)


def _run(header: Header, row: Row, text: SourceText, is_first: bool, caption: str, command: str) -> ParsedRun:
    match = _SIZE.fullmatch(row.head)
    label, volumes, printed = (match["label"], match["volumes"], int(match["size"])) if match else (row.head, None, 0)
    size = _file_size(header, printed, int(volumes or 1), is_first)
    told: dict[str, str | int | float | None] = {
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
        samples=_samples(header, row, size, text.number(row.index)),
        labels=labels,
        workload={word: value for word, value in told.items() if value is not None},
        host=label.strip()[:255],
        target=header.target if is_first else "",
        caption=caption,
        line=text.number(header.first if is_first else row.index),
        last_line=text.number(row.last),
    )


def _file_size(header: Header, printed: int, volumes: int, is_first: bool) -> int | None:
    if header.has_gigabytes:
        return header.size if is_first else None
    size = printed * volumes * MIB
    return size if 0 < size <= _LARGEST else None


def _samples(header: Header, row: Row, size: int | None, line: int) -> tuple[ParsedSample, ...]:
    unit, quality = (" K/s", "exact") if header.scale == KIB else (" M/s", "rounded")
    found = []
    for test, printed, cpu in zip(header.tests, row.cells[::2], row.cells[1::2], strict=True):
        reason = _MISSING.get(printed[0], "")
        value, shown = (None, "") if reason else (float(printed), unit)
        if test == "seek":
            shown = shown and " /s"
            found.append(ParsedSample(
                test, "rate", value, 0, size, header.seek_bytes, header.seekers, None, printed + shown, line,
                "exact", reason, None, None, _cpu(cpu),
            ))  # fmt: skip
        else:
            value = None if value is None else value * header.scale
            found.append(ParsedSample(
                test, "bandwidth", value, 0, size, None, None, None, printed + shown, line,
                quality, reason, None, None, _cpu(cpu),
            ))  # fmt: skip
    return tuple(found)


@lru_cache(maxsize=4096)  # a log has the same thousand figures again and again
def _cpu(printed: str) -> float | None:
    """Bonnie prints -0.0 for hardly any; less than that is no reading."""
    if printed[0] in _MISSING:
        return None
    value = float(printed)
    return round(value * 1000) / 100000 if value >= 0 else None
