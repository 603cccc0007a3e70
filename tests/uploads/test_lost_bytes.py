"""A disk that has lost or altered what was kept: the file is named, and nothing else suffers."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.runs.artefacts.store import SMALL, path_of
from apps.runs.models import Run, Sample
from apps.uploads import inventory_import
from apps.uploads.inventory_import import take
from apps.uploads.models import FileState, FoundInventory, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.review import source_lines
from tests.uploads.conftest import REPORT, Bring, only_file, tarred

pytestmark = pytest.mark.django_db
DD = b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.1 s, 262 MB/s\n"
BIG = b"# a log with many words before the figure\n" * (2 * SMALL // 40) + DD
HUGE = b"\n" * (1 << 20) + DD
ARCHIVE = tarred({f"{number}.txt": BIG + b"%d\n" % number for number in range(3)}, "w")


def lose(file: UploadedFile) -> None:
    assert file.artefact
    path_of(file.artefact.sha256).unlink()


def alter(file: UploadedFile) -> None:
    """What lies there is a sound file of ours, of other bytes."""
    assert file.artefact
    other = UploadedFile.objects.get(name="other.txt").artefact
    path_of(file.artefact.sha256).write_bytes(path_of(other.sha256).read_bytes())


def read(upload: Upload) -> dict[str, UploadedFile]:
    assert upload.claim()
    assert parse(upload)
    return {file.name: file for file in UploadedFile.objects.filter(upload=upload)}


@pytest.fixture
def kept(bring: Bring) -> UploadedFile:
    return only_file(bring({"big.txt": BIG}, keep_at_once=True))


@pytest.mark.parametrize("harm", [lose, alter])
@pytest.mark.parametrize(("name", "data"), [("big.txt", BIG), ("huge.txt", HUGE), ("all.tar", ARCHIVE)])
def test_the_other_files_of_an_upload_are_read(
    bring: Bring, harm: Callable[[UploadedFile], None], name: str, data: bytes
) -> None:
    other = b"# another file of many bytes, which says nothing\n" * 2000
    upload = bring({"a.json": REPORT, name: data, "other.txt": other, "z.txt": DD}, is_read=False)
    harm(UploadedFile.objects.get(name=name))
    found = read(upload)
    assert [found[one].state for one in ("a.json", "z.txt")] == [FileState.PARSED] * 2
    assert found[name].state == FileState.FAILED
    expected = "cannot be read: No such file" if harm is lose else "were altered"
    assert expected in found[name].error["message"]  # type: ignore[index]
    assert not upload.problem


def test_it_is_read_when_the_bytes_are_back(bring: Bring, engineer: Client) -> None:
    upload = bring({"big.txt": BIG, "z.txt": DD}, is_read=False)
    lost = UploadedFile.objects.get(name="big.txt")
    lose(lost)
    read(upload)
    again = bring({"the-same.txt": BIG}, is_read=False)
    engineer.post(reverse("uploaded-file-again", args=[upload.pk, lost.pk]))
    upload.refresh_from_db()
    assert read(upload)["big.txt"].state == FileState.PARSED
    assert again.files.count() == 1


def test_pages_say_which_bytes_are_gone(kept: UploadedFile, engineer: Client) -> None:
    run = Run.objects.get()
    lose(kept)
    for address in (
        reverse("uploaded-file-bytes", args=[kept.upload_id, kept.pk]),
        reverse("run-artefact", args=[run.pk, "big.txt"]),
        reverse("run-artefact-view", args=[run.pk, "big.txt"]),
    ):
        answer = engineer.get(address)
        page = answer.content.decode()
        assert (answer.status_code, str(kept.artefact.sha256 if kept.artefact else "") in page) == (410, True), address
        assert "No such file or directory" in page
        assert "/tmp" not in page
    for sound in (kept.get_absolute_url(), run.get_absolute_url()):
        assert engineer.get(sound).status_code == 200


def test_reading_again_names_the_file_and_leaves_its_values(kept: UploadedFile) -> None:
    lose(kept)
    out = StringIO()
    call_command("reparse", stdout=out)
    assert "big.txt: could not be read again: The bytes of artefact" in out.getvalue()
    assert Sample.objects.exists()


def test_the_end_of_an_artefact_is_shown_in_its_own_encoding(bring: Bring, engineer: Client) -> None:
    upload = bring({"wide.txt": ("Größe\n" * 90_000 + DD.decode()).encode("utf-16")}, keep_at_once=True)
    page = engineer.get(reverse("run-artefact-view", args=[Run.objects.get().pk, "wide.txt"])).content.decode()
    assert "1.1 GB, 1.0 GiB) copied" in page
    assert "Größe\nGröße" in page
    assert "Only the last" in page
    assert upload.files.get().state == FileState.PARSED


def test_a_description_deep_in_a_huge_file_is_not_taken_by_halves(
    bring: Bring, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory_import, "MOST_BYTES", 100)
    monkeypatch.setattr(inventory_import, "head", lambda artefact: source_lines.head(artefact, 100))
    file = only_file(bring({"big.txt": BIG}))
    host = Host.objects.create(lab=lab, name="host3")
    for last in (2, 3):
        found = FoundInventory.objects.create(file=file, tool="lsblk", summary="", content={}, line=1, last_line=last)
        said = take(found, host)
        assert ("goes on behind the first" in said) == (last == 3), said
