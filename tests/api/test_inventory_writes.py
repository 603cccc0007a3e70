"""Scripts make, change and delete inventory by the rules of the pages, in base units."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.inventory.models import Array, ArrayMember, Change, Disk, Host, PathSection
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.api.conftest import Script
from tests.conftest import Cast
from tests.inventory.editing.parts import Machine, machine
from tests.sampling import for_each


@pytest.fixture
def ours(cast: Cast) -> Machine:
    with lab_scope(cast.lab.pk):
        return machine(cast.lab)


@pytest.fixture
def admin(script: Callable[[str], Script]) -> Script:
    return script("admin")


def test_a_part_is_made_read_changed_and_deleted(cast: Cast, admin: Script, ours: Machine) -> None:
    made = admin(
        "POST",
        "disks/",
        {"host": ours.host.pk, "serial": "Z1", "capacity_bytes": 4 * 10**12, "absent": {"firmware": "not_printed"}},
    )
    assert made.status_code == 201
    pk = made.json()["id"]
    assert made.headers["Location"].endswith(f"/api/v1/disks/{pk}/")
    assert (made.json()["capacity_bytes"], made.json()["absent"], made.json()["sources"]["capacity_bytes"]) == (
        4 * 10**12, {"firmware": "not_printed"}, "typed",
    )  # fmt: skip
    changed = admin("PATCH", f"disks/{pk}/", {"rpm": 7200, "labels": {"tray": "4"}})
    assert (changed.status_code, changed.json()["rpm"], changed.json()["labels"]) == (200, 7200, {"tray": "4"})
    assert [one["id"] for one in admin.get("disks/?label=tray%3D4").json()["results"]] == [pk]
    with lab_scope(cast.lab.pk):
        assert Change.objects.of_part("disk", pk).first().who["by"] == "token"
    assert admin("DELETE", f"disks/{pk}/").status_code == 204
    assert admin.get(f"disks/{pk}/").status_code == 404


def test_every_kind_can_be_written(cast: Cast, admin: Script, ours: Machine) -> None:
    host = ours.host.pk
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("hosts", {"name": "node8", "sysctl": {"vm.swappiness": "1"}}), ("controllers", {"host": host, "name": "FC", "kind": "fc"}),
        ("filesystems", {"host": host, "type": "ext4", "mount_point": "/var"}), ("targets", {"host": host, "name": "/var", "path": "/var"}),
        ("enclosures", {"host": host, "name": "JBOD", "layout": [{"label": "top", "slots": ["d0", None, "d1"]}]}),
        ("nics", {"host": host, "name": "eth0", "bits_per_second": 10**10}), ("switches", {"name": "sw"}),
    ]  # fmt: skip
    keys = {}
    for name, body in bodies:
        answer = admin("POST", f"{name}/", body)
        assert answer.status_code == 201, answer.json()
        keys[name] = answer.json()["id"]
        assert admin("PATCH", f"{name}/{keys[name]}/", {"notes": "seen"}).json()["notes"] == "seen"
    link = admin("POST", "network-links/", {"nic": keys["nics"], "far_switch": keys["switches"]})
    assert link.status_code == 201
    sections = [{"name": "server – T2000", "link": "FC-2G", "count": 4, "standby_count": 1, "bytes_per_second": 10**9}]
    path = admin("POST", "storage-paths/", {"host": host, "name": "SAN", "sections": sections})
    assert (path.status_code, path.json()["sections"][0]["standby_count"]) == (201, 1)
    with lab_scope(cast.lab.pk):
        assert PathSection.objects.get().bytes_per_second == 10**9


def test_members_are_given_in_order(cast: Cast, admin: Script, ours: Machine) -> None:
    disks = [ours.disks[7].pk]
    members: list[dict[str, Any]] = [{"disk": disks[0], "partition": "sdh1"}]
    made = admin("POST", "arrays/", {"host": ours.host.pk, "name": "md9", "level": "0", "members": members})
    assert made.json()["members"] == [
        {"position": 0, "disk": disks[0], "array": None, "partition": "sdh1", "state": None}
    ]
    looped = admin("PATCH", f"arrays/{ours.md0.pk}/", {"members": [{"array": ours.md2.pk}]})
    assert (looped.status_code, "lies on md0 itself" in looped.json()["detail"]) == (400, True)
    with lab_scope(cast.lab.pk):
        assert ArrayMember.objects.filter(array=ours.md0).count() == 4
        assert Array.objects.get(name="md9").sources["level"] == "typed"


@for_each(
    "body, field, said",
    [
        ({"capacity_bytes": "4 TB"}, "capacity_bytes", "expected a whole number in base units or null"),
        ({"capacity_bytes": True}, "capacity_bytes", "expected a whole number in base units or null"),
        ({"capacity_bytes": -1}, "capacity_bytes", "expected at least 0"),
        ({"capacity_bytes": 2**80}, "capacity_bytes", "less than or equal to"),
        ({"controller": 10**9}, "controller", "expected the id of a controller of this lab, or null"),
        ({"interface": "USB"}, "interface", "not a valid choice"),
        ({"serial": "node7-b"}, "serial", "another disk of this lab"),
        ({"serial": "a\0b"}, "serial", "found a NUL character (\\u0000) in serial, expected text without it"),
        ({"labels": {"rack": "a\0b"}}, "labels.rack", "expected text without it"),
        ({"size": 4}, "size", "found a field that cannot be set"),
        ({"absent": {"capacity_bytes": "none"}}, "capacity_bytes", "expected one of the two"),
        ({"absent": {"rpm": "lost"}}, "absent", "expected a field with one of: not_printed, unknown, none"),
        ({"labels": ["a"]}, "labels", "expected names with values"),
        ({"labels": {"a=b": "c"}}, "labels", "and no ="),
    ],
)
def test_what_cannot_be_is_refused_with_field_found_and_expected(
    cast: Cast, admin: Script, ours: Machine, body: dict[str, Any], field: str, said: str
) -> None:
    refused = admin("PATCH", f"disks/{ours.disks[0].pk}/", body)
    assert refused.status_code == 400
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert [one["field"] for one in refused.json()["errors"]] == [field]
    assert said in refused.json()["errors"][0]["detail"]
    with lab_scope(cast.lab.pk):
        assert Disk.objects.get(pk=ours.disks[0].pk).updated_at == ours.disks[0].updated_at


@pytest.mark.slow
@for_each(
    "kind, body",
    [
        ("hosts", []),
        ("hosts", '"text"'),
        ("hosts", {}),
        ("hosts", {"name": None}),
        ("hosts", {"name": "x" * 10_000}),
        ("hosts", {"name": "\ud800"}),
        ("hosts", {"name": "h", "sysctl": {"a": {"b": [1]}}}),
        ("hosts", {"name": "h", "labels": {"a": {"b": 1}}}),
        ("hosts", {"name": "h", "labels": {"a": "\0"}}),
        ("hosts", {"name": "h", "notes": 7}),
        ("hosts", {"name": "h", "absent": []}),
        ("hosts", {"name": "h", "id": 1, "lab": 2}),
        ("disks", {"host": {"id": 1}}),
        ("disks", {"host": -(2**70)}),
        ("arrays", {"name": "a"}),
        ("arrays", {"name": "a", "members": [1]}),
        ("arrays", {"name": "a", "members": {"disk": 1}}),
        ("enclosures", {"name": "e", "layout": [{"slots": ["c0d0", "c0d0"]}]}),
        ("enclosures", {"name": "e", "boot_slots": [[]]}),
        ("network-links", {}),
        ("storage-paths", {"name": "p", "sections": [{"name": "", "count": 0}]}),
    ],
)
def test_no_body_breaks_the_server_or_makes_a_part(
    cast: Cast, admin: Script, ours: Machine, kind: str, body: Any
) -> None:
    if isinstance(body, dict) and kind not in ("hosts", "network-links") and "host" not in body:
        body = {**body, "host": ours.host.pk} if kind != "arrays" or "members" in body else body
    with lab_scope(cast.lab.pk):
        before = Change.objects.count()
    refused = admin("POST", f"{kind}/", body)
    assert refused.status_code == 400, refused.content
    assert (
        "expected" in refused.json()["detail"]
        or "Ensure" in refused.json()["detail"]
        or "cannot be blank" in refused.json()["detail"]
    )
    with lab_scope(cast.lab.pk):
        assert Change.objects.count() == before


def test_a_change_of_an_old_version_is_refused_with_the_difference(admin: Script, ours: Machine) -> None:
    address = f"disks/{ours.disks[0].pk}/"
    tag = admin.get(address).headers["ETag"]
    assert admin("PATCH", address, {"rpm": 7200}, **{"If-Match": tag}).status_code == 200
    stale = admin("PATCH", address, {"rpm": 10000}, **{"If-Match": tag})
    assert stale.status_code == 412
    assert stale.json()["changes"][0]["fields"] == [{"field": "turns per minute", "before": "unknown", "after": "7200"}]
    assert admin("DELETE", address, **{"If-Match": tag}).status_code == 412
    assert admin("PATCH", address, {"rpm": 5400}, **{"If-Match": '"disk-1"'}).status_code == 412


def test_evidence_cannot_be_deleted(cast: Cast, admin: Script, ours: Machine) -> None:
    with lab_scope(cast.lab.pk):
        Run.objects.create(lab=cast.lab, tool="fio", origin="uploaded", host=ours.host)
    refused = admin("DELETE", f"hosts/{ours.host.pk}/")
    assert (refused.status_code, refused.json()["reasons"]) == (409, ["1 run: parts with runs cannot be deleted."])
    assert admin("DELETE", f"disks/{ours.disks[0].pk}/").json()["reasons"] == [
        "It is a member of md0 in node7; take it out of there first."
    ]


def test_only_admin_tokens_and_engineers_write(
    cast: Cast, script: Callable[[str], Script], sign_in: Any, ours: Machine
) -> None:
    for scope in ("read", "upload", "run"):
        assert script(scope)("POST", "switches/", {"name": scope}).status_code == 403
    assert (
        sign_in("viewer").post("/api/v1/switches/", {"name": "v"}, content_type="application/json").status_code == 403
    )
    made = sign_in("engineer").post("/api/v1/switches/", {"name": "e"}, content_type="application/json")
    assert made.status_code == 201
    with lab_scope(cast.lab.pk):
        assert Change.objects.filter(part_kind="switch").get().who["name"] == "engineer@example.org"


def test_another_labs_part_can_be_neither_changed_nor_referred_to(cast: Cast, admin: Script, ours: Machine) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Host.objects.create(lab=cast.other_lab, name="theirs")
    assert admin("PATCH", f"hosts/{theirs.pk}/", {"role": "x"}).status_code == 404
    refused = admin("POST", "disks/", {"host": theirs.pk, "serial": "Q"})
    assert refused.json()["errors"][0]["detail"].endswith("expected the id of a host of this lab, or null")
