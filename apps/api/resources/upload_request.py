"""What a request that brings files must look like.

Its fields raise `UploadError`, so that the answer says what was found and what was expected.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model
from django.http import QueryDict
from rest_framework import serializers

from apps.core.text import whole_number
from apps.inventory.models import Host, Target
from apps.studies.models import Study
from apps.uploads.labels import UploadError, labels_from_text
from apps.uploads.models import Upload
from apps.uploads.multipart import sent_name
from apps.uploads.services import receive_upload

_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")
_WORDS = ("path", "study", "host", "target", "labels", "keep")  # parts beside the files
_PAGE_PARTS = ("csrfmiddlewaretoken",)  # further parts that pages send
_PARAMETERS = ("keep", "format")
_MOST_LISTED, _ALIKE = 20, 3  # names in an error message; leading letters that make two names alike


class FilesField(serializers.ListField):
    """The files in this part of the form; text fields of the same name are ignored."""

    def get_value(self, dictionary: object) -> Any:
        return self.context["request"].FILES.getlist(self.field_name)


class NamedField(serializers.CharField):
    """One object of the lab, by its id or its name."""

    def __init__(self, model: type[Model], name: str, **options: Any) -> None:
        super().__init__(required=False, allow_blank=True, **options)
        self.model, self.name_field = model, name

    def to_internal_value(self, data: object) -> Any:
        wanted, field = str(data).strip(), str(self.field_name)
        objects = self.model._default_manager
        key = self.name_field if whole_number(wanted) is None else "pk"
        matches = objects.none() if "\0" in wanted else objects.filter(**{key: wanted}).order_by("pk")
        found = list(matches[: _MOST_LISTED + 1])
        if len(found) > 1:
            ids = ", ".join(str(match.pk) for match in found[:_MOST_LISTED])
            raise UploadError(field, wanted, f"the id of one {field}, for several have that {self.name_field}: {ids}")
        if not found:
            known = self._describe_known(wanted)
            raise UploadError(field, wanted, f"the id or {self.name_field} of one {field} of this lab; {known}")
        return found[0]

    def _describe_known(self, wanted: str) -> str:
        """Return the end of an error message: the names that there are, those that begin like the wanted one first."""
        field = self.name_field
        names = self.model._default_manager.exclude(**{field: ""}).order_by(field).values_list(field, flat=True)
        beginning = wanted[:_ALIKE].replace("\0", "")
        alike = names.filter(**{f"{field}__istartswith": beginning}) if beginning else names.none()
        listed = list(dict.fromkeys([*alike[:_MOST_LISTED], *names[:_MOST_LISTED]]))[:_MOST_LISTED]
        if not listed:
            return "there is none"
        more = names.distinct().count() - len(listed)
        return f"there are {', '.join(listed)}{f' and {more:,} more' if more > 0 else ''}"


class LabelsTextField(serializers.CharField):
    """Labels as people type them."""

    def to_internal_value(self, data: object) -> Any:
        return labels_from_text(str(data))


class KeepField(serializers.BooleanField):
    """Whether what is recognised is kept without a preview."""

    def to_internal_value(self, data: object) -> bool:
        return _as_boolean(str(self.field_name), str(data))


class UploadStartSerializer(serializers.Serializer[Upload]):
    """The parts of the body. `save(lab=…, actor=…)` receives the files, in the lab's scope."""

    file = FilesField(
        child=serializers.FileField(allow_empty_file=True),
        help_text="one or more files or archives; the part may come several times",
    )
    path = serializers.ListField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        help_text="each file's path, in the order of the files; without it, the file name of its part counts, with its folders",
    )
    study = NamedField(Study, "slug", help_text="id or slug")
    host = NamedField(Host, "name", help_text="id or name")
    target = NamedField(Target, "name", help_text="id or name")
    labels = LabelsTextField(required=False, allow_blank=True, help_text="`kernel=6.1, cable=old`")
    keep = KeepField(required=False)

    def to_internal_value(self, data: QueryDict) -> Any:
        self._check_files(data)
        self._check_names(data)
        return super().to_internal_value(data)

    def _check_files(self, data: QueryDict) -> None:
        files = self.context["request"].FILES
        is_nameless = any(isinstance(part, str) and part for part in data.getlist("file"))
        if is_nameless or not files.getlist("file"):
            found = "a part without a filename" if is_nameless else ", ".join(files) or "nothing"
            raise UploadError("file", found, "one or more files in the part named file")

    def _check_names(self, data: QueryDict) -> None:
        """Refuse a part or a parameter of an unknown name.

        It is a slip, such as `hots=db1`, and the answer would look as if it had been applied.
        """
        _check_known("part", data, ("file", *_WORDS, *_PAGE_PARTS), hidden=_PAGE_PARTS)
        _check_known("parameter", self.context["request"].query_params, _PARAMETERS)
        for name in _WORDS:
            parts = data.getlist(name)
            if not all(isinstance(part, str) for part in parts):
                raise UploadError(name, "a file", "words")
            if len(parts) > 1 and name != "path":
                raise UploadError(name, ", ".join(map(str, parts)), "at most one")

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        """Let `?keep=` in the address take precedence over the part of that name."""
        if word := self.context["request"].query_params.get("keep"):
            attrs["keep"] = _as_boolean("keep", word)
        return attrs

    def create(self, validated_data: dict[str, Any]) -> Upload:
        paths = validated_data.get("path", [])
        files = [
            (paths[place] if place < len(paths) else sent_name(file), file)
            for place, file in enumerate(validated_data["file"])
        ]
        return receive_upload(
            validated_data["lab"],
            files,
            name=files[0][0],
            door=Upload.Door.REST,
            actor=validated_data["actor"],
            keep_at_once=validated_data.get("keep", False),
            labels=validated_data.get("labels") or {},
            study=validated_data.get("study") or None,
            host=validated_data.get("host") or None,
            target=validated_data.get("target") or None,
        )


def _check_known(kind: str, names: Iterable[str], known: Iterable[str], hidden: Iterable[str] = ()) -> None:
    if unknown := [name for name in names if name not in known]:
        expected = ", ".join(name for name in known if name not in hidden)
        raise UploadError(kind, ", ".join(unknown), f"one of: {expected}")


def _as_boolean(field: str, word: str) -> bool:
    if word.lower() not in (*_TRUE, *_FALSE):
        raise UploadError(field, word, "true or false")
    return word.lower() in _TRUE
