"""Files that a script sends, with what it says beside them: the same whichever way the request comes in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.core.files.uploadedfile import UploadedFile as SentFile
from django.db import transaction

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.lib.sql import ALWAYS, Given, wait_for_disk
from apps.runs.artefact_store import SMALL
from apps.studies.models import Study
from apps.uploads.at_once import reading_here
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.parsing import parse_at_once
from apps.uploads.receiving import UploadError, add_file, add_files, hand_over, in_trail, labels_from_text, new_upload
from apps.uploads.sent_paths import sent_name
from apps.uploads.small_file import take

_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")
_WORDS = ("path", "study", "host", "target", "labels", "keep")  # beside the files
_ALSO = ("csrfmiddlewaretoken",)  # a page's
_QUERY = ("keep", "format")
_SHOWN, _ALIKE = 20, 3  # names that are listed; letters that make two of them alike


@dataclass(frozen=True)
class Beside:
    """What is said of the files, checked."""

    paths: Sequence[str]
    labels: dict[str, str]
    keep_at_once: bool
    study: Study | None = None
    host: Host | None = None
    target: Target | None = None

    @classmethod
    def of(cls, body: Any, query: Mapping[str, str]) -> "Beside":
        """In the lab's scope. Raises `UploadError`."""
        _check_names(body, query)
        return cls(
            paths=body.getlist("path"),
            labels=labels_from_text(body.get("labels", "")),
            keep_at_once=_is_true("keep", query.get("keep", ""), body.get("keep", "")),
            study=_named(body, Study, "study", "slug"),
            host=_named(body, Host, "host", "name"),
            target=_named(body, Target, "target", "name"),
        )

    def path_of(self, place: int, name: str) -> str:
        return self.paths[place] if place < len(self.paths) else name

    def upload(self, lab: Lab, who: str, first: str, *, is_claimed: bool = False) -> Upload:
        return new_upload(
            lab, self.path_of(0, first), door=Upload.Door.REST, who=who, study=self.study, host=self.host,
            target=self.target, labels=self.labels, keep_at_once=self.keep_at_once, is_claimed=is_claimed,
        )  # fmt: skip


def receive(
    lab: Lab, who: str, beside: Beside, files: "Sequence[SentFile[Any]]"
) -> tuple[Upload, list[UploadedFile] | None]:
    """The upload and what became of its file, where that is known: a small one is read at once. For others a worker is called
    when they are on the disk.
    """
    first = sent_name(files[0])
    is_small = len(files) == 1 and (files[0].size or 0) <= SMALL
    small = [files[0].read()] if is_small else []
    with reading_here(small) as is_here:
        if is_here:
            return read_here(*take_here(lab, who, beside, first, small[0]), small[0])
    upload = beside.upload(lab, who, first)
    if small:
        take(upload, beside.path_of(0, first), small[0])
    else:
        _take_all(upload, beside, files)
    hand_over(upload)
    return upload, None


def take_here(
    lab: Lab, who: str, beside: Beside, name: str, data: bytes, *, given: Given = ALWAYS
) -> tuple[Upload, UploadedFile]:
    """One that this thread will read (`reading_here`), if it is so as `given`; else `NotGivenError`. It is stored when this returns,
    and on the disk when `read_here` does.
    """
    upload = beside.upload(lab, who, name, is_claimed=True)
    return upload, take(upload, beside.path_of(0, name), data, given=given, answers_after_more=True)


def read_here(upload: Upload, file: UploadedFile, data: bytes) -> tuple[Upload, list[UploadedFile] | None]:
    """As `receive`."""
    if parse_at_once(upload, file, data):
        return upload, [file]
    wait_for_disk()
    hand_over(upload)
    return upload, None


@transaction.atomic
def _take_all(upload: Upload, beside: Beside, files: "Sequence[SentFile[Any]]") -> None:
    """All of it or nothing, and one wait for the disk."""
    upload.save(force_insert=True)
    named = [(beside.path_of(place, sent_name(sent)), sent) for place, sent in enumerate(files)]
    for is_small, some in groupby(named, lambda pair: (pair[1].size or 0) <= SMALL):
        if is_small:
            add_files(upload, [(name, sent.read()) for name, sent in some])
            continue
        for name, sent in some:
            add_file(upload, name, sent.chunks())
    in_trail(upload).save(force_insert=True)


def _check_names(body: Any, query: Iterable[str]) -> None:
    """A part or a parameter of another name is a slip of the pen (`hots=db1`), and nobody may think that it was heard. Raises
    `UploadError`.
    """
    for where, given, known in (("part", body, ("file", *_WORDS, *_ALSO)), ("parameter", query, _QUERY)):
        if unknown := [name for name in given if name not in known]:
            expected = ", ".join(name for name in known if name not in _ALSO)
            raise UploadError(where, ", ".join(unknown), f"one of: {expected}")
    for name in _WORDS:
        said = body.getlist(name)
        if not all(isinstance(one, str) for one in said):
            raise UploadError(name, "a file", "words")
        if len(said) > 1 and name != "path":
            raise UploadError(name, ", ".join(said), "at most one")


def _is_true(field: str, *said: Any) -> bool:
    """As the first says that says something."""
    words = [str(one) for one in said if one != ""]
    for word in words:
        if word.lower() not in (*_TRUE, *_FALSE):
            raise UploadError(field, word, "true or false")
    return bool(words) and words[0].lower() in _TRUE


def _named(body: Any, model: Any, field: str, name: str) -> Any:
    """By id or by name; of this lab, or it is not there."""
    asked = str(body.get(field, "")).strip()
    if not asked:
        return None
    key = "pk" if asked.isdecimal() and len(asked) < 19 else name
    found = list(model.objects.filter(**{key: asked})[:2]) if "\0" not in asked else []  # which no name has
    if len(found) > 1:
        numbers = ", ".join(str(one.pk) for one in model.objects.filter(**{key: asked}).order_by("pk")[:_SHOWN])
        raise UploadError(field, asked, f"the id of one {field}, for several have that {name}: {numbers}")
    if not found:
        raise UploadError(field, asked, f"the id or {name} of one {field} of this lab; {_there(model, name, asked)}")
    return found[0]


def _there(model: Any, name: str, asked: str) -> str:
    """The names that would do, those that begin alike first."""
    names = model.objects.exclude(**{name: ""}).values_list(name, flat=True)
    word = asked[:_ALIKE].replace("\0", "")
    alike = names.filter(**{f"{name}__istartswith": word}) if word else names.none()
    shown = list(dict.fromkeys([*alike.order_by(name)[:_SHOWN], *names.order_by(name)[:_SHOWN]]))[:_SHOWN]
    if not shown:
        return "there is none"
    more = names.distinct().count() - len(shown)
    return f"there are {', '.join(shown)}{f' and {more:,} more' if more > 0 else ''}"
