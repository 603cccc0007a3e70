"""Runs that were kept by mistake: taken back, read again, and kept as they should be."""

from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Host
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Artefact, Provenance, Run, Sample
from apps.studies.models import Study, StudyRun
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.revert import preview_revert, take_back
from apps.uploads.save_runs import keep
from apps.uploads.tasks import take_back_upload
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file
from tests.uploads.test_mapping import ANSWERS, TABLE

pytestmark = pytest.mark.services


def read_again(upload: Upload) -> Upload:
    upload.refresh_from_db()
    assert upload.claim()
    assert parse(upload)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def kept(bring: Bring, lab: Lab) -> Upload:
    study = Study.objects.create(lab=lab, slug="cables", title="Cables")
    upload = bring({"a.json": REPORT, "b.json": OTHER}, study=study)
    assert keep(upload) == 2
    return upload


def test_runs_go_with_all_that_was_read_and_bytes_stay(kept: Upload) -> None:
    artefacts = set(Artefact.objects.values_list("sha256", flat=True))
    assert Sample.objects.exists()
    assert take_back(kept) == 2
    for model in (Run, Sample, Provenance, StudyRun):
        assert not model.objects.exists()
    assert set(Artefact.objects.values_list("sha256", flat=True)) == artefacts
    read_again(kept)
    found = list(UploadedFile.objects.filter(upload=kept).values_list("state", "run_count", "kept_at"))
    assert found == [(FileState.PARSED, 1, None)] * 2
    assert keep(kept) == 2
    assert StudyRun.objects.count() == 2


def test_one_file_leaves_the_others(kept: Upload, sign_in: Any) -> None:
    engineer: Client = sign_in("engineer")
    file = UploadedFile.objects.get(name="a.json")
    shown = engineer.get(f"{kept.get_absolute_url()}take-back/?file={file.pk}").content.decode()
    assert "1 run of this file" in shown
    assert ">Cables</a> (1)" in shown
    after = engineer.post(f"{kept.get_absolute_url()}take-back/", {"file": file.pk}, follow=True)
    assert after.redirect_chain[-1][0] == file.get_absolute_url()
    assert Run.objects.get().uploaded_from.file.name == "b.json"
    assert AuditEvent.objects.get(act="runs taken back").detail == {"upload": kept.pk, "runs": 1, "files": 1}


def test_looking_changes_nothing(kept: Upload, sign_in: Any) -> None:
    engineer: Client = sign_in("engineer")
    assert "Undo import…" in engineer.get(kept.get_absolute_url()).content.decode()
    assert "2 runs of 2 files" in engineer.get(f"{kept.get_absolute_url()}take-back/").content.decode()
    assert Run.objects.count() == 2


def test_a_wrong_mapping_can_be_mended(bring: Bring, sign_in: Any) -> None:
    """The table was kept with the wrong unit."""
    engineer: Client = sign_in("engineer")
    upload = bring({"means.csv": TABLE})
    page = f"{only_file(upload).get_absolute_url()}mapping/"
    for base in (1024, 1000):
        engineer.post(page, {**ANSWERS, "fixed-unit": f"KB/s ({base})", "act": "use"})
        read_again(upload)
        assert keep(upload) == 2
        assert max(Sample.objects.values_list("value", flat=True)) == 177456.5 * base
        take_back(upload)
        read_again(upload)


def test_what_was_kept_without_a_preview_is_shown_now(bring: Bring, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="db1")
    upload = bring({"a.json": REPORT}, keep_at_once=True, host=host)
    assert take_back(upload) == 1
    read_again(upload)
    assert not Run.objects.exists()
    assert (only_file(upload).state, only_file(upload).kept_at) == (FileState.PARSED, None)
    assert upload.host == host


def test_what_a_report_published_stays(kept: Upload, sign_in: Any) -> None:
    Run.objects.filter(uploaded_from__file__name="b.json").update(origin=Run.Origin.PUBLISHED)
    going = preview_revert(kept)
    assert (going.files, going.runs, going.staying) == (1, 1, 1)
    assert "1 file stays as it is" in sign_in("engineer").get(f"{kept.get_absolute_url()}take-back/").content.decode()
    assert take_back(kept) == 1
    assert Run.objects.get().origin == "published"


def test_many_runs_go_in_a_worker(kept: Upload, sign_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from apps.uploads.views import revert

    asked: list[Any] = []
    monkeypatch.setattr(revert, "AT_ONCE", 1)
    monkeypatch.setattr(revert.take_back_upload, "delay", lambda *args: asked.append(args))
    after = sign_in("engineer").post(f"{kept.get_absolute_url()}take-back/", follow=True).content.decode()
    assert "2 runs are being removed" in after
    assert asked == [(kept.pk, None)]
    assert take_back_upload(*asked[0]) == 2
    assert take_back_upload(*asked[0]) == 0


def test_a_viewer_takes_nothing_back(kept: Upload, sign_in: Any) -> None:
    viewer: Client = sign_in("viewer")
    assert "Undo import" not in viewer.get(kept.get_absolute_url()).content.decode()
    assert viewer.post(f"{kept.get_absolute_url()}take-back/").status_code == 403
    assert Run.objects.count() == 2
