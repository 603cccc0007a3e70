"""The draft of a plan: the posted fields and their errors; nothing typed is lost when it does not validate."""

import re
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.text import slugify

from apps.core.forms import SiteForm
from apps.core.text import find_free_name, whole_number
from apps.studies.models import Plan, PlanPoint, Study
from apps.studies.plans.forms import (
    GuardForm,
    PlanForm,
    PointForm,
    RowForm,
    typed_guard,
    typed_plan,
    typed_point,
    typed_row,
)
from apps.studies.plans.guards import KINDS
from apps.studies.plans.plan_import import save_plan
from apps.studies.plans.plan_page import job_text
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import MOST_POINTS, plan_of

Data = dict[str, Any]
USUAL_GUARDS = ("idle", "cache_rule", "array_settled", "space")
NEW_POINT = {
    "file_size": "4 x RAM",
    "block_size": "1m",
    "rw": "read",
    "direct": True,
    "sync": "none",
    "threads": 1,
    "iodepth": 1,
}
PLACE = re.compile(r"plan\.(\w+)(?:\[(\d+)\])?(?:\.(\w+))?")


class PlanDraft:
    """From the plan as it is, or from what was posted. `act`: save, add, remove-<n>, up-<n>."""

    def __init__(self, study: Study, plan: Plan | None, posted: QueryDict | None) -> None:
        self.study, self.plan, self.posted = study, plan, posted
        self.act = posted.get("act", "") if posted is not None else ""
        self.problem = ""
        self.kept_rows = {row.name: row for row in plan.rows.all()} if plan else {}
        self.kept_points = {point.name: point for point in plan.points.all()} if plan else {}
        self.kept_guards = {guard.kind: guard for guard in plan.guards.all()} if plan else {}
        bound = posted if self.act == "save" else None
        first = (
            typed_plan(plan)
            if plan
            else {"order": "interleaved", "kind": "fixed", "rounds": 5, "seed": secrets.randbelow(10**6)}
        )
        own = {name: posted.get(name, "") for name in PlanForm.base_fields} if posted is not None else first
        self.form = PlanForm(bound, initial=own, is_from_report=bool(plan and plan.is_from_report))
        self.rows = [
            (RowForm(bound, initial=row, prefix=f"r{at}"), self._row_label(row)) for at, row in enumerate(self._rows())
        ]
        self.points = [
            PointForm(bound, initial=point, prefix=f"p{at}")
            for at, point in enumerate(_acted(self._points(), self.act, self.kept_points))
        ]
        for form in self.points:
            form.jobs = self._jobs_of(form)
        self.guards = [
            (GuardForm(bound, initial=guard, prefix=f"g{at}"), KINDS[guard["kind"]])
            for at, guard in enumerate(self._guards())
        ]

    def _jobs_of(self, form: PointForm) -> list[str]:
        """Return the jobs of a stored point that run at the same time, in words; empty of a point of one job."""
        stored = self.kept_points.get(str(form["name"].value() or ""))
        return list(map(job_text, stored.jobs or ())) if stored else []

    @property
    def may_add(self) -> bool:
        return len(self.points) < MOST_POINTS

    @property
    def is_refused(self) -> bool:
        return self.act == "save"

    def _rows(self) -> list[Data]:
        """Return the plan's rows, then the study's other configurations."""
        rows = [typed_row(row) for row in self.kept_rows.values()]
        used = {row["configuration"] for row in rows}
        others = [name for name in self._labels if name not in used]
        rows += [{"name": name, "configuration": name, "is_included": self.plan is None} for name in others]
        return [_posted(RowForm, self.posted, f"r{at}", row) for at, row in enumerate(rows)]

    def _row_label(self, typed: Data) -> str:
        stored = self.kept_rows.get(typed["name"])
        return stored.label if stored else self._labels.get(typed["configuration"], str(typed["name"]))

    @cached_property
    def _labels(self) -> dict[str, str]:
        """Return the labels of the study's configurations by name, in their order."""
        return {configuration.name: configuration.label for configuration in self.study.configurations.all()}

    def _points(self) -> list[Data]:
        if self.posted is None:
            return [typed_point(point) for point in self.kept_points.values()] or [dict(NEW_POINT)]
        posted_count = whole_number(self.posted.get("points", ""), most=999)
        count = 1 if posted_count is None else min(posted_count, MOST_POINTS)
        return [_posted(PointForm, self.posted, f"p{at}", {}) for at in range(count)]

    def _guards(self) -> list[Data]:
        known = {kind: typed_guard(guard) for kind, guard in self.kept_guards.items()}
        guards = [
            known.get(kind)
            or {
                "kind": kind,
                "is_included": self.plan is None and kind in USUAL_GUARDS,
                "is_required": True,
            }
            for kind in KINDS
        ]
        return [_posted(GuardForm, self.posted, f"g{at}", guard) for at, guard in enumerate(guards)]

    def save(self, actor: str) -> Plan | None:
        """Save the plan; return None where something does not fit, which the forms then report."""
        forms: list[SiteForm] = [
            self.form,
            *self.points,
            *(form for form, _ in self.rows),
            *(form for form, _ in self.guards),
        ]
        valid = [form.is_valid() for form in forms]  # every form, so that all say what is wrong
        if not all(valid):
            return None
        try:
            written = plan_of(self._data())
            position = self.plan.position if self.plan else Plan.objects.filter(study=self.study).count()
            is_from_report = bool(self.plan and self.plan.is_from_report)
            return save_plan(
                self.study, written, actor=actor, position=position, is_from_report=is_from_report, plan=self.plan
            )[0]
        except PlanError as error:
            self._place(error)
            return None

    def _data(self) -> Data:
        rows = [form.data_of(self.kept_rows.get(form.cleaned_data["name"])) for form in self._chosen_rows()]
        points = [
            form.data_of(self.kept_points.get(form.cleaned_data["name"]), number)
            for number, form in enumerate(self.points, 1)
        ]
        guards = [form.data_of(self.kept_guards.get(form.cleaned_data["kind"])) for form in self._chosen_guards()]
        name = self.plan.name if self.plan else free_name(self.study, str(self.form.cleaned_data["title"]))
        means = self.plan.are_means if self.plan else False
        data = {"configurations": rows, "points": _named_once(points), "guards": guards}
        own = self.form.data_of(self.plan.stopping if self.plan else {})
        return {"name": name, "are_means": means, **own, **data, "cells": self._cells(rows, points)}

    def _chosen_rows(self) -> list[RowForm]:
        return [form for form, _ in self.rows if form.cleaned_data["is_included"]]

    def _chosen_guards(self) -> list[GuardForm]:
        return [form for form, _ in self.guards if form.cleaned_data["is_included"]]

    def _cells(self, rows: list[Data], points: list[Data]) -> list[Data]:
        """Return what was set for single cells, for cells that still exist."""
        if self.plan is None:
            return []
        names, columns = {row["name"] for row in rows}, {point["name"] for point in points}
        cells = self.plan.cells.select_related("row", "point", "runs_of")
        return [
            {
                "row": cell.row.name, "point": cell.point.name, "reason": cell.reason, "note": cell.note,
                "runs_of": cell.runs_of.name if cell.runs_of else "",
            }
            for cell in cells
            if cell.row.name in names and cell.point.name in columns
        ]  # fmt: skip

    def _place(self, error: PlanError) -> None:
        """Attach an error to the field that it is about, or to the form."""
        match = PLACE.match(error.field)
        sentence = f"Found {error.found!r}, expected {error.expected}."
        part, at, field = (match[1], whole_number(match[2]) or 0, match[3] or "") if match else ("", 0, "")
        forms: Mapping[str, list[Any]] = {"points": self.points, "configurations": self._chosen_rows()}
        own = error.field.removeprefix("stopping.").removeprefix("plan.")
        if match and at < len(forms.get(part, [])) and field in forms[part][at].fields:
            forms[part][at].add_error(field, sentence)
        elif own in self.form.fields:
            self.form.add_error(own, sentence)
        else:
            self.problem = f"{error.field.removeprefix('plan.')}: {sentence}"


def _posted(form: type[SiteForm], posted: QueryDict | None, prefix: str, first: Data) -> Data:
    """Return what was posted for this form as it is, or its first values."""
    if posted is None:
        return first
    shape = form(prefix=prefix, initial=first)
    typed: Data = {
        name: field.widget.value_from_datadict(posted, {}, f"{prefix}-{name}") for name, field in shape.fields.items()
    }
    hidden = ("kind", "name", "configuration")  # never a person's to change
    return typed | {name: first[name] for name in hidden if name in first}


def _acted(points: list[Data], act: str, stored: Mapping[str, PlanPoint]) -> list[Data]:
    """Add (as a copy of the last, if that has one job), remove and move points as the pressed button says."""
    word, _, number = act.partition("-")
    at = whole_number(number, most=len(points) - 1)
    if word == "add" and len(points) < MOST_POINTS:
        known = stored.get(str(points[-1].get("name", "")))
        like = NEW_POINT if known and known.jobs else points[-1]
        return [*points, {**like, "name": "", "label": ""}]
    if word == "remove" and at is not None and len(points) > 1:
        return points[:at] + points[at + 1 :]
    if word == "up" and at:
        return [*points[: at - 1], points[at], points[at - 1], *points[at + 1 :]]
    return points


def _named_once(points: list[Data]) -> list[Data]:
    """Give two new points with the same label names of their own; stored points keep theirs."""
    taken: set[str] = set()
    for point in points:
        name, number = point["name"], 2
        while point["name"] in taken:
            point["name"], number = f"{name[:50]}-{number}", number + 1
        taken.add(point["name"])
    return points


def free_name(study: Study, title: str) -> str:
    """Return a name for a plan of this title that no other plan of the study has."""
    taken = set(Plan.objects.filter(study=study).values_list("name", flat=True))
    return find_free_name(slugify(title)[:50] or "plan", taken)
