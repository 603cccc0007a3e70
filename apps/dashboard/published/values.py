"""The values of a report compared with the stored samples, which get the report's value, bounds and quality."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from apps.dashboard.published.published_import import WHO
from apps.dashboard.published.study_rows import DescribedStudy
from apps.parsers.core.models import ParsedSample
from apps.runs.models import Provenance, Sample
from apps.studies.source import Reported, StudyDataError, StudySource

_POINT = ("file_size", "block_size", "threads")
_CLOSE = 1e-9  # value_si is rounded to twelve digits or so
Held = dict[tuple[str, str, str], list[Sample]]


def put_values_right(source: StudySource, described: DescribedStudy, told_of: Collection[int] = ()) -> list[str]:
    """Set value, bounds, quality, printed text, reason and note of each reported value.

    Returns:
        Sentences about changes, except for runs that are new.
    """
    held = _held(described)
    sentences = []
    for item in source.reported:
        sample = _one(source, item, held)
        changed = _put(sample, item.sample)
        if changed and sample.run_id not in told_of:
            rows = " and ".join(map(str, item.rows))
            sentences.append(f"value of row {rows}, {item.configuration}: changed {', '.join(changed)}")
    return sentences


def find(samples: Iterable[Sample], wanted: ParsedSample) -> list[Sample]:
    """Return the samples at the report's point; a detail that only one of tool and report gives is no difference."""
    return [sample for sample in samples if all(_agrees(sample, wanted, name) for name in _POINT)]


def _agrees(sample: Sample, wanted: ParsedSample, name: str) -> bool:
    there, expected = getattr(sample.point, name), getattr(wanted, name)
    return there is None or expected is None or there == expected


def _agreeing(sample: Sample, wanted: ParsedSample) -> int:
    return sum(getattr(sample.point, name) == getattr(wanted, name) for name in _POINT)


def _held(described: DescribedStudy) -> Held:
    """Return samples by (configuration, operation, metric)."""
    held: Held = defaultdict(list)
    samples = Sample.objects.filter(
        run__study_run__configuration__study=described.study, run__uploaded_from__file__upload__created_by=WHO
    ).select_related("measure", "point", "provenance", "run__study_run__configuration", "run__uploaded_from__file")
    for sample in samples.order_by("pk"):
        key = sample.run.study_run.configuration.name, sample.measure.operation, sample.measure.metric
        held[key].append(sample)
    return held


def _one(source: StudySource, reported: Reported, held: Held) -> Sample:
    wanted = reported.sample
    result = find(held[reported.configuration, wanted.operation, wanted.metric], wanted)
    if len(result) > 1:  # two runs of one configuration, as a line of dd and a figure in a sentence
        nearest = max(_agreeing(item, wanted) for item in result)
        result = [item for item in result if _agreeing(item, wanted) == nearest]
    if len(result) != 1:
        raise StudyDataError(f"{source.slug}, row {reported.rows[0]}: found {len(result)} samples for it, expected one")
    return result[0]


def _put(sample: Sample, wanted: ParsedSample) -> list[str]:
    """Update a sample to the report's value, and return the names of changed fields; text and line of the file stay."""
    differing = _change(sample, {"value": wanted.value})
    provenance = getattr(sample, "provenance", None) or Provenance(sample=sample)
    return differing + _change(provenance, _fields(wanted))


def _change(row: Sample | Provenance, fields: dict[str, object]) -> list[str]:
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


def _same(held: object, wanted: object) -> bool:
    if isinstance(held, float) and isinstance(wanted, float):
        return math.isclose(held, wanted, rel_tol=_CLOSE)
    return bool(held == wanted)
