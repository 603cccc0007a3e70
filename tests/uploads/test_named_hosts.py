"""Host names that the texts print and nobody knows: shown, answered once, and then everything of that name has its host."""

from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Change, Host, Target
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Run
from apps.uploads.host_matching import named_hosts
from apps.uploads.models import FoundInventory, Upload, UploadedFile
from apps.uploads.save_runs import keep
from tests.uploads.conftest import Bring, only_file

pytestmark = pytest.mark.services


def dd(host: str, seconds: float = 4.1) -> bytes:
    return (
        f"root@{host}:~# dd if=/dev/zero of=/mnt/raid/x bs=1M count=1024\n1024+0 records in\n1024+0 records out\n"
        f"1073741824 bytes (1.1 GB, 1.0 GiB) copied, {seconds} s, {1073.741824 / seconds:.0f} MB/s\n"
    ).encode()


MDSTAT = b"root@db9:~# cat /proc/mdstat\nPersonalities : [raid1]\nunused devices: <none>\n"


def names(upload: Upload) -> list[tuple[list[str], int, int, int]]:
    return [(one.names, one.files, one.runs, one.pieces) for one in named_hosts(upload)]


def page(client: Client, upload: Upload, more: str = "") -> str:
    return client.get(f"{upload.get_absolute_url()}{more}").content.decode()


def hosts_of_runs() -> list[str]:
    return sorted(str(run.host or "") for run in Run.objects.select_related("host"))


def test_names_of_nobody_are_counted_where_they_stand(bring: Bring, lab: Lab) -> None:
    Host.objects.create(lab=lab, name="db1")
    upload = bring(
        {
            "a.txt": dd("db1"),
            "b.txt": dd("db2"),
            "c.txt": dd("db2", 5),
            "d.txt": dd("db1", 6) + dd("db3"),
            "m.txt": MDSTAT,
        }
    )
    assert names(upload) == [(["db2"], 2, 0, 0), (["db3"], 1, 0, 0), (["db9"], 0, 0, 1)]
    keep(upload)
    assert names(upload) == [(["db2"], 0, 2, 0), (["db3"], 0, 1, 0), (["db9"], 0, 0, 1)]


def test_nothing_is_asked_where_somebody_said_the_host(bring: Bring, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="db1")
    assert names(bring({"b.txt": dd("db2"), "m.txt": MDSTAT}, host=host)) == []


def test_a_short_and_a_full_name_are_one_unless_two_full_ones_fit(bring: Bring) -> None:
    files = [dd(name) for name in ("vm", "vm.example.org", "db", "db.example.org", "db.example.net")]
    upload = bring({f"{number}.txt": data for number, data in enumerate(files)})
    assert [one.names for one in named_hosts(upload)] == [
        ["db"], ["db.example.net"], ["db.example.org"], ["vm.example.org", "vm"],
    ]  # fmt: skip


def test_a_host_is_added_and_all_of_its_name_go_there(bring: Bring, lab: Lab, sign_in: Any) -> None:
    upload = bring({"b.txt": dd("db2"), "c.txt": dd("db2", 5), "m.txt": MDSTAT})
    keep(upload, [UploadedFile.objects.get(name="b.txt").pk])
    engineer: Client = sign_in("engineer")
    shown = page(engineer, upload)
    assert "2 host names</strong> in these files are not assigned" in shown
    assert 'name="of-db2" value="db2"' in page(engineer, upload, "hosts/")
    answers = {"of-db2": "db2", "of-db9": "db9"}
    after = engineer.post(f"{upload.get_absolute_url()}hosts/", answers, follow=True).content.decode()
    assert "2 names have hosts now; 1 file belongs there; 1 kept run was moved there." in after
    assert "nobody’s yet" not in after
    assert set(Host.objects.filter(lab=lab).values_list("name", flat=True)) == {"db2", "db9"}
    assert Change.objects.filter(part_kind="host", act="made").count() == 2
    assert AuditEvent.objects.filter(act="host named").count() == 2
    assert keep(upload) == 1
    assert hosts_of_runs() == ["db2", "db2"]
    assert FoundInventory.objects.get().host == Host.objects.get(name="db9")


def test_a_name_may_be_a_host_of_the_lab_that_is_called_otherwise(bring: Bring, lab: Lab, sign_in: Any) -> None:
    host = Host.objects.create(lab=lab, name="Storage-7")
    upload = bring({"b.txt": dd("db2")})
    sign_in("engineer").post(f"{upload.get_absolute_url()}hosts/", {"of-db2": "storage-7"})
    assert Host.objects.get() == host
    assert (only_file(upload).host, only_file(upload).guessed) == (host, "")


def test_an_empty_answer_leaves_a_name(bring: Bring, sign_in: Any) -> None:
    upload = bring({"b.txt": dd("localhost")})
    engineer: Client = sign_in("engineer")
    assert 'name="of-localhost" value=""' in page(engineer, upload, "hosts/")
    after = engineer.post(f"{upload.get_absolute_url()}hosts/", {"of-localhost": ""}, follow=True).content.decode()
    assert "Nothing was changed" in after
    assert not Host.objects.exists()


def test_a_name_that_cannot_be_a_hosts_is_told(bring: Bring, sign_in: Any) -> None:
    upload = bring({"b.txt": dd("db2")})
    answers = {"of-db2": "x" * 201}
    after = sign_in("engineer").post(f"{upload.get_absolute_url()}hosts/", answers, follow=True).content.decode()
    assert "db2 has no host yet: name: " in after
    assert not Host.objects.exists()


def test_a_viewer_is_not_asked(bring: Bring, sign_in: Any) -> None:
    upload = bring({"b.txt": dd("db2")})
    viewer: Client = sign_in("viewer")
    assert "nobody’s yet" not in page(viewer, upload)
    assert viewer.get(f"{upload.get_absolute_url()}hosts/").status_code == 403


def test_runs_of_one_file_are_each_of_the_host_that_they_print(bring: Bring, lab: Lab, sign_in: Any) -> None:
    db1, db2 = (Host.objects.create(lab=lab, name=name) for name in ("db1", "db2"))
    raid = Target.objects.create(lab=lab, host=db2, name="raid", kind="directory", path="/mnt/raid")
    upload = bring({"all.txt": dd("db1") + dd("db2") + dd("db3")})
    shown = page(sign_in("engineer"), upload)
    assert "each run’s own: db1, db2" in shown
    assert keep(upload) == 3
    found = {run.labels["machine"]: (run.host, run.target) for run in Run.objects.select_related("host", "target")}
    assert found == {"db1": (db1, None), "db2": (db2, raid), "db3": (None, None)}
    assert Run.objects.get(labels__machine="db2").facts["host"] == "db2"


def test_a_host_that_somebody_said_is_all_runs(bring: Bring, lab: Lab) -> None:
    db1, _ = (Host.objects.create(lab=lab, name=name) for name in ("db1", "db2"))
    upload = bring({"all.txt": dd("db1") + dd("db2")})
    UploadedFile.objects.filter(upload=upload).update(host=db1)
    keep(upload)
    assert hosts_of_runs() == ["db1", "db1"]


def test_a_host_that_is_unsaid_again_gives_each_run_its_own(bring: Bring, lab: Lab, sign_in: Any) -> None:
    db1, _ = (Host.objects.create(lab=lab, name=name) for name in ("db1", "db2"))
    upload = bring({"all.txt": dd("db1") + dd("db2")})
    keep(upload)
    engineer: Client = sign_in("engineer")
    address = f"{only_file(upload).get_absolute_url()}belongs/"
    engineer.post(address, {"place": f"host-{db1.pk}"})
    assert hosts_of_runs() == ["db1", "db1"]
    engineer.post(address, {"place": ""})
    assert hosts_of_runs() == ["db1", "db2"]
