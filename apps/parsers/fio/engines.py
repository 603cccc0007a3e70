"""fio's engines that move no data, or none to a disk, whatever fio prints for them (HOWTO, "I/O engine").

- filecreate, filestat, filedelete and, since 3.38, dircreate, dirstat, dirdelete open, stat or remove one file for each
  I/O. fio prints them as reads and multiplies their number by the block size. Their operation is create, stat or
  delete, their IOPS are a rate of it, and there are no bytes.
- null, cpuio and others (`NO_DISK`) have figures, which no disk made: a warning says so, and a caveat of comparisons.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from msgspec import structs

from apps.parsers.core.models import ParsedHistogram, ParsedRun, ParsedSample, ParsedSeries

OPERATION_OF_ENGINE = {
    "filecreate": "create", "dircreate": "create", "filestat": "stat", "dirstat": "stat", "filedelete": "delete",
    "dirdelete": "delete",
}  # fmt: skip
NOT_AT_A_DISK = "nothing reaches a disk"
NO_DISK = {
    "null": "the engine moves no data",
    "cpuio": "the engine only uses the CPU",
    "exec": "the engine starts a program",
    "falloc": "the engine only allocates space",
    "ftruncate": "the engine only truncates files",
    "net": "the engine sends over a network",
    "netsplice": "the engine sends over a network",
    "rdma": "the engine sends over a network",
}
_BYTES = ("bandwidth", "io_bytes")


def apply_engines(run: ParsedRun) -> ParsedRun:
    """Return the run with the figures of engines that move no data as figures of what these do."""
    engines = {section.number: _get_engine(section.options) for section in run.sections}
    known = {number: engine for number, engine in engines.items() if engine in OPERATION_OF_ENGINE}
    if not known:
        return run
    samples = (
        sample
        for read in run.samples
        for sample in (_change(read, known[read.section]) if _is_of(read, known) else (read,))
    )
    workload = run.workload
    if len(known) == len(run.sections):
        workload = {name: value for name, value in workload.items() if name not in ("rw", "block_size")}
    operations = {number: OPERATION_OF_ENGINE[engine] for number, engine in known.items()}
    return structs.replace(
        run, samples=tuple(samples), workload=workload,
        series=tuple(_iterate_series(run.series, operations)),
        histograms=tuple(_rename(item, operations) for item in run.histograms),
    )  # fmt: skip


def iterate_warnings(run: ParsedRun) -> Iterator[str]:
    """Yield a warning for each engine of the run whose bytes reach no disk."""
    for engine in dict.fromkeys(_get_engine(section.options) for section in run.sections):
        where = f"line {run.line}: " if run.line else ""
        if engine in NO_DISK:
            yield f"{where}ioengine={engine}: {NOT_AT_A_DISK}, {NO_DISK[engine]}"
        elif engine in OPERATION_OF_ENGINE:
            yield f"{where}ioengine={engine} moves no data: its I/Os are read as {OPERATION_OF_ENGINE[engine]}"


def _get_engine(options: Mapping[str, str]) -> str:
    """Return the engine's name; options of an engine may stand behind a colon (`external:path`)."""
    return options.get("ioengine", "").strip().lower()


def _is_of(sample: ParsedSample, known: Mapping[int, str]) -> bool:
    return sample.operation != "disk" and sample.section in known


def _change(sample: ParsedSample, engine: str) -> Iterator[ParsedSample]:
    """Yield the figure as what the engine does; spreads of bytes have no counterpart."""
    operation, metric = OPERATION_OF_ENGINE[engine], sample.metric
    sample = structs.replace(sample, operation=operation, block_size=None)
    if metric == "iops":
        yield structs.replace(sample, metric="rate")
    elif metric in _BYTES:
        yield structs.replace(
            sample, value=None, missing_reason=f"{engine} moves no data", low=None, high=None, quality="exact", cpu=None,
        )  # fmt: skip
    elif not metric.startswith(_BYTES):
        yield sample


def _iterate_series(series: tuple[ParsedSeries, ...], operations: Mapping[int, str]) -> Iterator[ParsedSeries]:
    for item in series:
        operation = operations.get(item.section)
        if operation is None:
            yield item
        elif item.metric != "bandwidth":
            yield replace(item, operation=operation, metric="rate" if item.metric == "iops" else item.metric)


def _rename(histogram: ParsedHistogram, operations: Mapping[int, str]) -> ParsedHistogram:
    operation = operations.get(histogram.section)
    return histogram if operation is None else replace(histogram, operation=operation)
