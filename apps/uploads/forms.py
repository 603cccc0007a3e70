"""What a person types about files: where they belong, and what they are called."""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.lib.forms import SiteForm
from apps.studies.models import Study
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.places import PlaceField, place_value
from apps.uploads.receiving import UploadError, labels_from_text, labels_to_text


def whole_numbers(texts: Iterable[str]) -> list[int]:
    """Those of the texts that can be a row's number or a place."""
    return [int(text) for text in texts if text.isdecimal() and len(text) < 19]


class LabelsField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            **{
                "required": False,
                "label": "Labels",
                "help_text": 'name=value, several apart by commas; "in quotes" what has commas',
                **options,
            }
        )

    def clean(self, value: Any) -> Any:
        try:
            return labels_from_text(super().clean(value))
        except UploadError as error:
            raise forms.ValidationError(f"Found {error.found!r}, expected {error.expected}.") from None

    def prepare_value(self, value: Any) -> Any:
        return labels_to_text(value) if isinstance(value, dict) else value


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


class FileForm(SiteForm):
    """Of one file, where it differs from its upload."""

    place = PlaceField()
    labels = LabelsField()

    def __init__(self, lab: Lab, hosts: list[Host], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        place = self.fields["place"]
        assert isinstance(place, PlaceField)
        place.of(lab, hosts)

    @classmethod
    def of(cls, file: UploadedFile, hosts: list[Host]) -> "FileForm":
        own = (file.host_id, file.target_id) if file.place == (file.host_id, file.target_id) else (None, None)
        return cls(file.upload.lab, hosts, initial={"place": place_value(*own), "labels": file.labels})


class FileFilter(SiteForm):
    SHOWN = [
        ("", "all"), ("keep", "to be kept"), ("kept", "kept"), ("problems", "with problems"), *FileState.choices,
    ]  # fmt: skip
    q = forms.CharField(required=False, label="Find", widget=forms.TextInput(attrs={"type": "search"}))
    show = forms.ChoiceField(required=False, choices=SHOWN, label="Show")

    def of(self, files: Any) -> Any:
        """The files that fit; what nobody could have chosen narrows nothing."""
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
