"""Inventory files by script: out, in with a preview, and written only as it was shown."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.api.resources import inventory_files
from apps.inventory.exchange.files import MAX_BYTES
from apps.inventory.models import Change, Disk, Host, InventoryImport
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.api.conftest import content
from tests.conftest import Cast

pytestmark = pytest.mark.django_db
AT = "/api/v1/inventory/"
DISKS = b"host,serial,model,capacity_bytes\nnode1,S1,ST4000,4 TB\nnode1,S2,ST4000,4 TB\n"
Sent = Callable[..., Any]


@pytest.fixture
def node(cast: Cast) -> Host:
    with lab_scope(cast.lab.pk):
        host = Host.objects.create(lab=cast.lab, name="node1", kernel="6.1")
        Disk.objects.create(lab=cast.lab, host=host, serial="S1", model="ST4000")
        Host.objects.create(lab=cast.lab, name="node2")
    return host


@pytest.fixture
def send(token: Callable[[str], str]) -> Sent:
    def sent(content: bytes, name: str = "disks.csv", scope: str = "admin", **more: str) -> Any:
        head = {"Authorization": f"Bearer {token(scope)}"}
        return Client().post(f"{AT}imports/", {"file": SimpleUploadedFile(name, content), **more}, headers=head)

    return sent


def test_the_whole_inventory_goes_out_as_json_and_as_tables(reader: Any, node: Host) -> None:
    document = json.loads(content(reader.get(f"{AT}export/")))
    assert [row["name"] for row in document["hosts"]] == ["node1", "node2"]
    assert document["disks"][0]["key"] == "serial/ST4000/S1"
    tables = reader.get(f"{AT}export/?format=csv")
    with zipfile.ZipFile(io.BytesIO(content(tables))) as archive:
        assert archive.namelist() == ["hosts.csv", "disks.csv"]
    assert tables.headers["Content-Type"] == "application/zip"
    table = reader.get(f"{AT}export/?format=csv&kind=disks&host=node1")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert content(table).decode().splitlines()[1].startswith("serial/ST4000/S1,node1")
    of_one = json.loads(content(reader.get(f"{AT}export/?host={node.pk}")))
    assert [row["name"] for row in of_one["hosts"]] == ["node1"]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [("kind=pigs", 400, "found 'pigs', expected one of: hosts"), ("host=node9", 404, "found 'node9'"), ("format=xml", 406, "xml")],
)  # fmt: skip
def test_what_cannot_go_out_is_a_problem_that_says_why(
    reader: Any, node: Host, query: str, status: int, said: str
) -> None:
    answer = reader.get(f"{AT}export/?{query}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert said in answer.json()["detail"]


def test_a_file_is_looked_at_first_and_then_written_as_it_was_shown(
    send: Sent, script: Any, cast: Cast, node: Host
) -> None:
    shown = send(DISKS)
    assert shown.status_code == 201
    body = shown.json()
    assert set(body) == set(inventory_files.InventoryPreviewSerializer().fields)
    assert body["counts"] == {"created": 1, "changed": 1, "unchanged": 0, "refused": 0}
    assert [(row["act"], row["where"]) for row in body["entries"]] == [
        ("changed", "disks.csv line 2"),
        ("created", "disks.csv line 3"),
    ]
    assert {"field": "capacity_bytes", "before": None, "after": 4 * 10**12} in body["entries"][0]["changes"]
    admin = script("admin")
    assert admin.get(body["url"].partition("testserver")[2]).json() == body
    with lab_scope(cast.lab.pk):
        assert Disk.objects.count() == 1
    done = admin("POST", f"inventory/imports/{body['id']}/apply/", json.dumps({"digest": body["digest"]}))
    assert (done.status_code, done.json()["state"], done.json()["counts"]["created"]) == (200, "applied", 1)
    with lab_scope(cast.lab.pk):
        assert Disk.objects.get(serial="S2").capacity_bytes == 4 * 10**12
        assert Change.objects.filter(row_kind="disk").first().who["by"] == "import"
    again = admin("POST", f"inventory/imports/{body['id']}/apply/", json.dumps({"digest": body["digest"]}))
    assert (again.status_code, again.json()["found"]) == (409, "applied")
    listed = admin.get("inventory/imports/").json()["results"]
    assert [(one["id"], one["state"], one["counts"]["changed"]) for one in listed] == [(body["id"], "applied", 1)]


def test_a_preview_of_another_day_is_answered_with_todays(send: Sent, script: Any, cast: Cast, node: Host) -> None:
    body = send(b"name,kernel\nnode1,6.9\n", "hosts.csv").json()
    with lab_scope(cast.lab.pk):
        Host.objects.update(kernel="6.5")
    stale = script("admin")("POST", f"inventory/imports/{body['id']}/apply/", json.dumps({"digest": body["digest"]}))
    assert (stale.status_code, stale.json()["field"]) == (409, "digest")
    [entry] = stale.json()["preview"]["entries"]
    assert {"field": "kernel", "before": "6.5", "after": "6.9"} in entry["changes"]
    assert stale.json()["preview"]["digest"] != body["digest"]
    with lab_scope(cast.lab.pk):
        assert Host.objects.get(name="node1").kernel == "6.5"


def test_a_file_that_cannot_be_read_says_where_and_is_not_kept(send: Sent, cast: Cast) -> None:
    answer = send(b"name,colour\na,b\n", "hosts.csv")
    problem = answer.json()
    assert (answer.status_code, problem["where"], problem["found"]) == (400, "hosts.csv line 1", "colour")
    assert problem["expected"].startswith("one of: key, name")
    assert send(b"serial\nS\n", "mine.csv", kind="pigs").json()["field"] == "kind"
    large = send(b"x" * (MAX_BYTES + 1))
    said = "file: found 20971521 bytes, expected at most 20971520."
    assert (large.status_code, large.json()["detail"]) == (413, said)
    with lab_scope(cast.lab.pk):
        assert not InventoryImport.objects.exists()
    assert send(b"serial\nS\n", "mine.csv", kind="disks").status_code == 201


@pytest.mark.parametrize("scope", ["read", "upload", "run"])
def test_bringing_in_needs_an_admin_token(send: Sent, cast: Cast, scope: str) -> None:
    assert send(DISKS, scope=scope).status_code == 403
    with lab_scope(cast.lab.pk):
        assert not InventoryImport.objects.exists()


def test_a_published_labs_imports_are_not_ours(send: Sent, script: Any, cast: Cast) -> None:
    Lab.objects.filter(pk=cast.other_lab.pk).update(is_published=True)
    with lab_scope(cast.other_lab.pk):
        theirs = InventoryImport.of(b"name\nx", lab=cast.other_lab, name="hosts.csv", created_by="stranger")
        theirs.save()
    assert script("admin").get(f"inventory/imports/{theirs.pk}/").status_code == 404
    assert script("admin").get("inventory/imports/").json()["results"] == []


def test_the_digest_is_asked_for_by_name(send: Sent, script: Any, cast: Cast, node: Host) -> None:
    body = send(DISKS).json()
    answer = script("admin")("POST", f"inventory/imports/{body['id']}/apply/", "{}")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "digest")
