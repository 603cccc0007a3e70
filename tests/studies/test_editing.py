"""A lab's own study by pages: made, changed, filled with runs, deleted; another lab's is not there."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.comparison.in_studies.models import StudyComparison
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Configuration, Study, StudyRun
from tests.comparison.factories import measured
from tests.conftest import Cast
from tests.sampling import for_each

Sign = Callable[[str], Client]
TYPED = {
    "title": "Disk or memory",
    "language": "it",
    "question": "Quanto?",
    "slug": "",
    "title_english": "",
    "site": "CRS4",
}
QUERY = "metric=bandwidth&operation=write&x=file_size&series=label&study=disk-or-memory"


@pytest.fixture
def study(lab: Lab) -> Study:
    return Study.objects.create(lab=lab, slug="disk-or-memory", title="Disk or memory")


@pytest.fixture
def runs(lab: Lab) -> list[Run]:
    return [*measured(lab, "alpha", [9e7, 9.2e7]), *measured(lab, "beta", [2e8])]


def columns(study: Study) -> dict[str, list[int]]:
    rows = study.configurations.prefetch_related("study_runs")
    return {row.label: sorted(one.run_id for one in row.study_runs.all()) for row in rows}


def test_an_engineer_makes_a_study_and_its_address_comes_from_the_title(lab: Lab, sign_in: Sign) -> None:
    answer = sign_in("engineer").post("/studies/new/", TYPED)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/studies/disk-or-memory/")
    made = Study.objects.get(lab=lab)
    assert (made.slug, made.language, made.question, made.site) == ("disk-or-memory", "it", "Quanto?", "CRS4")


@for_each(
    "field, value, said",
    [
        ("slug", "new", "an address of this site"),
        ("slug", "disk-or-memory", "another study of this lab"),
        ("slug", "two words", "letters, numbers"),
        ("title", "", "required"),
        ("language", "xx", "Select a valid choice"),
    ],
)
def test_what_cannot_be_a_study_is_said_and_what_was_typed_is_kept(
    study: Study, sign_in: Sign, field: str, value: str, said: str
) -> None:
    answer = sign_in("engineer").post("/studies/new/", {**TYPED, "title": "Disk", "site": "as typed", field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert "as typed" in answer.content.decode()
    assert Study.objects.count() == 1


def test_a_study_is_changed_and_keeps_its_address_when_it_is_not_touched(study: Study, sign_in: Sign) -> None:
    answer = sign_in("engineer").post(f"/studies/{study.slug}/edit/", {**TYPED, "slug": study.slug, "title": "Other"})
    assert answer.status_code == 302
    study.refresh_from_db()
    assert (study.title, study.slug) == ("Other", "disk-or-memory")


def test_runs_go_into_a_configuration_for_each_target_once(study: Study, runs: list[Run], sign_in: Sign) -> None:
    client = sign_in("engineer")
    body: dict[str, Any] = {"run": [run.pk for run in runs], "place": f"study-{study.pk}"}
    assert client.post("/studies/runs/", body).headers["Location"] == "/studies/disk-or-memory/"
    # both hosts call their target scratch, which makes them no more alike
    found = {"scratch": [run.pk for run in runs[:2]], "beta scratch": [runs[2].pk]}
    assert columns(study) == found
    client.post("/studies/runs/", body)
    assert columns(study) == found


def test_runs_go_into_the_configuration_that_was_chosen_and_out_again(
    study: Study, runs: list[Run], sign_in: Sign
) -> None:
    client = sign_in("engineer")
    row = Configuration.objects.create(study=study, name="raid-5", label="RAID 5")
    asked = client.get("/studies/runs/", {"run": [run.pk for run in runs], "study": study.slug}).content.decode()
    assert "3 runs" in asked
    assert f'value="study-{study.pk}" selected' in asked
    client.post("/studies/runs/", {"run": [run.pk for run in runs], "place": f"configuration-{row.pk}"})
    assert columns(study) == {"RAID 5": [run.pk for run in runs]}
    assert "would move" in client.get("/studies/runs/", {"run": runs[0].pk}).content.decode()
    client.post("/studies/runs/", {"run": runs[0].pk, "place": "out"})
    assert columns(study) == {"RAID 5": [run.pk for run in runs[1:]]}
    assert Run.objects.count() == 3


def test_another_labs_runs_are_not_put(study: Study, cast: Cast, sign_in: Sign) -> None:
    from apps.labs.isolation import lab_scope

    with lab_scope(cast.other_lab.pk):
        theirs = measured(cast.other_lab, "hidden", [1e8])[0].pk
    answer = sign_in("engineer").post("/studies/runs/", {"run": theirs, "place": f"study-{study.pk}"})
    assert answer.status_code == 422
    assert "No run was chosen" in answer.content.decode()


def test_configurations_are_made_moved_renamed_and_deleted_and_runs_stay(
    study: Study, runs: list[Run], sign_in: Sign
) -> None:
    client, place = sign_in("engineer"), f"/studies/{study.slug}/configurations/"
    for position, label in ((1, "RAID 5"), (2, "RAID 10")):
        assert (
            client.post(place, {"label": label, "target": runs[0].target_id, "position": position}).status_code == 302
        )
    ten = study.configurations.get(label="RAID 10")
    assert ten.host == runs[0].host
    client.post(f"{place}{ten.pk}/", {"label": "RAID 1+0", "target": "", "position": 1})
    assert list(study.configurations.values_list("name", "label", "position")) == [
        ("raid-10", "RAID 1+0", 0), ("raid-5", "RAID 5", 1),
    ]  # fmt: skip
    assert "another configuration" in client.post(place, {"label": "raid 5", "position": 3}).content.decode()
    assert client.post(f"{place}{ten.pk}/", {"label": "raid 1+0", "position": 2}).status_code == 302, "its own label"
    assert list(study.configurations.values_list("label", flat=True)) == ["RAID 5", "raid 1+0"]
    assert client.post(f"{place}{ten.pk}/", {"label": " raid 5 ", "position": 2}).status_code == 422, "another one's"
    StudyRun.objects.create(run=runs[0], configuration=ten)
    assert "1 run belongs to it" in client.get(f"{place}{ten.pk}/delete/").content.decode()
    client.post(f"{place}{ten.pk}/delete/")
    assert list(columns(study)) == ["RAID 5"]
    assert Run.objects.count() == 3


def test_deleting_says_what_is_lost_and_leaves_the_runs(study: Study, runs: list[Run], sign_in: Sign) -> None:
    client = sign_in("engineer")
    row = Configuration.objects.create(study=study, name="one", label="one")
    StudyRun.objects.create(run=runs[0], configuration=row)
    asked = client.get(f"/studies/{study.slug}/delete/").content.decode()
    assert "1 configuration" in asked
    assert "its 1 run with all samples" in asked
    assert client.post(f"/studies/{study.slug}/delete/").status_code == 302
    assert not Study.objects.exists()
    assert Run.objects.count() == 3


def test_a_comparison_is_put_into_a_study_captioned_moved_and_taken_out(study: Study, sign_in: Sign) -> None:
    client = sign_in("engineer")
    asked = client.get(f"/comparisons/put/?{QUERY}").content.decode()
    assert 'value="Bandwidth of write by file size"' in asked
    assert f'value="{study.pk}" selected' in asked
    for title in ("Writing", "Writing"):
        body = {"study": study.pk, "title": title, "caption": "as is", "shows": "both", "query": QUERY}
        assert client.post("/comparisons/put/", body).headers["Location"] == f"/studies/{study.slug}/comparisons/"
    first, second = StudyComparison.objects.of_study(study)
    assert (first.name, second.name) == ("writing", "writing-2")
    assert first.question.filters == (("study", study.slug),)
    client.post(f"/study-comparisons/{second.pk}/move/", {"to": "up"})
    assert list(StudyComparison.objects.of_study(study)) == [second, first]
    client.post(f"/study-comparisons/{first.pk}/edit/", {"title": "W", "caption": "", "shows": "table"})
    first.refresh_from_db()
    assert (first.title, first.name, first.has_chart) == ("W", "writing", False)
    client.post(f"/study-comparisons/{second.pk}/delete/")
    assert list(StudyComparison.objects.of_study(study)) == [first]


def test_an_address_that_asks_nothing_is_not_put(study: Study, sign_in: Sign) -> None:
    body = {"study": study.pk, "title": "x", "caption": "", "shows": "both", "query": "metric=speed"}
    answer = sign_in("engineer").post("/comparisons/put/", body)
    assert answer.status_code == 422
    assert "is not a valid comparison" in answer.content.decode()
    assert not StudyComparison.objects.exists()


@for_each("path", ["new/", "runs/", "{}/edit/", "{}/delete/"])
def test_a_viewer_changes_nothing(study: Study, sign_in: Sign, path: str) -> None:
    assert sign_in("viewer").post(f"/studies/{path.format(study.slug)}", TYPED).status_code == 403
    assert Study.objects.count() == 1


@for_each("path", ["edit/", "delete/", "configurations/", "comparisons/", "wiki/"])
def test_a_stranger_finds_no_study(study: Study, sign_in: Sign, path: str) -> None:
    assert sign_in("stranger").get(f"/studies/{study.slug}/{path}").status_code == 404


def test_the_list_of_runs_has_boxes_only_for_who_may_put_them(runs: list[Run], sign_in: Sign) -> None:
    assert sign_in("engineer").get("/runs/").content.decode().count('name="run" value=') == 3
    assert 'name="run" value=' not in sign_in("viewer").get("/runs/").content.decode()
