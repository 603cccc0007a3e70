"""Objects as the REST interface shows them. Field names are fixed: scripts rely on them; more may be added."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rest_framework.request import Request

from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats.rule import Caveat
from apps.comparison.compare import Cell, Comparison
from apps.inventory.models import Snapshot, Target
from apps.labs.isolation import LabQuerySet
from apps.runs.models import Run, Workload

CELL_FIELDS = (
    "x", "series", "n", "mean", "median", "stdev", "minimum", "maximum", "ci_low", "ci_high", "merged",
    "ratio", "ratio_low", "ratio_high", "verdict", "runs", "low", "high", "quality", "missing",
)  # fmt: skip


def with_all(runs: LabQuerySet[Run]) -> LabQuerySet[Run]:
    return runs.select_related("host", "target", "workload", "snapshot", "study_run__configuration__study")


def shown_runs(request: Request, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """`runs` come from `with_all`; the caveats of those that have ended cost one query for all of them."""
    ended = [run.pk for run in runs if run.has_ended]
    caveats = caveats_of_runs(ended) if ended else {}
    return [_run(request, run, caveats.get(run.pk, ())) for run in runs]


def in_no_study(run: Run) -> None:
    """Known of a run that was started by itself a moment ago; saves asking the database while its host is being told."""
    place: Any = Run._meta.get_field("study_run")
    place.set_cached_value(run, None)


def _run(request: Request, run: Run, caveats: Iterable[Caveat]) -> dict[str, Any]:
    place = getattr(run, "study_run", None)
    here = request.build_absolute_uri(f"/api/v1/runs/{run.pk}/")
    return {
        "id": run.pk,
        "url": here,
        "page": request.build_absolute_uri(run.get_absolute_url()),
        "tool": run.tool,
        "tool_version": run.tool_version,
        "origin": run.origin,
        "state": run.state,
        "problem": run.problem,
        "progress": run.progress,
        "repetition": run.repetition,
        "study": place.configuration.study.slug if place else None,
        "configuration": place.configuration.name if place else None,
        "host": run.host_id,
        "host_name": run.host.name if run.host else None,
        "target": run.target_id,
        "target_name": run.target.name if run.target else None,
        "snapshot": run.snapshot_id,
        "labels": run.labels,
        "facts": run.facts,
        "workload": workload(run.workload),
        "created_by": run.created_by,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "samples_url": f"{here}samples/",
        "series_url": f"{here}series/",
        "histograms_url": f"{here}histograms/",
        "artefacts_url": f"{here}artefacts/",
        "caveats": [caveat(one) for one in caveats],
    }


def workload(asked: Workload | None) -> dict[str, Any]:
    """As it was asked for; where there is one job, its options stand at the top as well."""
    if asked is None:
        return {}
    only = asked.jobs[0] if len(asked.jobs) == 1 else {}
    return {**only, **asked.spec}


def caveat(found: Caveat) -> dict[str, Any]:
    plain = asdict(found)
    return plain | {"cells": [{"x": x, "series": series} for x, series in found.cells]}


def cell(found: Cell) -> dict[str, Any]:
    return {name: getattr(found, name) for name in CELL_FIELDS} | {"missing": found.missing or None}


def comparison(found: Comparison, permalink: str) -> dict[str, Any]:
    return {
        "metric": found.metric.name,
        "unit": found.metric.unit,
        "higher_is_better": found.metric.higher_is_better,
        "operation": found.operation,
        "x": found.x,
        "series": list(found.series),
        "series_by": list(found.question.series),
        "baseline": found.baseline,
        "filters": [{"name": name, "value": value} for name, value in found.question.filters],
        "samples": found.samples,
        "cells": [cell(one) for one in found.cells],
        "confounders": [asdict(one) for one in found.confounders],
        "caveats": [caveat(one) for one in found.caveats],
        "permalink": permalink,
    }


def target(found: Target) -> dict[str, Any]:
    return {
        "id": found.pk,
        "host": found.host_id,
        "host_name": found.host.name,
        "name": found.name,
        "kind": found.kind,
        "path": found.path or None,
        "filesystem": found.filesystem_id,
        "array": found.array_id,
        "disk": found.disk_id,
        "takes_runs": found.is_agents_own,
        "labels": found.labels,
    }


def snapshot(found: Snapshot) -> dict[str, Any]:
    return {
        "id": found.pk,
        "sha256": found.sha256,
        "created_at": found.created_at,
        "facts": found.facts,
        "content": found.content,
    }
