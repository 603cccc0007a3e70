"""Objects as the REST interface shows them. Field names are fixed: scripts rely on them; more may be added."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from apps.comparison.answer import caveats_of_runs
from apps.comparison.caveats.rule import Caveat
from apps.comparison.cells import Cell, Comparison
from apps.comparison.factors import Effect
from apps.comparison.method import method_of
from apps.inventory.models import Snapshot, Target
from apps.labs.isolation import LabQuerySet
from apps.lib.quantities import all_written
from apps.lib.reader_base import base
from apps.runs.models import Run, Workload

AnyRequest = Request | HttpRequest
CELL_FIELDS = (
    "x", "series", "n", "mean", "median", "stdev", "minimum", "maximum", "ci_low", "ci_high", "merged",
    "ratio", "ratio_low", "ratio_high", "verdict", "runs", "low", "high", "quality", "missing",
    "method", "effect_size", "p", "p_adjusted", "more_runs", "advice",
)  # fmt: skip


def with_all(runs: LabQuerySet[Run]) -> LabQuerySet[Run]:
    return runs.select_related("host", "target", "workload", "snapshot", "study_run__configuration__study")


def shown_runs(request: AnyRequest, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """`runs` come from `with_all`; the caveats of those that have ended cost one query for all of them."""
    ended = [run.pk for run in runs if run.has_ended]
    caveats = caveats_of_runs(ended) if ended else {}
    return [shown_run(request, run, caveats.get(run.pk, ())) for run in runs]


def started_runs(request: AnyRequest, started: Sequence[Run]) -> dict[str, Any]:
    """The first of the repetitions, and the ids of all. They are in no study, which need not be asked of the database."""
    place: Any = Run._meta.get_field("study_run")
    place.set_cached_value(started[0], None)
    return {**shown_run(request, started[0], ()), "runs": [run.pk for run in started]}


def shown_run(request: AnyRequest, run: Run, caveats: Iterable[Caveat]) -> dict[str, Any]:
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
        "sections": _sections(run),
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


def _sections(run: Run) -> list[dict[str, Any]]:
    names = run.section_names
    told = {int(number): one.get("options", {}) for number, one in run.sections.items()}
    return [
        {"number": number, "name": names.get(number, ""), "options": told.get(number, {})}
        for number in sorted({*names, *told})
    ]


def workload(asked: Workload | None) -> dict[str, Any]:
    """As it was asked for; where there is one job, its options stand at the top as well."""
    if asked is None:
        return {}
    only = asked.jobs[0] if len(asked.jobs) == 1 else {}
    return {**only, **asked.spec}


def caveat(found: Caveat) -> dict[str, Any]:
    """Its sentences in the units that the address asks for."""
    cells = [{"x": x, "series": series} for x, series in found.cells]
    return asdict(found) | {"arithmetic": all_written(found.arithmetic, base()), "cells": cells}


def cell(found: Cell) -> dict[str, Any]:
    plain = {name: getattr(found, name) for name in CELL_FIELDS} | {"missing": found.missing or None}
    return plain | {"outliers": [asdict(one) for one in found.outliers], "modes": [asdict(one) for one in found.modes]}


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
        "correction": asdict(found.correction) if found.correction else None,
        "method": method_of(found),
        "confounders": [asdict(one) for one in found.confounders],
        "contrasts": [asdict(one) for one in found.contrasts],
        "most_equal": _most_equal(found),
        "effects": [effect(one) for one in found.effects],
        "caveats": [caveat(one) for one in found.caveats],
        "permalink": permalink,
    }


def _most_equal(found: Comparison) -> dict[str, Any] | None:
    if found.suggestion is None:
        return None
    filters = [{"name": name, "value": value} for name, value in found.suggestion.filters]
    return {"contrast": asdict(found.suggestion.contrast), "filters": filters}


def effect(found: Effect) -> dict[str, Any]:
    held = [
        {
            "at": one.at,
            "contrast": asdict(one.contrast),
            "ratios": [{"x": x, "ratio": ratio} for x, ratio in one.ratios],
        }
        for one in found.held
    ]
    return {"factor": found.factor, "level": found.level, "against": found.against, "held": held}


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
