"""The form of a new plan: targets, a preset with its values, repetitions, order and guards."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from apps.core.forms import SiteForm
from apps.labs.models import Lab
from apps.plans.plan_request import (
    PlanRequest,
    find_preset,
    make_points,
    points_of_workload,
    read_file_sizes,
    refuse_values,
)
from apps.plans.presets import PRESETS, saturation
from apps.plans.published_procedure import find_procedures, repeat, usual_rule
from apps.plans.run_procedure import PREFIX, find_run, points_of_run
from apps.runs.forms import offered_targets
from apps.runs.models import SavedWorkload
from apps.studies.models import Plan, Study
from apps.studies.plans.guards import KINDS
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import MOST_ROWS
from apps.studies.plans.stopping_rule import MOST_POINTS, MOST_ROUNDS, PERCENTILES

USUAL = "usual"
REPORT = "report-"  # before the id of a report's plan
SAVED = "workload-"  # before the id of a saved workload
# The field of the form that a field of the plan's points was made from.
FIELD_OF_POINT = {
    "file_size": "file_sizes", "ram_multiple": "file_sizes", "block_size": "block_sizes", "iodepth": "iodepths",
    "threads": "numjobs", "numjobs": "numjobs", "rw": "patterns",
}  # fmt: skip
ORDERS = [
    ("interleaved", "interleaved: a disturbance hits every target and not only one"),
    ("randomized", "randomized, by a stored seed"),
    ("sequential", "sequential: one target after the other"),
]
DIRECT = [
    ("", "as the procedure has it"),
    ("direct", "direct I/O (bypass page cache)"),
    ("buffered", "through the page cache"),
    ("both", "both"),
]
RULES = [
    (USUAL, "as usual for the procedure"),
    ("fixed", "a fixed number of rounds"),
    ("half_width", "until the 95 % interval is narrow enough"),
    ("steady_state", "until the steady state of the SNIA performance test"),
]


class NewPlanForm(SiteForm):
    title = forms.CharField(max_length=200, label="Title", help_text="what you want to know, in a few words")
    study: Any = forms.ModelChoiceField(
        queryset=None, required=False, label="Study", empty_label="a new study of this title",
        help_text="a study can hold several plans",
    )  # fmt: skip
    targets: Any = forms.ModelMultipleChoiceField(
        queryset=None, label="Targets", widget=forms.CheckboxSelectMultiple,
        help_text="each is one row of the matrix; hosts work side by side",
    )  # fmt: skip
    preset = forms.ChoiceField(label="Procedure")
    is_scaled = forms.BooleanField(
        required=False, label="for a report: file sizes as the same multiples of RAM, not in bytes"
    )
    file_sizes = forms.CharField(
        required=False, max_length=300, label="File sizes", help_text="4g · 1g..64g · 0.5x, 1x, 2x, 4x RAM"
    )
    patterns = forms.CharField(
        required=False, max_length=100, label="Patterns", help_text="read, write, randread, randwrite, rw, randrw"
    )
    block_sizes = forms.CharField(required=False, max_length=300, label="Block sizes", help_text="4k..1m · 4k, 64k, 1m")
    iodepths = forms.CharField(required=False, max_length=300, label="Queue depths", help_text="1,2,4..256")
    numjobs = forms.CharField(required=False, max_length=300, label="Parallel jobs (numjobs)", help_text="1,2,4")
    direct = forms.ChoiceField(
        required=False, label="Page cache", choices=DIRECT, help_text="for the job of a run alone"
    )
    runtime = forms.IntegerField(
        required=False, min_value=1, max_value=86400, label="Runtime, s", help_text="of each run, where it is timed"
    )
    percentile = forms.TypedChoiceField(
        choices=[(percentile, f"p{percentile}") for percentile in PERCENTILES], coerce=int, required=False,
        initial=99, empty_value="99", label="Latency percentile", help_text="for saturation: of completion latency (clat)",
    )  # fmt: skip
    bound_ms = forms.FloatField(
        required=False,
        min_value=0.001,
        max_value=60_000,
        label="Latency bound, ms",
        help_text="for saturation: usually 5",
    )
    least_points = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_POINTS, label="Points at least",
        help_text="for saturation: go on to so many, even past the bound",
    )  # fmt: skip
    kind = forms.ChoiceField(choices=RULES, label="Repetitions")
    rounds = forms.IntegerField(
        min_value=1,
        max_value=MOST_ROUNDS,
        initial=5,
        label="Rounds",
        help_text="the most, where a rule decides; not used where as usual",
    )
    percent = forms.FloatField(
        min_value=0.1, max_value=50, initial=2, label="Half width, %", help_text="for a narrow interval"
    )
    order = forms.ChoiceField(choices=ORDERS, label="Order")
    guards = forms.MultipleChoiceField(
        required=False, label="Guards", widget=forms.CheckboxSelectMultiple,
        choices=[(kind, f"{guard.label}: {guard.sentence({'factor': 2})}") for kind, guard in KINDS.items()],
        initial=["idle", "array_settled", "space"],
        help_text="what shall hold before a step; each run shows what was found",
    )  # fmt: skip
    notes = forms.CharField(required=False, label="Notes", widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab = lab
        fields: Any = self.fields
        fields["targets"].queryset = offered_targets(lab)
        fields["study"].queryset = Study.objects.filter(lab=lab)
        self.run = find_run(str(self.data.get("preset") or self.initial.get("preset") or ""))
        self.procedures = {f"{REPORT}{plan.pk}": plan for plan in find_procedures()}
        self.saved = {
            f"{SAVED}{row.pk}": row for row in SavedWorkload.objects.filter(lab=lab).select_related("workload")
        }
        fields["preset"].choices = [
            *([("A run", [(f"{PREFIX}{self.run.pk}", f"as run {self.run.pk}, with its job")])] if self.run else []),
            ("Procedures by name", [(preset.name, preset.title) for preset in PRESETS]),
            *([("Published reports", [(key, f"{plan.study}: {plan.title}") for key, plan in self.procedures.items()])]
              if self.procedures else []),
            *([("Saved workloads", [(key, row.name) for key, row in self.saved.items()])] if self.saved else []),
        ]  # fmt: skip

    @property
    def has_targets(self) -> bool:
        fields: Any = self.fields
        return bool(fields["targets"].queryset.exists())

    def clean_targets(self) -> Any:
        targets = self.cleaned_data["targets"]
        if len(targets) > MOST_ROWS:
            raise forms.ValidationError(
                f"Found {len(targets):,} targets, expected at most {MOST_ROWS:,}: they are the rows of the plan's matrix."
            )
        return targets

    def stopping(self, report: Plan | None) -> dict[str, Any]:
        """Return the stopping rule as `apps.studies.plans.schema` reads it. Raises `PlanError`."""
        typed = self.cleaned_data
        if typed["preset"] == saturation.PRESET.name:
            return self._saturation()
        if typed["bound_ms"] or typed["least_points"]:
            name = "bound_ms" if typed["bound_ms"] else "least_points"
            raise PlanError(name, typed[name], f"nothing: only {saturation.PRESET.title} has a bound")
        if typed["kind"] == USUAL:
            if typed["preset"].startswith(PREFIX) or typed["preset"] in self.saved:
                return {"kind": "fixed", "rounds": 5}
            return usual_rule(report) if report else dict(find_preset(typed["preset"]).rule)
        most = max(3, typed["rounds"])
        return {
            "fixed": {"kind": "fixed", "rounds": typed["rounds"]},
            "half_width": {
                "kind": "half_width", "percent": typed["percent"], "at_least": min(3, most), "at_most": most
            },
            "steady_state": {"kind": "steady_state", "window": 5, "at_most": max(5, typed["rounds"])},
        }[typed["kind"]]  # fmt: skip

    def _saturation(self) -> dict[str, Any]:
        """Return the rule of a search for saturation: the preset's with what was typed."""
        typed = self.cleaned_data
        if typed["kind"] not in (USUAL, "fixed"):
            raise PlanError("kind", typed["kind"], "a fixed number of rounds for each point of a search")
        rule = {**saturation.PRESET.rule, "percentile": int(typed["percentile"])}
        rule |= {name: typed[name] for name in ("bound_ms", "least_points") if typed[name]}
        return rule | ({"rounds": typed["rounds"]} if typed["kind"] == "fixed" else {})

    def request(self, seed: int, preparations: Sequence[Mapping[str, Any]] = ()) -> PlanRequest:
        """Return the plan that is asked for. Raises `PlanError`."""
        typed = self.cleaned_data
        guards = [{"kind": kind, **({"factor": 2} if KINDS[kind].parameters else {})} for kind in typed["guards"]]
        report, notes = self.procedures.get(typed["preset"]), typed["notes"]
        if typed["direct"] and not typed["preset"].startswith(PREFIX):
            raise PlanError("direct", typed["direct"], "nothing: the procedure has its own")
        if typed["preset"].startswith(PREFIX) and self.run:
            refuse_values(typed, "a run's job", ("file_sizes",))
            points = points_of_run(self.run, read_file_sizes(typed["file_sizes"]), typed["direct"])
        elif report:
            refuse_values(typed, "a report's procedure")
            procedure = repeat(report, is_scaled=typed["is_scaled"])
            points, notes = procedure.points, "\n".join(filter(None, [notes, *procedure.remarks]))
        elif saved := self.saved.get(typed["preset"]):
            refuse_values(typed, "a saved workload")
            points = points_of_workload(saved.jobs)
        else:
            points = make_points(find_preset(typed["preset"]), typed)
        return PlanRequest(
            lab=self.lab, title=typed["title"], targets=list(typed["targets"]), points=points,
            stopping=self.stopping(report), guards=guards, order=typed["order"],
            seed=seed if typed["order"] == "randomized" else None, notes=notes, study=typed["study"], repeats=report,
            preparations=preparations,
        )  # fmt: skip

    def place_error(self, error: PlanError) -> None:
        """Put an error on the field that it is about, or at the top of the form."""
        name = FIELD_OF_POINT.get(error.field.rpartition(".")[2], error.field)
        if name in self.fields:
            self.add_error(name, f"Found {error.found!r}, expected {error.expected}.")
        else:
            self.add_error(None, f"{error}.")
