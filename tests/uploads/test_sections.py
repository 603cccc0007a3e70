"""Names of fio's jobs and iperf's streams: seen before they are kept, kept, and told by pages and REST."""

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab, Token
from apps.runs.models import Run
from apps.uploads.reparse.services import reparse
from tests.uploads.conftest import REPORT, REPORTS, Bring, only_file

TWO_JOBS = (REPORTS / "stonewall.json").read_bytes()
JOBS = json.JSONDecoder().raw_decode(TWO_JOBS.decode())[0]["jobs"]
NAMES = [job["jobname"] for job in JOBS]


def kept(lab: Lab, bring: Bring, data: bytes = TWO_JOBS, name: str = "two.json") -> Run:
    with lab_scope(lab.pk):
        upload = bring({name: data}, keep_at_once=True)
        return Run.objects.get(uploaded_from__file__upload=upload)


def test_a_preview_says_whose_each_value_is(lab: Lab, bring: Bring, engineer: Client) -> None:
    with lab_scope(lab.pk):
        page = engineer.get(only_file(bring({"two.json": TWO_JOBS})).get_absolute_url()).content.decode()
    for name in NAMES:
        assert f">{name} " in page


def test_a_run_keeps_the_names_of_its_jobs(lab: Lab, bring: Bring, engineer: Client) -> None:
    one = kept(lab, bring)
    assert [part["name"] for part in one.sections.values()] == NAMES
    assert [part["options"]["rw"] for part in one.sections.values()] == [job["job options"]["rw"] for job in JOBS]
    page = engineer.get(one.get_absolute_url()).content.decode()
    for name in NAMES:
        assert f"<strong>{name} " in page
    assert f"{NAMES[0]}: {JOBS[0]['job options']['rw']}<br>{NAMES[1]}: " in page
    assert " + ".join(NAMES) in engineer.get("/runs/").content.decode()


def test_the_only_job_is_named_beside_the_run(lab: Lab, bring: Bring, engineer: Client) -> None:
    data = REPORT.replace(
        b'"jobname" : "' + json.loads(REPORT)["jobs"][0]["jobname"].encode(), b'"jobname" : "raid5 <b>'
    )
    page = engineer.get(kept(lab, bring, data).get_absolute_url()).content.decode()
    assert "· raid5 &lt;b&gt;" in page
    assert "<strong>raid5" not in page


def test_rest_tells_names_of_runs_and_of_samples(lab: Lab, bring: Bring) -> None:
    one = kept(lab, bring)
    with lab_scope(lab.pk):
        secret = Token.objects.issue(lab, "read", "reader")[1]

    def get(path: str) -> Any:
        return Client().get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {secret}"})

    told = get(f"runs/{one.pk}/").json()["sections"]
    assert [(part["number"], part["name"]) for part in told] == list(enumerate(NAMES))
    assert told[0]["options"]["rw"] == JOBS[0]["job options"]["rw"]
    rows = get(f"runs/{one.pk}/samples/?limit=1000").json()["results"]
    assert {(row["section"], row["section_name"]) for row in rows if row["operation"] != "disk"} == set(
        enumerate(NAMES)
    )
    assert {row["section_name"] for row in rows if row["operation"] == "disk"} == {""}
    lines = b"".join(get(f"samples/?run={one.pk}&format=csv").streaming_content).decode()
    assert {line["section_name"] for line in csv.DictReader(io.StringIO(lines))} == {*NAMES, ""}
    wiki = b"".join(get(f"runs/{one.pk}/?format=markdown").streaming_content).decode()
    assert all(f"{name}: " in wiki for name in NAMES)


def test_names_that_were_not_kept_come_with_the_next_reading(lab: Lab, bring: Bring) -> None:
    one = kept(lab, bring)
    with lab_scope(lab.pk):
        Run.objects.filter(pk=one.pk).update(sections={})
        files = [one.uploaded_from.file]
        told = [str(change) for change in reparse(files, apply=True)]
        one.refresh_from_db()
        assert list(reparse(files, apply=True)) == []
    assert any(f"sections: nothing → {NAMES[0]} " in line for line in told)
    assert [part["name"] for part in one.sections.values()] == NAMES


@pytest.mark.parametrize(
    ("word", "is_found"), [("{job}", True), ("{upper}", True), ("/srv/x", True), ("mine one", True), ("options", False)]
)
def test_a_run_is_found_by_what_its_row_shows(
    lab: Lab, bring: Bring, engineer: Client, word: str, is_found: bool
) -> None:
    one = kept(lab, bring)
    with lab_scope(lab.pk):
        one.labels = {"path": "/srv/x"}
        one.facts = {"caption": "Mine one"}
        one.save()
    asked = word.format(job=NAMES[1], upper=NAMES[1].upper())
    page = engineer.get("/runs/", {"q": asked}).content.decode()
    assert (f'href="/runs/{one.pk}/"' in page) == is_found
