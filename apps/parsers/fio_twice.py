"""Figures that stand in a file twice: fio's normal report beside its JSON or terse output."""

from collections.abc import Iterator

from apps.parsers.fio_documents import VERSION, WHOLE, as_bytes, find, plain_bytes
from apps.parsers.fio_terse import looks_like as looks_terse
from apps.parsers.fio_terse import records
from apps.parsers.source_text import SourceText


def told_elsewhere(text: SourceText) -> Iterator[tuple[str, str, int]]:
    """(job, direction, ms) of what JSON and terse output in the same file say."""
    if VERSION in plain_bytes(text):
        for _, _, document in find(as_bytes(text), WHOLE, []):
            for job in document.entries():
                for name in ("read", "write", "trim", "mixed"):
                    one = getattr(job, name)
                    if one is not None and one.runtime:
                        yield job.jobname, name, int(one.runtime)
    if looks_terse(text):
        for record in records(text):
            yield from ((record.name, name, runtime) for name, runtime in record.runtimes.items())
