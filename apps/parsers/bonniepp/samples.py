"""The samples of one row of bonnie++; units and sources are described in `format.py`.

What is the same in all rows of a log is computed once (`_make_plan`), and the numbers of a row are read all at once,
because each row has up to 24 samples.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import MsgspecError, json

from apps.parsers.bonniepp.record import CHARS, FILES, KIB, METRICS, SCALES, SEEK, TESTS, BonnieppRecord
from apps.parsers.core.models import ParsedSample

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

# One test: its number, operation, metric, scale, unit, file size, block size, threads, note, and quality and bound for +++++.
TestPlan = tuple[int, str, str, float, str, int | None, int | None, int | None, str, str, float | None]


def make_samples(record: BonnieppRecord, numbers: Sequence[int]) -> tuple[ParsedSample, ...]:
    """Return the samples of a record; `numbers` are the numbers of `record.lines` in the file."""
    values, nanoseconds = _read_plain_rates(record), _read_latencies(record.latencies)
    has_latencies = any(record.latencies)
    record.has_unread = has_latencies and None in nanoseconds
    plan = _make_plan(
        record.version, record.size, record.chunk, record.concurrency, record.seeks, record.seekers, record.files[0],
        record.io_unit, record.is_text,
    )  # fmt: skip
    is_whole = has_latencies and not record.has_unread and record.size and record.files[0]
    if is_whole and numbers[0] == numbers[-1] and _is_usual(record, values):
        return _make_usual_samples(plan, record, values, nanoseconds, numbers[0])
    return tuple(_iterate_samples(plan, record, values, nanoseconds, numbers))


def _is_usual(record: BonnieppRecord, values: Sequence[float | None]) -> bool:
    """Return whether every test has a rate, or was too fast to time."""
    return None not in values or values.count(None) == record.rates.count("+++++")


def _make_usual_samples(
    plan: Sequence[TestPlan],
    record: BonnieppRecord,
    values: Sequence[float | None],
    nanoseconds: Sequence[float | None],
    line: int,
) -> tuple[ParsedSample, ...]:
    """Return the samples of a CSV line in which nothing is missing, as in nearly all.

    The result is that of `_iterate_samples`, in three quarters of the time.
    """
    samples: list[ParsedSample] = []
    add, new, shares = samples.append, ParsedSample, map(_SHARES.__getitem__, record.cpus)
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
    return tuple(samples)


def _iterate_samples(
    plan: Sequence[TestPlan], record: BonnieppRecord, values: Sequence[float | None], nanoseconds: Sequence[float | None],
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
            value, unit, quality, reason, low = _read_unusual_rate(record, test, printed)
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
def _make_plan(
    version: str, size: str, chunk: str | None, concurrency: str, seeks: str, seekers: str, files: str, unit: str,
    is_text: bool,
) -> tuple[TestPlan, ...]:  # fmt: skip
    """Return what all rows of one version that did the same have in common."""
    record = BonnieppRecord(
        0, 0, version, size=size, chunk=chunk, concurrency=concurrency, seeks=seeks, seekers=seekers,
        files=(files, "", "", ""), is_text=is_text,
    )  # fmt: skip
    bounds = [_compute_bound(record, test) for test in range(len(TESTS))]
    qualities = ["exact" if bound is None else "lower_bound" for bound in bounds]
    note = _SLICE if version.startswith(("1.9", "2.")) else ""
    of_file = (1024.0, " K/s", record.file_size)  # rates in M/s are handled as unusual
    block, threads, seeking = record.block_size, record.threads, int(seekers) if seekers else None
    point = [
        (*of_file, None if test in CHARS else block, threads, note if test in CHARS else "") for test in range(SEEK)
    ]
    point += [(1.0, " /s", record.file_size, block, seeking, "")]
    point += [(1.0, " /s", None, None, threads, "")] * (len(TESTS) - FILES)
    return tuple(
        (test, TESTS[test], METRICS[test], *point[test], qualities[test], bounds[test]) for test in range(len(TESTS))
    )


def _read_plain_rates(record: BonnieppRecord) -> Sequence[float | None]:
    """Return the rates that are only a number in the unit of their test; None for every other."""
    if record.is_text and record.is_scaled:
        return [None] * len(TESTS)
    printed = ",".join(record.rates)
    try:  # all at once; JSON has no blanks and no leading zeros
        values = _FLOATS_OR_NONE(f"[{printed.replace('+++++', 'null')}]") if "-" not in printed else None
    except MsgspecError:
        values = None
    if values is None:
        values = [float(rate) if rate.isdecimal() else None for rate in record.rates]
    if record.is_text and record.is_single:
        values[SEEK] = None  # it may be rounded
    if record.io_unit == "M/s":
        return [None if test < SEEK and test not in CHARS else value for test, value in enumerate(values)]
    return values


def _read_unusual_rate(
    record: BonnieppRecord, test: int, printed: str
) -> tuple[float | None, str, str, str, float | None]:
    """Return value, unit, quality, why there is no value, and a lower bound."""
    is_scaled, is_rounded = record.is_text and record.is_scaled, record.is_text and record.is_single
    value, unit, quality = _read_measured(printed, test, f" {record.io_unit}", is_scaled, is_rounded)
    if value is not None:
        return value, unit, quality, "", None
    low, reason = _explain_missing(record, test, printed)
    return None, unit, quality if low is None else "lower_bound", reason, low


def _read_measured(
    printed: str, test: int, unit: str, is_scaled: bool, is_rounded: bool
) -> tuple[float | None, str, str]:
    """Return the value in base units, the unit that was printed with it, and its quality."""
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


def _explain_missing(record: BonnieppRecord, test: int, printed: str) -> tuple[float | None, str]:
    """Return a lower bound where there is one, and why there is no value."""
    if printed.startswith("+"):
        return _compute_bound(record, test), _FAST
    if printed.startswith("-"):
        return None, "negative: the tool's own overflow"
    if printed == "0" and record.io_unit == "M/s":
        return None, _ROUNDED_AWAY
    if printed:
        return None, _NO_RATE if test >= FILES else "no unit is printed with it"
    if record.cut is not None and test >= record.cut:
        return None, "the line is cut off before it"
    return None, _NOT_RUN if test in CHARS else "not printed"


def _compute_bound(record: BonnieppRecord, test: int) -> float | None:
    """Return what the rate is above, given that the whole test took less than the shortest time that bonnie++ trusts."""
    done: int | None
    if test in CHARS and not record.is_single:
        return None
    if test == SEEK:
        done = int(record.seeks) if record.seeks else 8000 if record.shortest == 1.0 else 8192
    else:
        done = record.file_size if test < SEEK else record.file_count
    return done / record.shortest if done else None


def _read_latencies(printed: Sequence[str]) -> Sequence[float | None]:
    """Return latencies in ns; None for a blank and for anything that has no unit us, ms or s."""
    joined = ",".join(printed)
    if all(printed) and "-" not in joined and "." not in joined:
        try:  # all at once; JSON has no leading zeros
            return _FLOATS(f"[{joined.replace('us', 'e3').replace('ms', 'e6').replace('s', 'e9')}]")
        except MsgspecError:
            pass
    return [_read_latency(latency) for latency in printed]


def _read_latency(printed: str) -> float | None:
    match = _LATENCY.fullmatch(printed)
    return float(match[1]) * _FACTORS[match[2]] if match else None
