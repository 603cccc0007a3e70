"""The form that finds runs, in labs of few hosts and of many."""

from typing import Any

import pytest

from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedSample
from apps.runs import filters
from apps.runs.models import Run, Workload
from apps.runs.samples import save_samples
from tests.sampling import for_each
from tests.statements import statements

pytestmark = pytest.mark.django_db


@pytest.fixture
def hosts(lab: Any) -> dict[str, Host]:
    return {name: Host.objects.create(lab=lab, name=name) for name in ("db1", "db12", "web1", "2026")}


@pytest.fixture
def run_of(lab: Any, hosts: dict[str, Host]) -> dict[str, Run]:
    return {
        name: Run.objects.create(lab=lab, tool="dd", origin="uploaded", state="finished", host=host)
        for name, host in hosts.items()
    }


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch, hosts: dict[str, Host]) -> None:
    monkeypatch.setattr(filters, "MOST_HOSTS", len(hosts) - 1)


def found(sign_in: Any, asked: object) -> set[str]:
    page = sign_in("viewer").get("/runs/", {"host": asked})
    return {row.host_name for row in page.context["page"]}


def test_few_hosts_are_a_list_to_choose_from(run_of, hosts, sign_in):
    page = sign_in("viewer").get("/runs/", {"host": hosts["db1"].pk}).content.decode()
    assert f'<option value="{hosts["db1"].pk}" selected>db1</option>' in page
    assert f'<option value="{hosts["web1"].pk}">web1</option>' in page


def test_of_many_hosts_one_types_the_name(run_of, hosts, many, sign_in):
    page = sign_in("viewer").get("/runs/", {"host": hosts["db1"].pk}).content.decode()
    assert ">web1</option>" not in page
    assert '<input type="search" name="host" value="db1"' in page
    assert 'placeholder="the beginning of its name"' in page


@for_each(
    "asked, names",
    [
        ("db", {"db1", "db12"}),
        ("DB1", {"db1", "db12"}),
        ("db1", {"db1"}),
        ("2026", {"2026"}),
        ("202", {"2026"}),
        ("b1", set()),
        ("", {"db1", "db12", "web1", "2026"}),
    ],
)
def test_a_host_is_found_by_its_name_or_the_beginning_of_it(run_of, sign_in, asked, names):
    assert found(sign_in, asked) == names


def test_a_number_is_the_one_of_a_link(run_of, hosts, sign_in):
    assert found(sign_in, hosts["db1"].pk) == {"db1"}


def test_a_name_that_is_in_the_address_of_a_small_lab_stays_in_the_form(run_of, sign_in):
    page = sign_in("viewer").get("/runs/", {"host": "db"}).content.decode()
    assert '<input type="search" name="host" value="db"' in page


def test_another_labs_hosts_are_neither_offered_nor_found(run_of, cast, sign_in):
    with lab_scope(cast.other_lab.pk):
        Host.objects.create(lab=cast.other_lab, name="db-secret")
    assert "db-secret" not in sign_in("viewer").get("/runs/").content.decode()
    assert found(sign_in, "db-") == set()


@for_each("asked", ["9" * 30, "²", "%", "_"])
def test_what_is_no_host_is_no_error(run_of, sign_in, asked):
    assert sign_in("viewer").get("/runs/", {"host": asked}).status_code == 200


def test_what_is_asked_and_sent_does_not_grow_with_the_hosts(lab, sign_in):
    viewer, sizes, asked = sign_in("viewer"), [], []
    for n in (300, 1200):
        Host.objects.bulk_create(Host(lab=lab, name=f"host {n} {i}") for i in range(n))
        asked.append(len(statements(lambda: viewer.get("/runs/"))))
        sizes.append(len(viewer.get("/runs/").content))
    assert asked[0] == asked[1]
    assert sizes[1] < sizes[0] + 100


@for_each(
    "asked, count",
    [("char write", 1), ("Char_Write", 1), ("read", 1), ("randread", 1), ("writing", 0)],
    taken_back=True,
)
def test_a_run_is_found_by_the_operations_that_its_row_shows(lab, sign_in, asked, count):
    for operation in ("char_write", "read"):
        run = Run.objects.create(lab=lab, tool="bonnie", origin="uploaded", state="finished")
        save_samples(run, [ParsedSample(operation, "bandwidth", 1.0, printed="1")])
    spec = {"jobs": [{"name": "a", "rw": "randread"}]}
    workload = Workload.objects.create(lab=lab, tool="fio", sha256="0" * 64, spec=spec)
    Run.objects.create(lab=lab, tool="fio", origin="dispatched", state="finished", workload=workload)
    assert len(sign_in("viewer").get("/runs/", {"q": asked}).context["page"]) == count


@for_each("word, names", [("new cable", {"db1"}), ("NEW", {"db1"}), ("cable=", {"web1"}), ("cat 6a", {"web1"}), ("cable=cat", {"web1"}),
     ('6"', {"db12"}), ("cable", {"db1", "web1"}), ("=cat 6a\ncable", set())], taken_back=True)  # fmt: skip
def test_find_looks_into_notes_and_labels(run_of, sign_in, word, names):
    Run.objects.filter(pk=run_of["db1"].pk).update(note="With the new cable, see the rack's book.")
    Run.objects.filter(pk=run_of["web1"].pk).update(labels={"cable": "cat 6a", "room": "2"})
    Run.objects.filter(pk=run_of["db12"].pk).update(labels={"disk size": '6"'})
    page = sign_in("viewer").get("/runs/", {"q": word})
    assert {row.host_name for row in page.context["page"]} == names
