"""Snapshots: the same state is the same row for ever, another state is another row, and nothing rewrites one."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, Disk, Filesystem, Host, Snapshot, Target
from apps.inventory.snapshots.content import canonical, content_of, freeze
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.conftest import Cast
from tests.inventory import hosts

pytestmark = pytest.mark.services


@pytest.fixture
def target(lab: Lab) -> Target:
    receive(hosts.host(lab), hosts.raid50())
    found: Target = Target.objects.get()
    return found


def test_freezing_twice_gives_one_row(target: Target) -> None:
    assert freeze(target) == freeze(target)
    assert Snapshot.objects.count() == 1


def test_the_sha256_is_that_of_the_canonical_json_as_stored(target: Target) -> None:
    snapshot = Snapshot.objects.get(pk=freeze(target).pk)
    assert hashlib.sha256(canonical(snapshot.content)).hexdigest() == snapshot.sha256
    assert canonical({"b": 1, "a": "é"}) == b'{"a":"\\u00e9","b":1}'


@pytest.mark.parametrize("model", [Host, Disk, Array, Filesystem])
def test_another_state_of_any_layer_is_another_snapshot(target: Target, model: type) -> None:
    field = {Host: "kernel", Disk: "firmware", Array: "state", Filesystem: "mount_options"}[model]
    before = freeze(target)
    model.objects.update(**{field: "other"})
    after = freeze(target)
    assert (after == before, Snapshot.objects.count()) == (False, 2)
    assert Snapshot.objects.get(pk=before.pk).content == before.content


def test_fullness_notes_times_and_sources_are_no_part_of_it(target: Target) -> None:
    before = freeze(target)
    Filesystem.objects.update(used_bytes=1, free_bytes=2, notes="nearly full")
    Disk.objects.update(sources={}, notes="bought in May")
    for disk in Disk.objects.all():
        disk.save()  # moves updated_at
    assert freeze(target) == before


def test_no_ids_and_no_times_are_in_the_content(target: Target) -> None:
    keys: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            keys.update(node)
            [walk(child) for child in node.values()]
        elif isinstance(node, list):
            [walk(child) for child in node]

    walk(content_of(target))
    assert not {key for key in keys if key == "id" or key.endswith(("_id", "_at"))}


def test_the_same_machine_in_another_lab_has_its_own_row(cast: Cast) -> None:
    for lab in (cast.lab, cast.other_lab):
        with lab_scope(lab.pk):
            receive(hosts.host(lab), hosts.guest())
            freeze(Target.objects.get())
            assert Snapshot.objects.get().lab_id == lab.pk


def test_a_snapshot_is_never_changed(target: Target) -> None:
    snapshot = freeze(target)
    snapshot.facts = {}
    with pytest.raises(TypeError, match="never changed"):
        snapshot.save()


def test_labels_are_evidence(target: Target) -> None:
    before = freeze(target)
    Host.objects.update(labels={"rack": "3"})
    assert freeze(target) != before


@pytest.mark.django_db(transaction=True)
def test_many_at_once_make_one_row() -> None:
    lab = Lab.objects.create(name="Race", slug="race")
    with lab_scope(lab.pk):
        receive(hosts.host(lab), hosts.guest())
        target = Target.objects.get()

    def one(_: int) -> int:
        try:
            with lab_scope(lab.pk):
                return freeze(target).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(one, range(24)))) == 1
    with lab_scope(lab.pk):
        assert Snapshot.objects.count() == 1


def test_content_is_plain_json(target: Target) -> None:
    content = content_of(target)
    assert json.loads(json.dumps(content)) == content
    assert content["storage"]["members"][1]["members"][3]["state"] == "spare"
