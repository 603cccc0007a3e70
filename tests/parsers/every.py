"""What must be true of everything that any parser gives back, whatever it was given."""

import dataclasses
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from apps.parsers.cleanup.backslashes import without_backslashes
from apps.parsers.cleanup.blank_lines import without_double_spacing, without_spaced_stretches
from apps.parsers.cleanup.line_marks import without_marks
from apps.parsers.cleanup.log_messages import without_message_heads
from apps.parsers.cleanup.margins import without_block_margins, without_margin
from apps.parsers.cleanup.post_tags import without_tags
from apps.parsers.cleanup.string_literals import without_quotes
from apps.parsers.cleanup.timestamps import without_times
from apps.parsers.cleanup.typography import with_plain_characters
from apps.parsers.cleanup.web_pages import without_html
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParsedSeries, ParseError
from apps.parsers.core.registry import RECOGNISED, Format, recognise
from apps.parsers.core.source_text import SourceText
from apps.runs.metrics import METRICS, OPERATIONS
from apps.uploads.file_reader import offered, read_mapped
from tests.pace import slowness

Result = TypeVar("Result")
SLOWEST_S = 2.0
LAYERS = (
    with_plain_characters, without_margin, without_block_margins, without_html, without_tags, without_backslashes,
    without_double_spacing, without_spaced_stretches,
    without_times, without_message_heads,
    without_marks, without_quotes,
)  # fmt: skip
QUALITIES = {"exact", "rounded", "approximate", "ocr_repaired", "read_from_text", "lower_bound"}
_INT_8, _INT_4 = (1 << 63) - 1, (1 << 31) - 1
_YEAR_10000 = 253_402_300_800  # what a date holds
_UNFIT = re.compile("[\x00\ud800-\udfff]")
_INTEGERS = {"file_size": _INT_8, "block_size": _INT_8, "threads": _INT_4, "iodepth": _INT_4, "section": _INT_4}


def timed(act: Callable[[], Result], most: float = SLOWEST_S) -> tuple[Result, float]:
    """The result, and the processor time of the fastest of up to three tries, as a usual machine would take it where that matters."""
    seconds = math.inf
    for _ in range(3):
        before = time.process_time()
        result = act()
        seconds = min(seconds, time.process_time() - before)
        if seconds <= most:
            break
    return result, seconds if seconds <= most else seconds / slowness()


def tried(one: Format, text: SourceText) -> tuple[ParsedFile | None, float]:
    """What the format makes of the text, None where it is none of its own. Any other exception is the test's failure.

    Of a table also what the mapping dialog asks, and what is read once everything that it guesses is said.
    """
    score = one.looks_like(text)
    if one.kind == "table" and (asked := offered(text, None)):
        read_mapped(text, asked["guess"])
    try:
        return one.parse(text), score
    except ParseError as error:
        refused = error
    assert refused.message
    assert refused.line is None or 1 <= refused.line <= line_count(text), f"line {refused.line} is not in the text"
    return None, score


def surely_read(text: str) -> list[tuple[str, ParsedFile]]:
    """What is recognised and read of it, with the name of each format; tables not counted."""
    found = [one for one in recognise(SourceText(text)) if one.confidence >= RECOGNISED and one.format.kind != "table"]
    return [(one.format.name, one.parsed) for one in found if one.has_found and one.parsed]


def read_but_lines(text: str) -> list[tuple[object, ...]]:
    """What is surely read, without the numbers of lines, which those of one row do not have."""
    return [
        (
            name,
            [([replace(one, line=None) for one in r.samples], r.workload, r.host, r.tool_version) for r in parsed.runs],
            [dataclasses.replace(one, line=None, last_line=None) for one in parsed.inventory],
            [(one.name, one.jobs) for one in parsed.workloads],
            len(parsed.broken),
        )
        for name, parsed in surely_read(text)
    ]


@cache
def read_plain(text: str) -> list[tuple[object, ...]]:
    """Do the same for an output as it was printed, which many tests hold against what somebody put around it."""
    return read_but_lines(text)


def layer_faults(text: SourceText) -> list[str]:
    """What a layer that is taken off does to the numbers of lines; nothing is what a test wants."""
    lines = text.text.count("\n")
    found = [(layer.__name__, shorter) for layer in LAYERS if (shorter := layer(text)) is not None]
    return [name for name, shorter in found if shorter.text.count("\n") != lines or shorter.lines is None]


def line_count(text: SourceText) -> int:
    return max(1, text.text.count("\n") + 1, text.text.count("\r") + 1)


def faults(parsed: ParsedFile, text: SourceText) -> list[str]:
    """Sentences, at most ten; none is what a test wants."""
    found: list[str] = []
    for fault in _all(parsed, line_count(text)):
        found.append(fault)
        if len(found) == 10:
            break
    return found


def _all(parsed: ParsedFile, last: int) -> Iterator[str]:
    for run in parsed.runs:
        yield from (f"{run.tool}: {fault}" for fault in _run(run, last))
    for part in (*parsed.workloads, *parsed.inventory, *parsed.broken):
        yield from _lines(part, last)
    for machine in parsed.inventory:
        yield from _content(machine.content)
    yield from _texts(parsed, "")


def _run(run: ParsedRun, last: int) -> Iterator[str]:
    yield from _lines(run, last)
    keys = Counter(
        (s.operation, s.metric, s.file_size, s.block_size, s.threads, s.iodepth, s.section) for s in run.samples
    )
    yield from (f"{count} samples of {key}" for key, count in keys.items() if count > 1)
    for sample in run.samples:
        yield from (
            f"{sample.operation} {sample.metric} line {sample.line}: {fault}" for fault in _sample(sample, last)
        )
    sections = {section.number for section in run.sections}
    if sections or any(sample.section for sample in run.samples):
        strange = {sample.section for sample in run.samples} - sections - {0}
        yield from (f"section {number} is not declared" for number in strange)
    for one in run.series:
        yield from (f"series of {one.operation} {one.metric}: {fault}" for fault in _series(one))
    yield from _histograms(run)
    for section in run.sections:
        if not abs(section.error) <= _INT_8:
            yield f"section {section.number} ended with {str(section.error)[:40]}"
    for moment in (run.started_at, run.ended_at):
        if moment is not None and not -_YEAR_10000 / 5 < moment < _YEAR_10000:
            yield f"a time of {moment}"
    for name, value in run.workload.items():
        if isinstance(value, int | float) and not abs(value) <= _INT_8:
            yield f"workload {name} is {str(value)[:40]}"


def _histograms(run: ParsedRun) -> Iterator[str]:
    for histogram in run.histograms:
        values = [value for value, _ in histogram.bins]
        if values != sorted(set(values)) or any(not 0 <= n <= _INT_8 for pair in histogram.bins for n in pair):
            yield f"histogram of {histogram.operation}: bins do not ascend or do not fit"
    for history in run.histories:
        if np.asarray(history.counts).shape != (len(history.times_s), len(history.bins)):
            yield f"history of {history.operation}: counts of other intervals and bins"


def _lines(part: Any, last: int) -> Iterator[str]:
    line, end = getattr(part, "line", None), getattr(part, "last_line", None)
    for number in (line, end):
        if number is not None and not 1 <= number <= last:
            yield f"{type(part).__name__}: line {number} is not in the text of {last} lines"
    if line is not None and end is not None and line > end:
        yield f"{type(part).__name__}: line {line} is behind its last line {end}"
    if line is None and isinstance(part, ParsedRun):
        yield "a run says not where it stands"


def _sample(sample: ParsedSample, last: int) -> Iterator[str]:
    yield from _lines(sample, last)
    if sample.operation not in OPERATIONS:
        yield "no such operation"
    if sample.metric not in METRICS:
        yield "no such metric"
    if sample.quality not in QUALITIES:
        yield f"no such quality: {sample.quality}"
    if sample.value is None and not sample.missing_reason and sample.low is None and sample.high is None:
        yield "no value, no bound and no reason"
    if sample.value is not None and sample.missing_reason:
        yield "a value and a reason why there is none"
    for name in ("value", "low", "high", "cpu"):
        number = getattr(sample, name)
        if number is not None and not math.isfinite(number):
            yield f"{name} is {number}"
    for name, most in _INTEGERS.items():
        number = getattr(sample, name)
        if number is not None and not (isinstance(number, int) and 0 <= number <= most):
            yield f"{name} is {str(number)[:40]!r}"


def _series(one: ParsedSeries) -> Iterator[str]:
    if one.operation not in OPERATIONS or one.metric not in METRICS:
        yield "no such operation or metric"
    times, values = np.asarray(one.times_s, dtype=float), np.asarray(one.values, dtype=float)
    if times.shape != values.shape:
        yield f"{times.shape} times and {values.shape} values"
    if not np.isfinite(times).all() or np.isinf(values).any():
        yield "a time that is not finite, or an infinite value"


def _content(content: Any) -> Iterator[str]:
    try:
        json.dumps(content, allow_nan=False)
    except (ValueError, TypeError) as error:
        yield f"content is no JSON: {error}"


def _texts(value: Any, where: str) -> Iterator[str]:
    """Strings that no database text holds, anywhere in the result."""
    if isinstance(value, str):
        if _UNFIT.search(value):
            yield f"{where} holds NUL or half a surrogate: {value[:60]!r}"
    elif (is_dataclass(value) and not isinstance(value, ParsedSeries)) or isinstance(value, Struct):
        names = value.__struct_fields__ if isinstance(value, Struct) else [field.name for field in fields(value)]
        for name in names:
            if name not in ("histograms", "histories", "series"):
                yield from _texts(getattr(value, name), f"{type(value).__name__}.{name}")
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(key, where)
            yield from _texts(one, where)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one, where)
