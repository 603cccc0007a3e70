"""The folder of big files takes nothing: what was not kept is said, and what was is read."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.labs.models import Lab
from apps.runs.artefacts.store import SMALL
from apps.uploads.management.commands import import_results
from apps.uploads.models import Upload, UploadState
from apps.uploads.services import open_upload

pytestmark = pytest.mark.django_db
DD = b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.1 s, 262 MB/s\n"
BIG = bytes(SMALL + 1)


@pytest.fixture(autouse=True)
def no_room(tmp_path: Path, settings: Any) -> None:
    (tmp_path / "full").write_text("no folder")
    settings.ARTEFACT_DIR = tmp_path / "full"


def sent(*names: str) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, BIG if name.startswith("big") else DD) for name in names]


def test_an_upload_of_which_nothing_arrived_is_none(engineer: Client) -> None:
    answer = engineer.post(reverse("uploads"), {"file": sent("big.bin", "a.txt")})
    assert answer.status_code == 507
    assert "The bytes could not be kept in" in answer.content.decode()
    assert not Upload.objects.exists()


def test_what_arrived_before_is_named_and_read(engineer: Client) -> None:
    answer = engineer.post(reverse("uploads"), {"file": sent("a.txt", "big.bin", "c.txt")})
    assert answer.status_code == 507
    assert "1 file arrived before that, in the upload a.txt." in answer.content.decode()
    upload = Upload.objects.get()
    assert (upload.state, upload.files.get().name) == (UploadState.QUEUED, "a.txt")


def test_the_command_counts_what_is_here(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name, data in (("a.txt", DD), ("big.bin", bytes(import_results._SMALL + 1))):
        (folder / name).write_bytes(data)
    with pytest.raises(CommandError, match=r"1 files are here, in upload \d+, which a worker reads\."):
        call_command("import_results", str(folder), lab=lab.slug, stdout=StringIO())
    (folder / "a.txt").unlink()
    with pytest.raises(CommandError, match=r"0 files are here\."):
        call_command("import_results", str(folder), lab=lab.slug, stdout=StringIO())
    assert Upload.objects.count() == 1


def test_an_upload_without_files_is_called_empty_and_waits_for_nobody(lab: Lab, engineer: Client) -> None:
    """A browser opens one, and its first file does not come through."""
    upload = open_upload(lab, "results", door=Upload.Door.PAGE, actor="engineer")
    for address in ("/uploads/", upload.get_absolute_url()):
        page = engineer.get(address).content.decode()
        assert '<span class="chip">empty</span>' in page
        assert "Waiting for a worker" not in page
