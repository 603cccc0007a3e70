"""Runs are filtered alike on their page and in REST."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.runs.filters import INPUTS, RunFilterSet
from apps.runs.models import Run
from apps.runs.states import State
from apps.studies.models import Configuration, Study, StudyRun
from apps.uploads.models import Upload, UploadedFile, UploadedRun
from tests.api.conftest import Script
from tests.comparison.factories import run, sample, target
from tests.conftest import Cast
from tests.sampling import for_each


@pytest.fixture
def seen(cast: Cast) -> dict[str, Run]:
    """Return four runs that differ in what the filters look at."""
    lab = cast.lab
    with lab_scope(lab.pk):
        runs = {
            "queued": run(lab, target(lab, "kestrel"), state=State.QUEUED),
            "old": run(lab, target(lab, "kestrel"), tool_version="fio-2.21", repetition=7, labels={"rack": "C3"}),
            "other": run(lab, target(lab, "merlin", "pool"), tool="dd", origin="uploaded", workload=None),
            "facts": run(
                lab,
                target(lab, "merlin"),
                facts={"raid_level": 6, "rw": "randread", "sync": "none"},
                workload=None,
                origin="published",
            ),
        }
        sample(runs["other"], 5.0e7, "rewrite")
        study = Study.objects.create(lab=lab, slug="autumn", title="Autumn")
        StudyRun.objects.create(run=runs["facts"], configuration=Configuration.objects.create(study=study, name="a"))
        upload = Upload.objects.create(lab=lab, id=4711)
        file = UploadedFile.objects.create(upload=upload, name="a.txt")
        UploadedRun.objects.create(file=file, run=runs["other"], number=0)
    return runs


# Each filter with an address that leaves some of the runs; {…} is filled with the ids of things.
ADDRESSES: dict[str, dict[str, set[str]]] = {
    "q": {"merlin": {"other", "facts"}},
    "state": {"queued": {"queued"}, "failed": set(), "queued&state=finished": {"queued", "old", "other", "facts"}},
    "host": {"kestrel": {"queued", "old"}, "{kestrel}": {"queued", "old"}, "kestrel&host=nobody": {"queued", "old"}},
    "target": {"pool": {"other"}, "{pool}": {"other"}, "none": set()},
    "tool": {"dd": {"other"}, "fio&tool=dd": {"queued", "old", "other", "facts"}, "iozone": set()},
    "tool_version": {"fio-2.21": {"old"}, "fio-2": set()},
    "origin": {"published": {"facts"}, "published&origin=uploaded": {"facts", "other"}},
    "rw": {"randread": {"facts"}, "write": {"queued", "old"}, "rewrite": {"other"}, "nothing": set()},
    "repetition": {"7": {"old"}, "2": set()},
    "study": {"autumn": {"facts"}, "spring": set()},
    "upload": {"4711": {"other"}, "1": set()},
    "raid_level": {"6": {"facts"}, "5": set(), "5&raid_level=6": {"facts"}},
    "rack": {"C3": {"old"}, "c3": set(), "C3&repetition=7": {"old"}, "C3&state=queued": set()},
}


def on_page(client: Client, query: str) -> set[int]:
    page = client.get(f"/runs/?{query}")
    assert page.status_code == 200
    return {row.pk for row in page.context["page"]}


def in_rest(script: Script, query: str) -> set[int]:
    answer = script.get(f"runs/?{query}")
    assert answer.status_code == 200, answer.content
    return {row["id"] for row in answer.json()["results"]}


def test_every_filter_has_an_address_here() -> None:
    assert set(RunFilterSet.base_filters) <= set(ADDRESSES)
    assert set(INPUTS) <= set(RunFilterSet.base_filters)


@for_each("name", ADDRESSES)
def test_a_filter_finds_the_same_runs_on_the_page_and_in_rest(
    seen: dict[str, Run], sign_in: Callable[..., Client], reader: Script, name: str
) -> None:
    kestrel, pool = seen["old"].host_id, seen["other"].target_id
    for value, names in ADDRESSES[name].items():
        query = f"{name}={value}".format(kestrel=kestrel, pool=pool)
        expected = {seen[word].pk for word in names}
        assert (on_page(sign_in("viewer"), query), in_rest(reader, query)) == (expected, expected), query


@for_each("name", ["colour", "page", "raid_levle", "1st", "<b>"])
def test_rest_refuses_an_unknown_filter_and_names_the_known_ones(
    seen: dict[str, Run], reader: Script, name: str
) -> None:
    answer = reader.get(f"runs/?{name}=red&tool=fio")
    problem = answer.json()
    assert (answer.status_code, problem["field"], problem["found"]) == (400, name, "red")
    for known in RunFilterSet.base_filters:
        assert f"{known}," in problem["expected"]
    assert "a fact or label that some run has" in problem["expected"]


def test_a_fact_of_another_labs_run_is_no_filter(seen: dict[str, Run], reader: Script, cast: Cast) -> None:
    with lab_scope(cast.other_lab.pk):
        run(cast.other_lab, target(cast.other_lab), facts={"secret_project": "x"}, labels={"customer": "y"})
    for name in ("secret_project", "customer"):
        assert reader.get(f"runs/?{name}=x").status_code == 400


def test_a_filter_without_a_value_filters_nothing(
    seen: dict[str, Run], sign_in: Callable[..., Client], reader: Script
) -> None:
    every = {run.pk for run in seen.values()}
    for query in ("state=", "rack=", "no_such_label=", "host=&tool=&q="):
        assert on_page(sign_in("viewer"), query) == every, query
        assert in_rest(reader, query) == every, query


@pytest.mark.parametrize(
    ("query", "field", "expected"),
    [
        ("state=good", "state", f"one of: {', '.join(State.values)}"),
        ("origin=heaven", "origin", "one of: dispatched, uploaded, published"),
        ("repetition=two", "repetition", "a whole number from 0 to 2147483647"),
        ("upload=1e3", "upload", "a whole number from 1 to 4611686018427387904"),
    ],
)
def test_a_value_that_cannot_be_read_is_named_by_both(
    seen: dict[str, Run], sign_in: Callable[..., Client], reader: Script, query: str, field: str, expected: str
) -> None:
    problem = reader.get(f"runs/?{query}").json()
    value = query.partition("=")[2]
    assert (problem["status"], problem["field"], problem["found"]) == (400, field, value)
    assert problem["expected"] == expected
    page = sign_in("viewer").get(f"/runs/?{query}").content.decode()
    assert f"Filter <code>{field}</code>: found “{value}”. Expected {expected}." in page
    assert "4 runs, newest first" in page


def test_the_page_keeps_a_filter_that_has_no_input(seen: dict[str, Run], sign_in: Callable[..., Client]) -> None:
    page = sign_in("viewer").get("/runs/?rack=C3&tool=fio").content.decode()
    assert '<input type="hidden" name="rack" value="C3">' in page
    assert 'href="/runs/?tool=fio" aria-label="Remove the filter rack: C3"' in page


def test_every_filter_is_described(reader: Script) -> None:
    paths: Any = reader.get("/api/schema/?format=json").json()["paths"]
    described = {
        one["name"]: one["description"] for one in paths["/api/v1/runs/"]["get"]["parameters"] if one.get("description")
    }
    for name in RunFilterSet.base_filters:
        assert described[name], name
