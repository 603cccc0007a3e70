"""Kept runs that were put to the wrong host, or to none."""

from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Host, Target
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Run, Sample
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.save_runs import keep
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file

pytestmark = pytest.mark.services


@pytest.fixture
def raid(lab: Lab) -> Target:
    host = Host.objects.create(lab=lab, name="db1", ram_bytes=2**34)
    found: Target = Target.objects.create(lab=lab, host=host, name="raid", kind="directory", path="/mnt/raid")
    return found


@pytest.fixture
def kept(bring: Bring) -> Upload:
    upload = bring({"a.json": REPORT, "b.json": OTHER}, labels={"room": "7"})
    assert keep(upload) == 2
    return upload


def place(client: Client, upload: Upload, target: Target, **more: Any) -> str:
    sent = {"act": "place", "place": f"target-{target.pk}", **more}
    return client.post(f"{upload.get_absolute_url()}keep/", sent, follow=True).content.decode()


def test_kept_runs_go_with_their_file(kept: Upload, raid: Target, sign_in: Any) -> None:
    file = UploadedFile.objects.get(name="a.json")
    values = sorted(Sample.objects.values_list("id", "value"))
    assert "1 file of db1: raid, with 1 kept run." in place(sign_in("engineer"), kept, raid, file=file.pk)
    moved, other = Run.objects.get(uploaded_from__file=file), Run.objects.exclude(uploaded_from__file=file).get()
    assert (moved.host, moved.target, moved.facts["host"], moved.facts["room"]) == (raid.host, raid, "db1", "7")
    assert moved.snapshot.content["host"]["ram_bytes"] == 2**34
    assert (other.host, other.snapshot, "host" in other.facts) == (None, None, False)
    assert sorted(Sample.objects.values_list("id", "value")) == values, "what was measured stays"
    assert AuditEvent.objects.get(act="runs moved").detail == {"upload": kept.pk, "to": "db1: raid", "runs": 1}


def test_all_files_of_an_upload_at_once(kept: Upload, raid: Target, sign_in: Any) -> None:
    assert "2 files of db1: raid, with 2 kept runs." in place(sign_in("engineer"), kept, raid, every="1")
    assert {run.target for run in Run.objects.select_related("target")} == {raid}


def test_the_page_of_a_kept_file_changes_host_and_labels(kept: Upload, raid: Target, sign_in: Any) -> None:
    file = UploadedFile.objects.get(name="a.json")
    engineer: Client = sign_in("engineer")
    address = f"{file.get_absolute_url()}belongs/"
    sent = {"place": f"host-{raid.host_id}", "labels": "room=8, disk=new"}
    assert "Saved, for 1 kept run." in engineer.post(address, sent, follow=True).content.decode()
    run = Run.objects.get(uploaded_from__file=file)
    assert (run.host, run.facts["room"], run.facts["disk"]) == (raid.host, "8", "new")
    engineer.post(address, {**sent, "labels": ""})
    run.refresh_from_db()
    assert ("disk" in run.labels, run.labels["room"]) == (False, "7"), "the upload's label is back"


def test_other_labels_leave_the_snapshot_as_it_was(kept: Upload, raid: Target, sign_in: Any) -> None:
    file = UploadedFile.objects.get(name="a.json")
    engineer: Client = sign_in("engineer")
    address, at_host = f"{file.get_absolute_url()}belongs/", {"place": f"host-{raid.host_id}"}
    engineer.post(address, at_host)
    before = Run.objects.get(uploaded_from__file=file).snapshot_id
    Host.objects.update(ram_bytes=2**35)
    engineer.post(address, {**at_host, "labels": "disk=new"})
    assert Run.objects.get(uploaded_from__file=file).snapshot_id == before


def test_what_a_report_published_does_not_move(kept: Upload, raid: Target, sign_in: Any) -> None:
    Run.objects.update(origin=Run.Origin.PUBLISHED)
    place(sign_in("engineer"), kept, raid, every="1")
    assert not Run.objects.exclude(host=None).exists()


def test_a_viewer_moves_nothing(kept: Upload, raid: Target, sign_in: Any) -> None:
    viewer: Client = sign_in("viewer")
    assert viewer.post(f"{kept.get_absolute_url()}keep/", {"act": "place", "every": "1"}).status_code == 403
    assert not UploadedFile.objects.exclude(host=None).exists()


def test_it_can_be_taken_back(bring: Bring, raid: Target, sign_in: Any) -> None:
    upload = bring({"a.json": REPORT}, host=None)
    keep(upload)
    engineer: Client = sign_in("engineer")
    address = f"{only_file(upload).get_absolute_url()}belongs/"
    for sent, host in (({"place": f"target-{raid.pk}"}, raid.host), ({"place": ""}, None)):
        engineer.post(address, sent)
        run = Run.objects.get()
        assert (run.host, run.facts.get("host")) == (host, host and host.name)
    assert run.snapshot is None
