"""One kept run and what a better parser reads of it now: the differences as sentences, and the new reading in place of the old.

Host, target, study and number stay, and so do the labels that a person gave. A run that a published report adopted is
described by the report; only its values are read again.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from apps.lib.pipelined import abreast
from apps.parsers.shape import ParsedSample
from apps.runs import workload
from apps.runs.facts import run_facts
from apps.runs.models import Run, Sample, Workload
from apps.runs.samples import drop_values
from apps.runs.sections import sections_of
from apps.runs.workloads import workloads_asked
from apps.uploads.differing_series import of_read, of_stored
from apps.uploads.keeping import write_values
from apps.uploads.models import UploadedRun
from apps.uploads.new_runs import time_of
from apps.uploads.places_in_file import STORED, key_of
from apps.uploads.reading import ReadRun
from apps.uploads.run_fields import labels_of, spec_of, state_of

_SHOWN = 5
_COLUMNS = ("state", "tool", "tool_version", "problem", "started_at", "finished_at", "sections")
_SAME = "the values are the same; what is said beside them differs"
Key = tuple[Any, ...]
Values = dict[Key, float | None]


def differences(row: UploadedRun, now: ReadRun) -> tuple[str, ...]:
    """The values that differ, a few of them, and all that differs beside them."""
    said = [*_of_values(dict(_stored(row.run)), now.samples), *of_stored(row.run, now), *_beside(row, now)]
    return tuple(said) or (_SAME,)


def differences_read(before: ReadRun, now: ReadRun) -> tuple[str, ...]:
    """The same of a run that waits in a preview."""
    said = [*_of_values(_values(before.samples), now.samples), *of_read(before, now)]
    return tuple(said) or (_SAME,)


def is_as_read(row: UploadedRun, now: ReadRun) -> bool:
    """Whether there is nothing to replace. Names of sections were not kept at first: the digest knew them, the run did not."""
    is_uploaded = row.run.origin == Run.Origin.UPLOADED
    return row.digest == now.digest and (not is_uploaded or row.run.sections == sections_of(now.run))


def replace(row: UploadedRun, now: ReadRun) -> int:
    """Everything that was read of the run is what is read now. Says how many samples there are more."""
    before: int = Sample.objects.filter(run=row.run).count()
    drop_values(row.run)
    write_values([(row.run_id, row.file.artefact_id, now)])
    if row.run.origin == Run.Origin.UPLOADED:
        _replace_beside(row, now)
    row.digest = now.digest
    row.save(update_fields=["digest"])
    return now.sample_count - before


def _replace_beside(row: UploadedRun, now: ReadRun) -> None:
    run = row.run
    for name, value in _columns_now(now).items():
        setattr(run, name, value)
    run.labels = labels_of(row.file.upload, row.file, now.run)
    run.workload = _workload(run.lab_id, now)
    run.facts = run_facts(run)
    run.save(update_fields=[*_COLUMNS, "labels", "workload", "facts"])


def _workload(lab_id: int, now: ReadRun) -> Workload | None:
    if not now.run.workload:
        return None
    spec = spec_of(now.run)
    digest = workload.digest(spec)
    (found,) = abreast(workloads_asked(lab_id, {digest: spec}))
    return found[digest]  # type: ignore[no-any-return]


def _columns_now(now: ReadRun) -> dict[str, Any]:
    run = now.run
    return {
        "state": state_of(now),
        "tool": run.tool[:40],
        "tool_version": run.tool_version[:60],
        "problem": run.problem,
        "started_at": time_of(run.started_at),
        "finished_at": time_of(run.ended_at),
        "sections": sections_of(run),
    }


def _beside(row: UploadedRun, now: ReadRun) -> Iterator[str]:
    run = row.run
    if run.origin != Run.Origin.UPLOADED:
        return
    before = {name: getattr(run, name) for name in _COLUMNS}
    before |= _named("workload", run.workload.spec if run.workload else {}) | _named("label", run.labels)
    spec = spec_of(now.run) if now.run.workload else {}
    after = _columns_now(now) | _named("workload", spec)
    after |= _named("label", labels_of(row.file.upload, row.file, now.run))
    if row.format != now.format:
        yield f"format: {row.format} → {now.format}"
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old != new:
            words = name.replace("_", " ") if name in _COLUMNS else name
            yield f"{words}: {_shown(old)} → {_shown(new)}"


def _named(kind: str, told: dict[str, Any]) -> dict[str, Any]:
    return {f"{kind} {name}": value for name, value in told.items() if (kind, name) != ("workload", "tool")}


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dict):
        return ", ".join(map(_section_shown, value.values())) or "nothing"
    return "nothing" if value in (None, "") else str(value)


def _section_shown(one: dict[str, Any]) -> str:
    return " ".join(
        [one.get("name", ""), *(f"{name}={value}" for name, value in one.get("options", {}).items())]
    ).strip()


def _of_values(before: Values, samples: Iterable[ParsedSample]) -> Iterator[str]:
    after = _values(samples)
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


def _stored(run: Run) -> Iterator[tuple[Key, float | None]]:
    for row in Sample.objects.filter(run=run).values_list(*STORED):
        yield row[:-1], row[-1]


def _values(samples: Iterable[ParsedSample]) -> Values:
    return {key_of(one): one.value for one in samples}


def _words(key: Key) -> str:
    names = ("section", "file_size", "block_size", "threads", "iodepth")
    point = [f"{name} {value}" for name, value in zip(names, key[2:], strict=True) if value]
    return ", ".join([f"{key[0]} {key[1]}", *point])
