"""A study's samples as readings for its claims, in one query."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from apps.comparison.claims.checks.definition import ClaimDefinition
from apps.comparison.claims.checks.validation import samples_in
from apps.comparison.queries.aggregates import summed, without_parts
from apps.comparison.queries.samples import COLUMNS, as_dicts, facts_of, rates_beside
from apps.comparison.readings import POINT, Reading, usable
from apps.runs.models import Sample
from apps.runs.states import State
from apps.studies.models import Study

MOST_SAMPLES = 20_000
NAME = "run__study_run__configuration__name"
_OWN = (*COLUMNS, NAME, "provenance__alternatives", "point_id", "provenance__cpu")


class TooManyClaimSamplesError(ValueError):
    """A silent part of the data would be a wrong verdict."""


def readings_of(study: Study, definitions: Iterable[ClaimDefinition]) -> list[Reading]:
    """Return samples of finished runs with the operations and metrics of the claims, in the order of the configurations.

    `facts` have the configuration's name under `configuration` and its label under `label`.
    """
    condition = _condition(definitions)
    if condition is None:
        return []
    rows_found = Sample.objects.filter(
        condition, run__study_run__configuration__study=study, run__state=State.FINISHED
    ).order_by("run__study_run__configuration__position", "id")
    rows = list(rows_found.values_list(*_OWN)[: MOST_SAMPLES + 1])
    if len(rows) > MOST_SAMPLES:
        raise TooManyClaimSamplesError(f"found more than {MOST_SAMPLES} samples, expected at most {MOST_SAMPLES}")
    facts: dict[int, dict[str, Any]] = {}
    return [_reading(row, facts) for row in summed(without_parts(as_dicts(rows, _OWN)), rates_beside)]


def labels_of(study: Study) -> dict[str, str]:
    """Return the label of each configuration's name; a label that two share is replaced by their names."""
    labels = dict(study.configurations.values_list("name", "label"))
    often = Counter(labels.values())
    return {name: label if label and often[label] == 1 else name for name, label in labels.items()}


def _condition(definitions: Iterable[ClaimDefinition]) -> Q | None:
    """Return a condition for the samples that any of the claims refers to; None where none refers to samples."""
    wanted: dict[str, set[str] | None] = {}  # metric → operations; None: all
    for definition in definitions:
        for samples in samples_in(definition):
            known = wanted.setdefault(samples.metric, set())
            wanted[samples.metric] = (
                known | set(samples.operations) if samples.operations and known is not None else None
            )
    parts = [
        Q(measure__metric=metric) if operations is None
        else Q(measure__metric=metric, measure__operation__in=sorted(operations))
        for metric, operations in wanted.items()
    ]  # fmt: skip
    return reduce(or_, parts) if parts else None


def _reading(row: Mapping[str, Any], facts: dict[int, dict[str, Any]]) -> Reading:
    if row["run_id"] not in facts:
        facts[row["run_id"]] = {**facts_of(row), "configuration": row[NAME]}
    return Reading(
        id=row["id"],
        run=row["run_id"],
        operation=row["measure__operation"],
        metric=row["measure__metric"],
        value=usable(row["value"]),
        facts=facts[row["run_id"]],
        **{name: row[f"point__{name}"] for name in POINT},
        repetition=row["run__repetition"],
        origin=row["run__origin"],
        quality=row["provenance__quality"] or "exact",
        missing_reason=row["provenance__missing_reason"] or "",
        low=row["provenance__low"],
        high=row["provenance__high"],
        printed=row["printed"],
        note=row["provenance__note"] or "",
        alternatives=tuple(row["provenance__alternatives"] or ()),
        section=row["section"],
        part=row.get("part", {}),
    )
