"""Forms of a study and its configurations."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from apps.core.forms import SiteForm, dress
from apps.core.text import find_free_name
from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.studies.models import Configuration, Study

RESERVED = ("new", "runs")  # addresses beside the studies'


class StudyForm(forms.ModelForm):  # type: ignore[type-arg]
    slug = forms.SlugField(
        max_length=80, required=False, label=_("Address"),
        help_text=_(
            "letters, digits and hyphens; empty: made from the title. Where it is changed, links to the old address find nothing; "
            "what Spindle saved follows"
        ),
    )  # fmt: skip
    language = forms.ChoiceField(
        choices=settings.LANGUAGES, label=_("Language"), help_text=_("of the study's own texts, and of its wiki page")
    )

    class Meta:
        model = Study
        fields = ("title", "slug", "question", "language", "title_english", "site", "year", "source", "notes")
        labels = {
            "title": _("Title"), "question": _("Question"), "title_english": _("English title, where it is not"),
            "site": _("Site"), "year": _("Year"), "source": _("Source"), "notes": _("Remarks"),
        }  # fmt: skip
        help_texts = {
            "question": _("what the study shall answer"), "source": _("who made it, and where its data are from"),
            "notes": _("one a line"),
        }  # fmt: skip
        widgets = {name: forms.Textarea(attrs={"rows": 3}) for name in ("question", "source", "notes")}

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab = lab
        dress(self)

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"]) or slugify(self.cleaned_data.get("title", ""))[:80] or "study"
        if slug in RESERVED:
            raise ValidationError(f"Found {slug!r}, which is an address of this site; expected another word.")
        if Study.objects.filter(lab=self.lab, slug=slug).exclude(pk=self.instance.pk).exists():
            raise ValidationError(f"Found {slug!r}, which is another study of this lab; expected another word.")
        return slug

    def save(self, commit: bool = True) -> Study:
        self.instance.lab = self.lab
        study: Study = super().save(commit)
        return study


class ConfigurationForm(SiteForm):
    """One column of a study. Its name in addresses is made from the label, and stays when the label changes."""

    label = forms.CharField(
        max_length=200, label=_("Label"), help_text=_("the column's heading: RAID 5, 4 disks, ext4")
    )
    target: "forms.ModelChoiceField[Target]" = forms.ModelChoiceField(
        queryset=None, required=False, label=_("Target"), empty_label=_("none"),
        help_text=_("where its runs are made; brings its host and stack into the set-up"),
    )  # fmt: skip
    position = forms.IntegerField(min_value=1, max_value=9999, label=_("Place"), help_text=_("1 is the first column"))

    def __init__(self, study: Study, configuration: Configuration | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.kept = study, configuration
        target = self.fields["target"]
        assert isinstance(target, forms.ModelChoiceField)
        target.queryset = Target.objects.filter(lab=study.lab_id).select_related("host")

    @classmethod
    def of(cls, study: Study, configuration: Configuration | None) -> "ConfigurationForm":
        places = list(study.configurations.values_list("pk", flat=True))
        place = places.index(configuration.pk) + 1 if configuration else len(places) + 1
        return cls(
            study,
            configuration,
            initial={
                "label": configuration.label if configuration else "",
                "target": configuration and configuration.target_id,
                "position": place,
            },
        )

    def clean_label(self) -> str:
        label = str(self.cleaned_data["label"]).strip()
        others = self.study.configurations.exclude(pk=self.kept.pk) if self.kept else self.study.configurations.all()
        if others.filter(label__iexact=label).exists():
            raise ValidationError(
                f"Found {label!r}, which is another configuration of this study; expected another label."
            )
        return label

    def save(self) -> Configuration:
        row = self.kept or Configuration(study=self.study, name=free_name(self.study, self.cleaned_data["label"]))
        row.label, row.target = self.cleaned_data["label"], self.cleaned_data["target"]
        if row.target:
            row.host = row.target.host
        row.save()
        move_to(self.study, row, self.cleaned_data["position"] - 1)
        return row


def free_name(study: Study, label: str) -> str:
    """Return a name for a configuration of this label that no other one of the study has."""
    taken = set(study.configurations.values_list("name", flat=True))
    return find_free_name(slugify(label)[:70] or "configuration", taken)


def move_to(study: Study, row: Configuration, place: int) -> None:
    """Move a configuration to a place among the study's; the others keep their order."""
    others = list(study.configurations.exclude(pk=row.pk))
    others.insert(min(place, len(others)), row)
    for position, configuration in enumerate(others):
        configuration.position = position
    Configuration.objects.bulk_update(others, ["position"])
