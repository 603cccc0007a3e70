"""Every value of a report against what is held of it: the report's words stand beside each, and nothing else is there."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from apps.dashboard.published.bringing import WHO
from apps.dashboard.published.describing import Described
from apps.parsers.shape import ParsedSample
from apps.runs.models import Provenance, Sample
from apps.studies.source import Reported, StudyDataError, StudySource

_POINT = ("file_size", "block_size", "threads")
_CLOSE = 1e-9  # value_si is rounded to twelve digits or so
Held = dict[tuple[str, str, str], list[Sample]]


def put_values_right(source: StudySource, described: Described, told_of: Collection[int] = ()) -> list[str]:
    """Value, bounds, quality, printed text, reason and note of each. Says which had to be changed, but for runs that
    were told of (`told_of`: their ids) as made or changed. Raises `StudyDataError` where one is not held exactly once.
    """
    held = _held(described)
    said = []
    for one in source.reported:
        sample = _one(source, one, held)
        changed = _put(sample, one.sample)
        if changed and sample.run_id not in told_of:
            rows = " and ".join(map(str, one.rows))
            said.append(f"value of row {rows}, {one.configuration}: changed {', '.join(changed)}")
    return said


def find(samples: Iterable[Sample], wanted: ParsedSample) -> list[Sample]:
    """Those at the report's point; what the tool says and the report does not, or the other way round, is no difference."""
    return [sample for sample in samples if all(_agrees(sample, wanted, name) for name in _POINT)]


def _agrees(sample: Sample, wanted: ParsedSample, name: str) -> bool:
    there, said = getattr(sample.point, name), getattr(wanted, name)
    return there is None or said is None or there == said


def _agreeing(sample: Sample, wanted: ParsedSample) -> int:
    return sum(getattr(sample.point, name) == getattr(wanted, name) for name in _POINT)


def _held(described: Described) -> Held:
    """(configuration, operation, metric) → samples."""
    found: Held = defaultdict(list)
    samples = Sample.objects.filter(
        run__study_run__configuration__study=described.study, run__uploaded_from__file__upload__created_by=WHO
    ).select_related("measure", "point", "provenance", "run__study_run__configuration", "run__uploaded_from__file")
    for sample in samples.order_by("pk"):
        key = sample.run.study_run.configuration.name, sample.measure.operation, sample.measure.metric
        found[key].append(sample)
    return found


def _one(source: StudySource, reported: Reported, held: Held) -> Sample:
    wanted = reported.sample
    found = find(held[reported.configuration, wanted.operation, wanted.metric], wanted)
    if len(found) > 1:  # two runs of one configuration, as a line of dd and a figure in a sentence
        nearest = max(_agreeing(one, wanted) for one in found)
        found = [one for one in found if _agreeing(one, wanted) == nearest]
    if len(found) != 1:
        raise StudyDataError(f"{source.slug}, row {reported.rows[0]}: found {len(found)} samples for it, expected one")
    return found[0]


def _put(sample: Sample, wanted: ParsedSample) -> list[str]:
    """The names of what was not as the report has it. What a file says by itself, its text and its line, is not touched."""
    differing = _change(sample, {"value": wanted.value})
    said = getattr(sample, "provenance", None) or Provenance(sample=sample)
    return differing + _change(said, _fields(wanted))


def _change(row: Sample | Provenance, fields: dict[str, Any]) -> list[str]:
    differing = [name for name, value in fields.items() if not _same(getattr(row, name), value)]
    for name in differing:
        setattr(row, name, fields[name])
    if differing:
        row.save(update_fields=None if row._state.adding else differing)
    return differing


def _fields(wanted: ParsedSample) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "quality": wanted.quality, "missing_reason": wanted.missing_reason, "low": wanted.low, "high": wanted.high,
        "note": wanted.note, "alternatives": list(wanted.alternatives),
    }  # fmt: skip
    if wanted.cpu is not None:
        fields["cpu"] = wanted.cpu
    return fields


def _same(held: Any, wanted: Any) -> bool:
    if isinstance(held, float) and isinstance(wanted, float):
        return math.isclose(held, wanted, rel_tol=_CLOSE)
    return bool(held == wanted)
