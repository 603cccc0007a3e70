"""Kept uploads, read again from their raw bytes when a parser improved: what changed, run by run, and the new values.

    for change in reparse(files, apply=True): print(change)

A run keeps its number, its host, its labels and its place in a study; only what was read from the text is replaced. A
run that a parser no longer finds stays as it is, and is named. One that nobody kept is named and not kept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from apps.parsers.shape import ParsedSample
from apps.runs.artefact_store import ArtefactStoreError, read
from apps.runs.facts import run_facts
from apps.runs.models import Run, Sample
from apps.runs.samples import drop_values
from apps.uploads.found import Finder
from apps.uploads.keeping import write_values
from apps.uploads.models import FileState, UploadedFile, UploadedRun
from apps.uploads.reading import FileReading, ReadRun
from apps.uploads.sandbox.parent import SandboxError, reader

_SHOWN = 5
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Change:
    """One sentence about a file or a run, and the values that differ, as sentences."""

    file: UploadedFile
    text: str
    run_id: int | None = None
    values: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        run = f" run {self.run_id}" if self.run_id else ""
        return "\n    ".join([f"{self.file.name}{run}: {self.text}", *self.values])


def reparse(files: Iterable[UploadedFile], *, apply: bool) -> Iterator[Change]:
    """Read these files again. With `apply`, what changed is written, each file in a transaction of its own."""
    for file in files:
        found = _read_again(file)
        if isinstance(found, str):
            yield Change(file, found)
            continue
        with transaction.atomic():
            yield from _compare(file, found, apply) if file.kept_at else _offer(file, found, apply)


def _read_again(file: UploadedFile) -> FileReading | str:
    if file.artefact is None:
        return "its bytes are not here"
    try:
        return reader().read(read(file.artefact), file.name, file.only, file.mapping)
    except (SandboxError, ArtefactStoreError) as error:
        return f"could not be read again: {error}"


def _offer(file: UploadedFile, found: FileReading, apply: bool) -> Iterator[Change]:
    """A file of which nothing was kept: its preview becomes what is read now."""
    before = (file.state, file.run_count, file.sample_count)
    finder = Finder(file.upload)
    finder.describe(file, found)
    if before != (file.state, file.run_count, file.sample_count):
        yield Change(file, f"{_counted(*before)} before, {_counted(file.state, file.run_count, file.sample_count)} now")
        if apply:
            finder.write([(file, found)])


def _counted(state: str, runs: int, samples: int) -> str:
    return f"{runs} runs with {samples} samples" if runs else FileState(state).label


def _compare(file: UploadedFile, found: FileReading, apply: bool) -> Iterator[Change]:
    now = _numbered(found)
    kept = {(one.format, one.number): one for one in file.runs.select_related("run")}
    for place, row in kept.items():
        if place not in now:
            yield Change(
                file, f"is not found any more ({place[0]}, number {place[1] + 1}); it stays as it is", row.run_id
            )
        elif (new := now[place].digest) != row.digest:
            yield Change(file, "changed", row.run_id, tuple(_differences(row.run, now[place].run.samples)))
            if apply:
                _replace(row, now[place], new)
    fresh = [place for place in now.keys() - kept.keys() if now[place].is_chosen]
    if fresh:
        yield Change(file, f"{len(fresh)} more runs are found now; upload it again to keep them")


def _numbered(found: FileReading) -> dict[tuple[str, int], ReadRun]:
    numbered: dict[tuple[str, int], ReadRun] = {}
    for one in found.runs:
        numbered[one.format, sum(1 for name, _ in numbered if name == one.format)] = one
    return numbered


def _differences(run: Run, samples: Iterable[ParsedSample]) -> Iterator[str]:
    before = dict(_stored(run))
    after = {_key(one): one.value for one in samples}
    said = [
        f"{_words(key)}: {before[key]} → {after[key]}"
        for key in before.keys() & after.keys()
        if before[key] != after[key]
    ]
    said += [f"{_words(key)}: new, {after[key]}" for key in after.keys() - before.keys()]
    said += [f"{_words(key)}: gone, was {before[key]}" for key in before.keys() - after.keys()]
    yield from sorted(said)[:_SHOWN]
    if len(said) > _SHOWN:
        yield f"and {len(said) - _SHOWN} more values"
    if not said:
        yield "the values are the same; what is said beside them differs"


def _stored(run: Run) -> Iterator[tuple[Key, float | None]]:
    columns = ("measure__operation", "measure__metric", "section", "point__file_size", "point__block_size",
               "point__threads", "point__iodepth", "value")  # fmt: skip
    for row in Sample.objects.filter(run=run).values_list(*columns):
        yield row[:-1], row[-1]


def _key(one: ParsedSample) -> Key:
    return one.operation, one.metric, one.section, one.file_size, one.block_size, one.threads, one.iodepth


def _words(key: Key) -> str:
    names = ("section", "file_size", "block_size", "threads", "iodepth")
    point = [f"{name} {value}" for name, value in zip(names, key[2:], strict=True) if value]
    return ", ".join([f"{key[0]} {key[1]}", *point])


def _replace(row: UploadedRun, read_now: ReadRun, new_digest: str) -> None:
    run = row.run
    drop_values(run)
    write_values([(run.pk, row.file.artefact_id, read_now)])
    run.tool_version, run.problem = read_now.run.tool_version[:60], read_now.run.problem
    run.facts = run_facts(run)
    run.save(update_fields=["tool_version", "problem", "facts"])
    row.digest = new_digest
    row.save(update_fields=["digest"])
