"""Figures that stand in a file twice: fio's reports in several forms at once (`--output-format=json,terse,normal`).

JSON has the most of each figure and is read; a terse record that repeats it is left out, and so is a normal report that
repeats either. Of jobs that moved nothing (they failed, or trimmed where a form has no trims) the names are compared.
"""

from collections.abc import Iterator
from itertools import product

from apps.parsers.fio_documents import VERSION, Document, Job
from apps.parsers.fio_found import documents_in
from apps.parsers.fio_terse_record import Record, record_in
from apps.parsers.source_text import SourceText, plain_bytes

Moved = tuple[str, str, int, int]  # job, direction, ms, KiB
_SUMS = {
    "read": ("mixed",),
    "mixed": ("read",),
}  # before 3.27 terse output has the sum of all directions where reads are
_REPORTED = ("read", "write", "trim", "mixed")
NOTHING = ("", 0)  # direction and ms of a job that moved nothing


def told_elsewhere(text: SourceText) -> Iterator[tuple[str, str, int]]:
    """(job, direction, ms) of what JSON and terse output in the same file say."""
    for name, direction, runtime, _ in told_by_json(text):
        yield name, direction, runtime
    if b"%;" in plain_bytes(text):
        for index, line in enumerate(text.lines):
            if (record := record_in(line, text.number(index), [])) is not None:
                for name, runtime in (record.job.runtimes or dict([NOTHING])).items():
                    yield from ((record.job.name, one, runtime) for one in (name, *_SUMS.get(name, ())))


def told_by_json(text: SourceText) -> Iterator[Moved]:
    """What JSON in the same file says of each direction that ran."""
    if VERSION not in plain_bytes(text):
        return
    for _, _, document in documents_in(text).found:
        yield from _of_document(document)


def _of_document(document: Document[Job]) -> Iterator[Moved]:
    for job in document.entries():
        for name in _REPORTED:
            one = getattr(job, name)
            if one is not None and one.runtime:
                moved = one.io_bytes or 0
                # fio 2.x prints KiB there
                for word, kib in product((name, *_SUMS.get(name, ())), {moved, moved // 1024}):
                    yield job.jobname, word, int(one.runtime), int(kib)
        if not any(one is not None and one.runtime for one in (job.read, job.write, job.mixed)):
            yield job.jobname, *NOTHING, 0


def figures(records: list[Record]) -> set[Moved]:
    """Of terse records the same."""
    moved = {
        (record.job.name, name, runtime, int(record.job.value(name, "io_bytes") or 0) // 1024)
        for record in records
        for name, runtime in record.job.runtimes.items()
    }
    return moved or {(record.job.name, *NOTHING, 0) for record in records}
