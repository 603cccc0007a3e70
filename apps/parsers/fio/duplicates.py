"""Detection of figures that stand in a file twice: reports of fio in several forms at once (`--output-format=json,terse,normal`).

JSON has the most of each figure and is read; a terse record that repeats it is left out, and so is a normal report that
repeats either. Of jobs that moved nothing (they failed, or trimmed where a form has no trims) only the names are
compared.
"""

from collections.abc import Iterator
from itertools import product

from apps.parsers.core.source_text import SourceText, get_ascii_bytes
from apps.parsers.fio.json.documents import VERSION, FioDocument, JsonJob
from apps.parsers.fio.json.sources import collect_documents
from apps.parsers.fio.terse.record import TerseRecord, read_record

MovedFigures = tuple[str, str, int, int]  # job, direction, ms, KiB
_SUM_OF = {
    "read": ("mixed",),
    "mixed": ("read",),
}  # before 3.27 terse output has the sum of all directions in place of reads
_REPORTED = ("read", "write", "trim", "mixed")
NOTHING = ("", 0)  # direction and ms of a job that moved nothing


def iterate_elsewhere(text: SourceText) -> Iterator[tuple[str, str, int]]:
    """Yield (job, direction, ms) of what JSON and terse output in the same file report."""
    for name, direction, runtime, _ in iterate_json_figures(text):
        yield name, direction, runtime
    if b"%;" in get_ascii_bytes(text):
        for index, line in enumerate(text.lines):
            if (record := read_record(line, text.number(index), [])) is not None:
                for name, runtime in (record.job.runtimes or dict([NOTHING])).items():
                    yield from ((record.job.name, direction, runtime) for direction in (name, *_SUM_OF.get(name, ())))


def iterate_json_figures(text: SourceText) -> Iterator[MovedFigures]:
    """Yield the figures of each direction that ran, from JSON in the same file."""
    if VERSION not in get_ascii_bytes(text):
        return
    for _, _, document in collect_documents(text).entries:
        yield from _iterate_document(document)


def _iterate_document(document: FioDocument[JsonJob]) -> Iterator[MovedFigures]:
    for job in document.get_entries():
        for name in _REPORTED:
            direction = getattr(job, name)
            if direction is not None and direction.runtime:
                moved = direction.io_bytes or 0
                # fio 2.x prints KiB there
                for word, kib in product((name, *_SUM_OF.get(name, ())), {moved, moved // 1024}):
                    yield job.jobname, word, int(direction.runtime), int(kib)
        if not any(direction is not None and direction.runtime for direction in (job.read, job.write, job.mixed)):
            yield job.jobname, *NOTHING, 0


def collect_figures(records: list[TerseRecord]) -> set[MovedFigures]:
    """Return the figures of terse records."""
    moved = {
        (record.job.name, name, runtime, int(record.job.value(name, "io_bytes") or 0) // 1024)
        for record in records
        for name, runtime in record.job.runtimes.items()
    }
    return moved or {(record.job.name, *NOTHING, 0) for record in records}
