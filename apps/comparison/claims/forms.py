"""Forms of a claim, of its checks, and of the groups of samples in a check; the definition validates them together."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.comparison.claims.check_fields import RANGES, WRITTEN
from apps.comparison.claims.checks.definition import KINDS
from apps.comparison.claims.checks.validation import AGGREGATES
from apps.comparison.claims.models import Claim
from apps.comparison.labels import label_of, operation_of
from apps.core.forms import SiteForm
from apps.runs.metrics import METRICS, OPERATIONS
from apps.runs.models import Measure, Run, Sample
from apps.studies.models import Study

Choices = list[tuple[str, str]]
TAKES = ("file_size", "block_size", "threads", "ram", "controller_cache", "disk_count", "decimals")
PER = ("configuration", "operation", "file_size", "block_size", "threads", "host", "interface", "raid_level", "sample")
LANGUAGES = [
    ("en", "English"),
    ("it", "Italian"),
    ("ru", "Russian"),
    ("de", "German"),
    ("fr", "French"),
    ("es", "Spanish"),
]
AGGREGATE_WORDS = {
    "max": "largest",
    "min": "smallest",
    "largest_file": "at the largest file",
    "smallest_file": "at the smallest file",
    "count": "number of samples",
}
BOUND_WORDS = {"at_least": "at least", "above": "above", "at_most": "at most", "below": "below"}
RELATIONS = [
    ("disjoint", "share nothing"), ("equal", "are the same"), ("subset", "lie one in the other"),
    ("count", "have so many each:"),
]  # fmt: skip
SETS_HELP = "one a line: md1: sda, sdb; the report's line may follow: @ 108"
FACTS_LISTED = 60


@dataclass(frozen=True)
class Offered:
    """What a study has to choose from."""

    configurations: Choices = field(default_factory=list)
    operations: Choices = field(default_factory=list)
    metrics: Choices = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


def offered(study: Study) -> Offered:
    """Return the choices of a study, in three queries."""
    samples = Sample.objects.filter(run__study_run__configuration__study=study)
    pairs = list(Measure.objects.filter(pk__in=samples.values("measure")).values_list("operation", "metric"))
    operations = [name for name in OPERATIONS if any(name == pair[0] for pair in pairs)] or list(OPERATIONS)
    metrics = [name for name in METRICS if any(name == pair[1] for pair in pairs)] or ["bandwidth"]
    runs = (
        Run.objects.filter(study_run__configuration__study=study).order_by("id").values_list("facts", flat=True)[:200]
    )
    return Offered(
        list(study.configurations.values_list("name", "label")),
        [(name, operation_of(name)) for name in operations],
        [(name, METRICS[name].label) for name in metrics],
        sorted({name for facts in runs for name in facts})[:FACTS_LISTED],
    )


class ClaimForm(SiteForm):
    code = forms.CharField(max_length=20, help_text="short, once in the study: C04")
    language = forms.ChoiceField(choices=LANGUAGES, label="Its language")
    source_lines = forms.CharField(max_length=80, required=False, label="Lines of the report")
    statement = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}), help_text="one conclusion, as the report has it"
    )
    statement_english = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}), required=False, label="In English, where it is not"
    )
    quote = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False, label="The report's own words")
    comment = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False, label="Remark")

    def __init__(self, study: Study, claim: Claim | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.others = Claim.objects.of_study(study).exclude(pk=claim.pk if claim else None)

    def clean_code(self) -> str:
        code = str(self.cleaned_data["code"]).strip()
        if self.others.filter(code=code).exists():
            raise ValidationError(f"{code} is another claim of this study; give this one a code of its own.")
        return code


class GroupForm(SiteForm):
    """One number of a check: of a group of samples, or as people type it."""

    source = forms.ChoiceField(choices=[("samples", "samples"), ("number", "a number")], label="What")
    name = forms.CharField(max_length=120, required=False, label="Called", help_text="for people; may be empty")
    configurations = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="none chosen: all"
    )
    operations = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="none chosen: all"
    )
    metric = forms.ChoiceField(required=False)
    take = forms.ChoiceField(required=False, label="Of each sample", help_text="its value, or what it was measured at")
    aggregate = forms.ChoiceField(
        required=False,
        label="Of several, the",
        choices=[(name, AGGREGATE_WORDS.get(name, name)) for name in AGGREGATES],
    )
    range = forms.ChoiceField(required=False, label="Only where the", choices=list(RANGES.items()))
    start = forms.CharField(max_length=30, required=False, label="is from", help_text="2000m, 0.97; may be empty")
    end = forms.CharField(max_length=30, required=False, label="to", help_text="the same twice: just this one")
    fact = forms.CharField(
        max_length=80, required=False, label="and the fact", widget=forms.TextInput(attrs={"list": "facts"})
    )
    fact_value = forms.CharField(max_length=120, required=False, label="is")
    times = forms.CharField(max_length=20, required=False, label="Times", help_text="a factor, such as 4")
    is_fixed = forms.BooleanField(required=False, label="the same for every comparison")
    number = forms.CharField(max_length=40, required=False, label="Number", help_text="120 MB/s, 2000 MiB, 1.5")
    line = forms.CharField(max_length=80, required=False, label="Lines of the report")

    def __init__(self, offer: Offered, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        now = {name: self.initial.get(name) for name in ("configurations", "operations", "metric", "take")}
        takes = [("value", "measured value"), *((name, label_of(name)) for name in TAKES)]
        for name, choices in (
            ("configurations", offer.configurations), ("operations", offer.operations), ("metric", offer.metrics), ("take", takes),
        ):  # fmt: skip
            chosen: Any = now[name] if isinstance(now[name], list) else [now[name]]
            with_choices(self.fields[name], choices, chosen)


class CheckForm(SiteForm):
    kind = forms.ChoiceField(choices=[*KINDS.items(), (WRITTEN, "As written (JSON)")])
    name = forms.CharField(max_length=200, required=False, label="Remark on this check")
    per = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label="Compared for each")
    is_denied = forms.BooleanField(required=False, label="the claim says that this is not so")
    is_strict = forms.BooleanField(required=False, label="strictly above, not just as high", initial=True)
    low_word = forms.ChoiceField(
        required=False, label="Is", choices=[(n, BOUND_WORDS[n]) for n in ("at_least", "above")]
    )
    low = forms.CharField(max_length=40, required=False, label="this number", help_text="may be empty")
    low_name = forms.CharField(max_length=200, required=False, label="which is")
    low_line = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)
    high_word = forms.ChoiceField(
        required=False, label="and", choices=[(n, BOUND_WORDS[n]) for n in ("at_most", "below")]
    )
    high = forms.CharField(max_length=40, required=False, label="this number", help_text="may be empty")
    high_name = forms.CharField(max_length=200, required=False, label="which is")
    high_line = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)
    group_bound = forms.ChoiceField(
        required=False, label="The first group is, to the second", choices=list(BOUND_WORDS.items())
    )
    tolerance = forms.CharField(
        max_length=40, required=False, label="May differ by", help_text="5 %, or 1 MB/s; empty: not at all"
    )
    along = forms.CharField(max_length=80, required=False, label="Along", initial="file_size")
    direction = forms.ChoiceField(required=False, choices=[("rising", "rising"), ("falling", "falling")])
    slack = forms.CharField(max_length=20, required=False, label="Slips allowed", help_text="2 %")
    quoted_value = forms.CharField(
        max_length=40, required=False, label="Figure in the text", help_text="the number alone"
    )
    quoted_unit = forms.CharField(
        max_length=20, required=False, label="Its unit", help_text="as printed: MB/s, GB, Gb/s"
    )
    quoted_text = forms.CharField(max_length=200, required=False, label="As the text has it")
    quoted_line = forms.CharField(max_length=80, required=False, label="Line of the report")
    within = forms.CharField(
        max_length=20, required=False, label="May differ by", help_text="in that unit; empty: half of its last digit"
    )
    relation = forms.ChoiceField(required=False, label="These sets", choices=RELATIONS)
    count = forms.IntegerField(required=False, min_value=0, label="How many")
    sets = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}), label="Sets", help_text=SETS_HELP)
    reason = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}), label="Why it cannot be checked")
    written = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 14, "class": "form-control mono"}), label="The check"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_choices(self.fields["per"], [(name, label_of(name)) for name in PER], self.initial.get("per") or [])


def with_choices(of: Any, choices: Choices, chosen: Iterable[Any]) -> None:
    """Keep the chosen values among a field's choices, though the study has them no longer."""
    known = {name for name, _ in choices}
    of.choices = [*choices, *((name, str(name)) for name in chosen if name and name not in known)]
