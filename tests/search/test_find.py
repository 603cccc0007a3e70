"""Search across everything: by the number that is printed on a disk, by half a name, by a hash, by a label; never in another's lab."""

import pytest
from django.db import connection
from django.urls import reverse

from apps.comparison.models import SavedComparison
from apps.inventory.models import Disk, Enclosure, Filesystem, Host, Nic, Snapshot, StoragePath, Switch
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.search.registry import KINDS
from apps.search.services import SearchHit, find, holds_words
from apps.studies.models import Study
from tests.dashboard import world
from tests.labs.world import SECRET_WORD, build
from tests.sampling import for_each

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def found(lab: Lab, asked: str) -> list[tuple[str, str]]:
    return [(hit.kind, hit.title) for group in find(asked, lab, 10) for hit in group.hits]


def hits_of(lab: Lab, asked: str, kind: str) -> list[SearchHit]:
    return [hit for group in find(asked, lab, 10) for hit in group.hits if hit.kind == kind]


@pytest.fixture
def host(lab: Lab) -> Host:
    return world.raid_host(lab, "storage1.example.org")


@pytest.fixture
def one_of_each(lab: Lab, host: Host) -> None:
    Disk.objects.filter(device_name="sda").update(serial="WD-WCC4N1234567", wwn="0x5000c500a1b2c3d4", host=host)
    Nic.objects.create(lab=lab, host=host, name="eth2", mac="e4:1d:2d:00:11:22")
    Switch.objects.create(lab=lab, name="nexus-3")
    Enclosure.objects.create(lab=lab, host=host, name="D1000 left")
    StoragePath.objects.create(lab=lab, host=host, name="fabric A")
    Study.objects.create(lab=lab, slug="infn-chain", title="The 10 GE chain")
    SavedComparison.objects.create(lab=lab, name="Ratios by level", query="", created_by="who")
    Host.objects.update(labels={"rack": "7"})


@pytest.mark.usefixtures("one_of_each")
@for_each(
    "asked, kind",
    [
        ("storage1.example.org", "hosts"), ("storage", "hosts"), ("EPYC", "hosts"), ("7302", "hosts"), ("SAS3008", "controllers"),
        ("wd-wcc4n1", "disks"), ("0x5000c500A1B2", "disks"), ("sdb", "disks"), ("/dev/md10", "arrays"), ("md10", "arrays"),
        ("/srv/data", "filesystems"), ("xfs data", "filesystems"), ("/srv/data/spindle", "targets"), ("e4:1d:2d", "nics"),
        ("nexus", "switches"), ("d1000", "enclosures"), ("fabric", "storage-paths"), ("chain", "studies"),
        ("ratios by level", "comparisons"), ("rack 7", "hosts"),
    ],
)  # fmt: skip
def test_each_kind_is_found_by_its_own_words(lab: Lab, asked: str, kind: str) -> None:
    assert kind in [name for name, _ in found(lab, asked)]


def test_parts_are_found_by_their_hosts_name_too(cast, lab: Lab, host: Host) -> None:
    Enclosure.objects.create(lab=lab, host=host, name="D1000 left")
    other = world.raid_host(lab, "archive1")
    names = {kind for kind, _ in found(lab, "storage1")}
    assert names == {"hosts", "controllers", "disks", "arrays", "filesystems", "targets", "enclosures"}
    assert found(lab, "storage1.example sdb") == [("disks", "sdb")]
    assert found(lab, "sdb archive1") == [("disks", "sdb")]
    [hit] = [hit for group in find("archive1 /srv/data", lab, 10) for hit in group.hits if hit.kind == "filesystems"]
    assert hit.detail.endswith("on archive1")
    assert hit.id == Filesystem.objects.get(host=other, mount_point="/srv/data").pk
    assert found(lab, "archive1 d1000") == []
    with lab_scope(cast.other_lab.pk):
        assert found(cast.other_lab, "archive1") == []


def test_an_exact_name_comes_before_one_that_begins_so_and_that_before_a_word(lab: Lab, host: Host) -> None:
    for name in ("node70", "old node7", "node7"):
        Host.objects.create(lab=lab, name=name)
    assert [title for _, title in found(lab, "node7")] == ["node7", "node70", "old node7"]


def test_all_words_must_be_there_and_nothing_else_is_asked(lab: Lab, host: Host) -> None:
    assert found(lab, "seagate nvme") == []
    assert ("disks", "sda") in found(lab, "st4000 seagate")
    assert found(lab, "' | !! :* & <->") == []
    assert found(lab, "") == []
    assert found(lab, "\0") == []


def test_runs_are_found_by_number_tool_host_and_label(lab: Lab) -> None:
    made = world.furnish(lab)
    Run.objects.filter(pk=made.queued.pk).update(labels={"cable": "old"})
    assert found(lab, f"run {made.finished.pk}")[0] == ("runs", f"run {made.finished.pk}")
    assert found(lab, str(made.finished.pk))[0] == ("runs", f"run {made.finished.pk}")
    assert {kind for kind, _ in found(lab, "fio storage1")} == {"runs"}
    assert found(lab, "cable old") == [("runs", f"run {made.queued.pk}")]
    assert found(lab, "cable=old")[0] == ("labels", "cable=old")


def test_runs_of_one_file_are_told_apart_by_their_captions(lab: Lab) -> None:
    made = world.furnish(lab)
    for run, caption in ((made.queued, "nightly reset 1"), (made.finished, "nightly reset 2 " + "x" * 200)):
        Run.objects.filter(pk=run.pk).update(labels={"caption": caption})
    first, second = (hit.detail for hit in hits_of(lab, "nightly", "runs"))
    assert {first.rpartition(", ")[2], second.rpartition(", ")[2][:15]} == {"nightly reset 1", "nightly reset 2"}
    assert max(len(first), len(second)) < 140


def test_snapshots_are_found_by_the_beginning_of_their_hash(lab: Lab) -> None:
    made = world.furnish(lab)
    snapshot = Snapshot.objects.get(pk=made.finished.snapshot_id)
    for beginning in (snapshot.sha256[:6], snapshot.sha256.upper(), snapshot.sha256[:12]):
        assert ("snapshots", str(snapshot)) in found(lab, beginning)


def test_the_own_lab_comes_before_published_ones_and_those_are_marked(cast, lab: Lab, sign_in) -> None:
    reports = Lab.objects.create(name="Reports", slug="reports", is_published=True)
    with lab_scope(reports.pk):
        Host.objects.create(lab=reports, name="aaa thumper")
    Host.objects.create(lab=lab, name="zzz thumper")
    page = sign_in("viewer").get(reverse("search"), {"q": "thumper"})
    [group] = page.context["groups"]
    assert [(hit.title, hit.is_own) for hit in group.hits] == [("zzz thumper", True), ("aaa thumper", False)]
    assert page.content.decode().count('<span class="chip chip-plain"') == 1


@pytest.mark.slow
def test_another_labs_objects_are_never_found(cast, sign_in, token) -> None:
    build(cast.other_lab)
    for asked in (SECRET_WORD, "xyzzy", "00000000", f"word={SECRET_WORD}"):
        page = sign_in("owner").get(reverse("search"), {"q": asked})
        assert page.context["groups"] == []
        answer = sign_in("owner").get("/api/v1/search/", {"q": asked})
        assert answer.json()["results"] == []


def test_everything_of_the_own_lab_is_found(cast, sign_in) -> None:
    build(cast.lab)
    page = sign_in("viewer").get(reverse("search"), {"q": SECRET_WORD})
    kinds = {group.name for group in page.context["groups"]}
    assert kinds >= {
        "hosts",
        "controllers",
        "disks",
        "arrays",
        "filesystems",
        "targets",
        "runs",
        "uploads",
        "comparisons",
    }


def test_the_number_of_queries_does_not_grow(lab: Lab, host: Host, django_assert_num_queries) -> None:
    for number in range(12):
        world.boot_disk(host, f"nvme9n{number}", f"/mnt/{number}")
    with django_assert_num_queries(1 + len([kind for kind in KINDS if kind.words])):
        assert len(found(lab, "nvme9n")) == 30  # ten disks, ten filesystems, ten targets


def test_every_kind_is_asked_through_its_index(db: None) -> None:
    """The registry's text must be the index's, to the letter: otherwise a large lab is read from end to end."""
    with all_labs(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        for kind in KINDS:
            if kind.words:
                rows = kind.model._default_manager.filter(holds_words(kind.model, kind.words, "abc")).order_by()
                assert f"{kind.model._meta.db_table}_words" in rows.explain(), kind.name


def test_the_list_under_the_field_is_a_fragment_with_few_of_each(lab: Lab, host: Host, sign_in) -> None:
    answer = sign_in("viewer").get(reverse("search"), {"q": "sd"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in answer
    assert answer.count('class="found"') == 5
    assert "All results" in answer


def test_the_page_of_one_kind_shows_more_of_it(lab: Lab, host: Host, sign_in) -> None:
    for number in range(20):
        Filesystem.objects.create(lab=lab, host=host, type="ext4", mount_point=f"/mnt/many{number}")
    client = sign_in("viewer")
    assert len(client.get(reverse("search"), {"q": "many"}).context["groups"][0].hits) == 12
    assert len(client.get(reverse("search"), {"q": "many", "kind": "filesystems"}).context["groups"][0].hits) == 20


def test_the_rest_interface_gives_the_same(lab: Lab, host: Host, token, client) -> None:
    answer = client.get("/api/v1/search/", {"q": "md10"}, headers={"Authorization": f"Bearer {token('read')}"}).json()
    assert answer["results"][0] | {"id": 0, "page": "", "lab": 0} == {
        "kind": "arrays", "id": 0, "title": "md10", "detail": "RAID 0, on storage1.example.org", "rank": "exact",
        "page": "", "api": None, "lab": 0, "is_own": True,
    }  # fmt: skip
    wrong = client.get(
        "/api/v1/search/", {"q": "md10", "kind": "pigs"}, headers={"Authorization": f"Bearer {token('read')}"}
    )
    assert wrong.status_code == 400
    assert "pigs" in wrong.json()["detail"]


@pytest.mark.parametrize("most", [2, 1000])
def test_runs_come_newest_first_whether_few_or_many_have_the_word(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("apps.search.services.MOST_PUT_IN_ORDER", most)
    made = [Run.objects.create(lab=lab, tool="fio", state="finished", labels={"case": "bay"}) for _ in range(4)]
    Run.objects.create(lab=lab, tool="fio", state="finished")
    assert [hit.id for hit in hits_of(lab, "bay", "runs")] == [run.pk for run in reversed(made)]
    assert hits_of(lab, "nobody", "runs") == []
