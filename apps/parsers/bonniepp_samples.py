"""The samples of one row of bonnie++. Units and sources: see `bonniepp`.

What is the same in all rows of a log is made once (`_plan`), and the numbers of a row are read all at once: there are
up to 24 samples in each.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import MsgspecError, json

from apps.parsers.bonniepp_record import CHARS, FILES, KIB, METRICS, SCALES, SEEK, TESTS, Record
from apps.parsers.shape import ParsedSample

_FACTORS = {"us": 1e3, "ms": 1e6, "s": 1e9}
_FLOATS = json.Decoder(list[float]).decode
_FLOATS_OR_NONE = json.Decoder(list[float | None]).decode


class _Shares(dict[str, float | None]):
    def __missing__(self, printed: str) -> float | None:
        return int(printed) / 100 if printed.isdigit() else None


_SHARES = _Shares({"+++": None, "": None} | {str(percent): percent / 100 for percent in range(101)})

UNREADABLE = "no latency as bonnie++ prints it"
_LATENCY = re.compile(r"(\d{1,9})(us|ms|s)")
_FAST = "+++++: too fast to time"
_NOT_RUN = "not run (-f)"
_NO_RATE = "the text of bonnie++ 2.00 has the number of files here, not the rate; only its CSV has that"
_ROUNDED_AWAY = "printed as 0: less than half of the unit"
_SLICE = "on a small part of the file, as bonnie++ does this from 1.9x on (-f gives its size)"

# of one test: its number, operation, metric, scale, unit, the point, its note, and what +++++ says: quality and bound
Test = tuple[int, str, str, float, str, int | None, int | None, int | None, str, str, float | None]


def samples(record: Record, numbers: Sequence[int]) -> tuple[ParsedSample, ...]:
    """`numbers` are those of `record.lines` in the file."""
    values, nanoseconds = _plain(record), _nanoseconds(record.latencies)
    has_latencies = any(record.latencies)
    record.has_unread = has_latencies and None in nanoseconds
    plan = _plan(
        record.version, record.size, record.chunk, record.concurrency, record.seeks, record.seekers, record.files[0],
        record.io_unit, record.is_text,
    )  # fmt: skip
    is_whole = has_latencies and not record.has_unread and record.size and record.files[0]
    if is_whole and numbers[0] == numbers[-1] and _is_usual(record, values):
        return _of_line(plan, record, values, nanoseconds, numbers[0])
    return tuple(_of_record(plan, record, values, nanoseconds, numbers))


def _is_usual(record: Record, values: Sequence[float | None]) -> bool:
    """Whether every test has a rate, or was too fast to time."""
    return None not in values or values.count(None) == record.rates.count("+++++")


def _of_line(
    plan: Sequence[Test], record: Record, values: Sequence[float | None], nanoseconds: Sequence[float | None], line: int
) -> tuple[ParsedSample, ...]:
    """Those of a CSV line that lacks nothing, as nearly all are: what `_of_record` gives of it, in three quarters of the time."""
    found: list[ParsedSample] = []
    add, new, shares = found.append, ParsedSample, map(_SHARES.__getitem__, record.cpus)
    for (
        (_, operation, metric, scale, unit, size, block, threads, note, quality, low),
        printed, value, share, latency, late,
    ) in zip(plan, record.rates, values, shares, record.latencies, nanoseconds, strict=True):  # fmt: skip
        if value is None:
            add(new(
                operation, metric, None, 0, size, block, threads, None, printed, line, quality, _FAST, low, None, share, note,
            ))  # fmt: skip
        else:
            add(new(
                operation, metric, value * scale, 0, size, block, threads, None, printed + unit, line, "exact", "", None,
                None, share, note,
            ))  # fmt: skip
        if note:
            add(new(
                operation, "latency_max", late, 0, size, block, threads, None, latency, line, "exact", "", None, None, None,
                note,
            ))  # fmt: skip
        else:
            add(new(operation, "latency_max", late, 0, size, block, threads, None, latency, line))
    return tuple(found)


def _of_record(
    plan: Sequence[Test], record: Record, values: Sequence[float | None], nanoseconds: Sequence[float | None],
    numbers: Sequence[int],
) -> Iterator[ParsedSample]:  # fmt: skip
    has_latencies, files = any(record.latencies), record.files[0]
    rows = zip(plan, record.rates, values, record.cpus, record.latencies, nanoseconds, strict=True)
    is_there, line, latency_line = bool(record.size), numbers[0], numbers[2]
    for (
        (test, operation, metric, scale, unit, size, block, threads, note, quality, low),
        printed, value, cpu, latency, late,
    ) in rows:  # fmt: skip
        if test == FILES:
            is_there, line, latency_line = bool(files), numbers[1], numbers[3]
        if not is_there:
            continue
        reason, about = "", note if printed else ""
        if value is not None:  # as nearly all are
            value, quality, low, printed = value * scale, "exact", None, printed + unit
        elif printed == "+++++":
            reason = _FAST
        else:
            value, unit, quality, reason, low = _unusual(record, test, printed)
            printed += unit
        yield ParsedSample(
            operation, metric, value, 0, size, block, threads, None, printed, line,
            quality, reason, low, None, _SHARES[cpu], about,
        )  # fmt: skip
        if has_latencies and (printed or latency):
            yield ParsedSample(
                operation, "latency_max", late, 0, size, block, threads, None, latency, latency_line,
                "exact", "" if late is not None else UNREADABLE if latency else "not printed", None, None, None, about,
            )  # fmt: skip


@lru_cache(maxsize=256)
def _plan(
    version: str, size: str, chunk: str | None, concurrency: str, seeks: str, seekers: str, files: str, unit: str,
    is_text: bool,
) -> tuple[Test, ...]:  # fmt: skip
    """What all rows of one version that did the same have in common."""
    asked = Record(
        0, 0, version, size=size, chunk=chunk, concurrency=concurrency, seeks=seeks, seekers=seekers,
        files=(files, "", "", ""), is_text=is_text,
    )  # fmt: skip
    bounds = [_bound(asked, test) for test in range(len(TESTS))]
    qualities = ["exact" if bound is None else "lower_bound" for bound in bounds]
    note = _SLICE if version.startswith(("1.9", "2.")) else ""
    of_file = (1024.0, " K/s", asked.file_size)  # what is in M/s is not plain
    block, threads, seeking = asked.block_size, asked.threads, int(seekers) if seekers else None
    point = [
        (*of_file, None if test in CHARS else block, threads, note if test in CHARS else "") for test in range(SEEK)
    ]
    point += [(1.0, " /s", asked.file_size, block, seeking, "")]
    point += [(1.0, " /s", None, None, threads, "")] * (len(TESTS) - FILES)
    return tuple(
        (test, TESTS[test], METRICS[test], *point[test], qualities[test], bounds[test]) for test in range(len(TESTS))
    )


def _plain(record: Record) -> Sequence[float | None]:
    """The rates that are nothing but a number in the unit of their test; None of every other."""
    if record.is_text and record.is_scaled:
        return [None] * len(TESTS)
    printed = ",".join(record.rates)
    try:  # all at once; JSON has no blanks and no leading zeros
        values = _FLOATS_OR_NONE(f"[{printed.replace('+++++', 'null')}]") if "-" not in printed else None
    except MsgspecError:
        values = None
    if values is None:
        values = [float(one) if one.isdecimal() else None for one in record.rates]
    if record.is_text and record.is_single:
        values[SEEK] = None  # it may be rounded
    if record.io_unit == "M/s":
        return [None if test < SEEK and test not in CHARS else value for test, value in enumerate(values)]
    return values


def _unusual(record: Record, test: int, printed: str) -> tuple[float | None, str, str, str, float | None]:
    """The value, its unit and quality; where there is none why, and what it is above."""
    is_scaled, is_rounded = record.is_text and record.is_scaled, record.is_text and record.is_single
    value, unit, quality = _measured(printed, test, f" {record.io_unit}", is_scaled, is_rounded)
    if value is not None:
        return value, unit, quality, "", None
    low, reason = _missing(record, test, printed)
    return None, unit, quality if low is None else "lower_bound", reason, low


def _measured(printed: str, test: int, unit: str, is_scaled: bool, is_rounded: bool) -> tuple[float | None, str, str]:
    """The value in base units, the unit that was printed with it, and how good it is."""
    if not printed or printed[0] in "+-":
        return None, "", "exact"
    if test >= SEEK:
        if test == SEEK:
            return float(printed), " /s", "rounded" if is_rounded and "." not in printed else "exact"
        return (None, "", "exact") if is_scaled else (float(printed), " /s", "exact")
    if (scale := SCALES.get(printed[-1])) is not None:
        return float(printed[:-1]) * scale, "/s", "exact" if scale == KIB else "rounded"
    if is_scaled:
        return None, "", "exact"
    if unit == " K/s":
        return float(printed) * KIB, unit, "exact"
    return float(printed) * KIB**2 or None, unit, "rounded"


def _missing(record: Record, test: int, printed: str) -> tuple[float | None, str]:
    """A lower bound where there is one, and why there is no value."""
    if printed.startswith("+"):
        return _bound(record, test), _FAST
    if printed.startswith("-"):
        return None, "negative: the tool's own overflow"
    if printed == "0" and record.io_unit == "M/s":
        return None, _ROUNDED_AWAY
    if printed:
        return None, _NO_RATE if test >= FILES else "no unit is printed with it"
    if record.cut is not None and test >= record.cut:
        return None, "the line is cut off before it"
    return None, _NOT_RUN if test in CHARS else "not printed"


def _bound(record: Record, test: int) -> float | None:
    """What the rate is above, as the whole test took less than the shortest time that bonnie++ trusts."""
    done: int | None
    if test in CHARS and not record.is_single:
        return None
    if test == SEEK:
        done = int(record.seeks) if record.seeks else 8000 if record.shortest == 1.0 else 8192
    else:
        done = record.file_size if test < SEEK else record.file_count
    return done / record.shortest if done else None


def _nanoseconds(printed: Sequence[str]) -> Sequence[float | None]:
    """Of digits with us, ms or s; None of a blank and of anything else."""
    joined = ",".join(printed)
    if all(printed) and "-" not in joined and "." not in joined:
        try:  # all at once; JSON has no leading zeros
            return _FLOATS(f"[{joined.replace('us', 'e3').replace('ms', 'e6').replace('s', 'e9')}]")
        except MsgspecError:
            pass
    return [_of_unit(one) for one in printed]


def _of_unit(printed: str) -> float | None:
    match = _LATENCY.fullmatch(printed)
    return float(match[1]) * _FACTORS[match[2]] if match else None
