"""Lists in REST obey the filters of the pages, and refuse a filter that they do not have."""

from collections.abc import Callable

import pytest

from apps.inventory.editing.registry import KINDS
from apps.inventory.filters import filterset_of
from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from tests.api.conftest import Script
from tests.conftest import Cast
from tests.dashboard import world

# Lists that any token may read, beside those of the inventory.
OTHER_LISTS = (
    "claims",
    "comparisons",
    "inventory/imports",
    "labs",
    "plans",
    "snapshots",
    "studies",
    "trends",
    "uploads",
)


@pytest.fixture
def hosts(cast: Cast) -> list[Host]:
    with lab_scope(cast.lab.pk):
        return [world.raid_host(cast.lab, name) for name in ("storage1", "storage2")]


@pytest.fixture
def read(script: Callable[[str], Script]) -> Script:
    return script("read")


def count(script: Script, address: str) -> int:
    answer = script.get(address)
    assert answer.status_code == 200, answer.content
    return len(answer.json()["results"])


def test_disks_are_filtered_by_each_kind_of_field(read: Script, hosts: list[Host]) -> None:
    everything = count(read, "disks/")
    one = count(read, f"disks/?host={hosts[0].pk}")
    assert 0 < one < everything == 2 * one
    assert count(read, "disks/?host=storage1") == one
    assert count(read, "disks/?host=storage1&host=storage2") == everything
    assert count(read, "disks/?host=nobody") == 0
    disks = read.get("disks/?host=storage1").json()["results"]
    assert {disk["host"] for disk in disks} == {hosts[0].pk}
    largest = max(disk["capacity_bytes"] for disk in disks)
    assert count(read, f"disks/?host=storage1&capacity_bytes_min={largest}") == sum(
        disk["capacity_bytes"] == largest for disk in disks
    )
    assert count(read, f"disks/?host=storage1&capacity_bytes_max={largest - 1}") == sum(
        disk["capacity_bytes"] < largest for disk in disks
    )
    interface = disks[0]["interface"]
    assert count(read, f"disks/?host=storage1&interface={interface}") == sum(
        disk["interface"] == interface for disk in disks
    )
    assert count(read, "disks/?host=storage1&is_present=false") == sum(not disk["is_present"] for disk in disks)
    model = disks[0]["model"]
    assert count(read, f"disks/?model={model.lower()}") == 2 * sum(disk["model"] == model for disk in disks)


@pytest.mark.slow
def test_every_kind_has_a_filter_for_its_fields_and_refuses_others(read: Script, hosts: list[Host]) -> None:
    for kind in KINDS:
        address = f"{kind.plural}/"
        assert count(read, f"{address}?q=zzzzzz") == 0, kind
        assert count(read, f"{address}?label=nothing") == 0, kind
        if kind.has_host:
            assert count(read, f"{address}?host=nobody") == 0, kind
        answer = read.get(f"{address}?colour=red")
        assert answer.status_code == 400, kind
        problem = answer.json()
        assert (problem["field"], problem["found"]) == ("colour", "red")
        for name in filterset_of(kind).base_filters:
            assert name in problem["expected"]


def test_what_a_filter_cannot_read_is_named(read: Script, hosts: list[Host]) -> None:
    for address, field in (
        ("disks/?interface=carrier-pigeon", "interface"),
        ("disks/?capacity_bytes_min=much", "capacity_bytes_min"),
        ("disks/?is_present=perhaps", "is_present"),
        ("disks/?controller=first", "controller"),
        (f"disks/?controller={'0' * 5000}1", "controller"),
    ):
        answer = read.get(address)
        assert answer.status_code == 400, address
        assert answer.json()["field"] == field
        assert answer.json()["found"] == address.partition("=")[2][:200]


def test_no_other_list_ignores_a_filter_that_it_does_not_have(read: Script) -> None:
    for name in OTHER_LISTS:
        assert read.get(f"{name}/").status_code == 200, name
        answer = read.get(f"{name}/?colour=red")
        assert (answer.status_code, answer.json()["field"]) == (400, "colour"), name
