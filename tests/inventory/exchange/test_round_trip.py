"""What goes out comes in again, to the last field: absent and sources, notes and labels, nested arrays, cables, paths, slots."""

import json
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.files import read
from apps.inventory.exchange.importer import bring_in, preview
from apps.inventory.exchange.registry import BY_NAME, KINDS
from apps.inventory.exchange.writers import csv_pieces, json_pieces, zip_pieces
from apps.inventory.models import Array, ArrayMember, Change, Disk, Host
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.inventory.exchange import whole

pytestmark = pytest.mark.django_db
FORMS = {"json": json_pieces, "zip": zip_pieces}
Document = dict[str, Any]


@pytest.fixture
def empty() -> Lab:
    return Lab.objects.create(name="Empty", slug="empty")


def exported(lab: Lab, host: Host | None = None) -> Document:
    found: Document = json.loads(b"".join(json_pieces(Outgoing(lab, host))))
    return found


def files_of(lab: Lab) -> list[tuple[str, bytes]]:
    return [(f"inventory.{form}", b"".join(made(Outgoing(lab)))) for form, made in FORMS.items()]


@pytest.mark.parametrize("form", [0, 1], ids=["json", "csv"])
def test_an_empty_lab_gets_the_same_inventory(full: Lab, empty: Lab, form: int) -> None:
    before = exported(full)
    assert all(before[kind.name] for kind in KINDS)
    name, data = files_of(full)[form]
    outcome = bring_in(empty, read(data, name), "engineer")
    assert [one for one in outcome.entries if one.problems] == []
    assert outcome.counts == {
        "created": sum(len(before[kind.name]) for kind in KINDS),
        "changed": 0,
        "unchanged": 0,
        "refused": 0,
    }
    assert exported(empty) == before


@pytest.mark.parametrize("form", [0, 1], ids=["json", "csv"])
def test_into_the_lab_itself_it_changes_nothing(full: Lab, form: int) -> None:
    changes = Change.objects.count()
    name, data = files_of(full)[form]
    outcome = bring_in(full, read(data, name), "engineer")
    assert set(outcome.counts.values()) == {0, len(outcome.entries)}
    assert outcome.counts["unchanged"] == len(outcome.entries)
    assert Change.objects.count() == changes


def test_one_host_goes_out_with_what_belongs_to_it(full: Lab) -> None:
    document = exported(full, Host.objects.get(name="storage1"))
    assert [row["name"] for row in document["hosts"]] == ["storage1"]
    assert {row["host"] for row in document["disks"]} == {"storage1"}
    assert [row["name"] for row in document["switches"]] == ["@switch"]
    assert len(document["network-links"]) == 2


def test_text_that_looks_like_a_formula_is_harmless_and_comes_back(full: Lab, empty: Lab) -> None:
    Host.objects.filter(name="storage1").update(role="=cmd|' /C calc'!A0", notes="'quoted", board="-1", os="+49")
    hosts = BY_NAME["hosts"]
    text = b"".join(csv_pieces(hosts, Outgoing(full).rows(hosts))).decode()
    for cell in ("'=cmd|' /C calc'!A0", "''quoted", "'-1", "'+49"):
        assert cell in text
    bring_in(empty, read(text.encode(), "hosts.csv"), "engineer")
    with lab_scope(empty.pk):
        host = Host.objects.get(name="storage1")
    assert (host.role, host.notes, host.board, host.os) == ("=cmd|' /C calc'!A0", "'quoted", "-1", "+49")


def test_a_preview_writes_nothing(full: Lab, empty: Lab) -> None:
    rows = read(json.dumps(exported(full)).encode(), "inventory.json")
    assert preview(empty, rows).to_write == len(rows)
    assert exported(empty)["hosts"] == []
    assert preview(empty, rows).digest == bring_in(empty, rows, "engineer").digest


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
reasons = st.dictionaries(
    st.sampled_from(["model", "firmware", "rpm"]), st.sampled_from(["none", "unknown", "not_printed"])
)
origins = st.dictionaries(st.sampled_from(["model", "serial"]), st.sampled_from(["typed", "inferred", "discovered"]))
labels = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.one_of(words, st.integers(0, 9)), max_size=2)
disks = st.builds(
    dict, serial=st.one_of(st.just(""), names), wwn=st.one_of(st.just(""), names), device_name=words, vendor=words, model=words,
    capacity_bytes=st.one_of(st.none(), st.integers(0, 10**13)), is_solid_state=st.sampled_from([None, True, False]), notes=words,
    labels=labels, absent=reasons, sources=origins,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(names, unique=True, min_size=1, max_size=3), st.lists(disks, max_size=5), st.data())
def test_whatever_people_wrote_comes_back_as_it_was(
    lab: Lab, hosts: list[str], found: list[dict[str, Any]], data: Any
) -> None:
    with transaction.atomic():
        _furnish(lab, hosts, found, data)
        before = exported(lab)
        for number, (name, content) in enumerate(files_of(lab)):
            copy = Lab.objects.create(name=f"Copy {number}", slug=f"copy-{number}")
            outcome = bring_in(copy, read(content, name), "engineer")
            assert [one for one in outcome.entries if one.problems] == []
            assert exported(copy) == before
        assert files_of(lab)[0][1] == whole.as_json(whole.document_of(lab))
        transaction.set_rollback(True)


def _furnish(lab: Lab, hosts: list[str], found: list[dict[str, Any]], data: Any) -> None:
    rows = [Host.objects.create(lab=lab, name=name, labels=data.draw(labels)) for name in hosts]
    seen = set()
    for fields in found:
        if not fields["serial"] or (fields["serial"], fields["model"]) not in seen:
            seen.add((fields["serial"], fields["model"]))
            Disk.objects.create(lab=lab, host=data.draw(st.sampled_from([None, *rows])), **fields)
    for row in rows:
        top = Array.objects.create(
            lab=lab, host=row, name=data.draw(names), round=data.draw(st.sampled_from(["", "2", "a/b"]))
        )
        for position, disk in enumerate(Disk.objects.filter(host=row)):
            ArrayMember.objects.create(array=top, position=position * 2, disk=disk, state=data.draw(words))


def test_the_json_is_json_of_the_format(full: Lab) -> None:
    document = exported(full)
    assert (document["format"], document["version"]) == ("spindle inventory", 1)
    [md10] = [row for row in document["arrays"] if row["key"] == "storage1/md10"]
    assert [place["member_array"] for place in md10["members"]] == ["storage1/md0", "storage1/md1"]
    assert document["disks"][0]["key"].startswith("serial/ST4000NM0023/Z1Z")
