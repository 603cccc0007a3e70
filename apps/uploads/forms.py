"""Forms for an upload and its files: host and target, study, labels, and the filter of the file list.

Host and target are one field, so that they cannot contradict each other.
"""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.core.forms import SiteForm
from apps.core.text import whole_number
from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.runs.start.details import LabelsField
from apps.studies.models import Study
from apps.uploads.models import FileQuerySet, FileState, Upload, UploadedFile

Place = tuple[Host | None, Target | None]
NOWHERE = "not said"


class PlaceField(forms.ChoiceField):
    """`host-3` or `target-7` of one lab; cleans to (host, target)."""

    def __init__(self, lab: Lab | None = None, **options: Any) -> None:
        super().__init__(**{"required": False, "label": "Host and target", **options})
        self.lab = lab

    def of(self, lab: Lab, hosts: list[Host]) -> None:
        self.lab = lab
        self.choices = place_choices(hosts)

    def clean(self, value: Any) -> Any:
        return found_place(self.lab, super().clean(value))


def hosts_with_targets(lab: Lab) -> list[Host]:
    return list(Host.objects.filter(lab=lab).order_by("name").prefetch_related("targets"))


def place_choices(hosts: list[Host]) -> list[Any]:
    choices: list[Any] = [("", NOWHERE)]
    for host in hosts:
        targets = [(f"target-{target.pk}", f"{host}: {target.name}") for target in host.targets.all()]
        choices.append((host.name, [(f"host-{host.pk}", f"{host}, no target"), *targets]))
    return choices


def place_value(host_id: int | None, target_id: int | None) -> str:
    return f"target-{target_id}" if target_id else f"host-{host_id}" if host_id else ""


def found_place(lab: Lab | None, value: str) -> Place:
    kind, _, number = value.partition("-")
    if kind == "target":
        target = Target.objects.select_related("host").get(pk=int(number), lab=lab)
        return target.host, target
    return (Host.objects.get(pk=int(number), lab=lab), None) if kind == "host" else (None, None)


def whole_numbers(texts: Iterable[str]) -> list[int]:
    """Return the whole numbers among the texts, such as primary keys in a form's data; other texts are dropped."""
    return [number for text in texts if (number := whole_number(text)) is not None]


class BelongingForm(SiteForm):
    """Of a whole upload."""

    place = PlaceField()
    study: "forms.ModelChoiceField[Study]" = forms.ModelChoiceField(
        queryset=None, required=False, label="Study", empty_label="none"
    )
    labels = LabelsField()

    def __init__(self, lab: Lab, hosts: list[Host], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        place, study = self.fields["place"], self.fields["study"]
        assert isinstance(place, PlaceField)
        assert isinstance(study, forms.ModelChoiceField)
        place.of(lab, hosts)
        study.queryset = Study.objects.filter(lab=lab)

    @classmethod
    def of(cls, upload: Upload, hosts: list[Host]) -> "BelongingForm":
        place = place_value(upload.host_id, upload.target_id)
        return cls(upload.lab, hosts, initial={"place": place, "study": upload.study_id, "labels": upload.labels})

    @property
    def words(self) -> dict[str, Any]:
        host, target = self.cleaned_data["place"]
        return {"host": host, "target": target, **{name: self.cleaned_data[name] for name in ("study", "labels")}}


class UploadForm(BelongingForm):
    """The plain form sends its files with it; scripts send them one after another."""

    pasted = forms.CharField(
        required=False, strip=False, label="Or paste text",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
    )  # fmt: skip


class UploadedFileForm(SiteForm):
    """Of one file, where it differs from its upload."""

    place = PlaceField()
    labels = LabelsField()

    def __init__(self, lab: Lab, hosts: list[Host], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        place = self.fields["place"]
        assert isinstance(place, PlaceField)
        place.of(lab, hosts)

    @classmethod
    def of(cls, file: UploadedFile, hosts: list[Host]) -> "UploadedFileForm":
        own = (file.host_id, file.target_id) if file.place == (file.host_id, file.target_id) else (None, None)
        return cls(file.upload.lab, hosts, initial={"place": place_value(*own), "labels": file.labels})


class FileFilter(SiteForm):
    SHOWN = [
        ("", "all"), ("keep", "to be kept"), ("kept", "kept"), ("problems", "with problems"), *FileState.choices,
    ]  # fmt: skip
    q = forms.CharField(required=False, label="Find", widget=forms.TextInput(attrs={"type": "search"}))
    show = forms.ChoiceField(required=False, choices=SHOWN, label="Show")

    def of(self, files: FileQuerySet) -> FileQuerySet:
        """Return the files that match the filter; invalid choices do not narrow them."""
        self.is_valid()
        word, show = self.cleaned_data.get("q", ""), self.cleaned_data.get("show", "")
        if word:
            files = files.filter(name__icontains=word)
        if show == "keep":
            return files.to_keep()
        if show == "kept":
            return files.filter(kept_at__isnull=False)
        if show == "problems":
            return files.filter(state__in=(FileState.PARTLY, FileState.FAILED, FileState.REFUSED))
        return files.filter(state=show) if show else files
