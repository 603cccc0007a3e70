"""Which printed figures are rounded, by one rule for all formats.

A figure is exact as printed where the format always has it in the same unit (`285299 Kbytes/sec` of IOzone, `0.264 ms` of
Vdbench). It is rounded where the tool chooses the unit by the size of the figure and prints a few digits of it
(`9.19 Gbits/sec`, `2.8 ms`), or cuts off a part that it has measured (fio's terse µs). What can be off by more than the
last digit is approximate, with bounds. A value that is computed from exact figures is exact, whatever stands beside it:
dd's bandwidth is its bytes over its seconds.

Parsers that know a figure's digits set its quality themselves (fio, bonnie++ 2.00). For formats that print all figures
of a kind in a unit of their choice it is set here.
"""

import re
from dataclasses import replace

from msgspec import structs

from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParsedTable

_BITS_AND_BYTES = re.compile(r"\d ?[KMGTkmgt]i?(?:bit|Bit|byte|Byte|B)")
_CHOSEN_UNITS = {  # by the name of the format
    "dd in scripts": re.compile(r"\d ?[kMGT]i?B/s"),  # the rate alone, as dd printed it
    "iperf2": _BITS_AND_BYTES,
    "iperf3": _BITS_AND_BYTES,
    "ioping": re.compile(r"\d (?:[KMGT]iB|k iops|us|ms|s\b|min)"),
    "sysbench fileio": re.compile(r"\d[KMGT]b\b"),  # 0.4 and 0.5; later ones print MiB whatever the size
}


def mark_rounded(parsed: ParsedFile, format_name: str) -> ParsedFile:
    """Return what a format read with the figures marked that its tool printed in a unit chosen by their size."""
    unit = _CHOSEN_UNITS.get(format_name)
    if unit is None or not parsed.runs:
        return parsed
    return replace(parsed, runs=tuple(_mark_run(run, unit) for run in parsed.runs))


def _mark_run(run: ParsedRun, unit: re.Pattern[str]) -> ParsedRun:
    if isinstance(run.samples, ParsedTable):
        return run
    return structs.replace(run, samples=tuple(_mark(sample, unit) for sample in run.samples))


def _mark(sample: ParsedSample, unit: re.Pattern[str]) -> ParsedSample:
    is_chosen = sample.quality == "exact" and sample.value is not None and unit.search(sample.printed)
    return structs.replace(sample, quality="rounded") if is_chosen else sample
