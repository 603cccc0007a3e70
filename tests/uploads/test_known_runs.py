"""Files that were kept before, brought again with a study: their runs go into it, whichever way they come."""

from typing import Any

import pytest
from django.test import Client

from apps.labs.models import AuditEvent, Lab
from apps.studies.models import Study, StudyRun
from apps.uploads.models import FileState, Upload
from apps.uploads.pipeline import parse
from apps.uploads.save_runs import keep
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file, zipped

pytestmark = pytest.mark.services
SENTENCE = "1 earlier run is in the study cables now."


@pytest.fixture
def study(lab: Lab) -> Study:
    made: Study = Study.objects.create(lab=lab, slug="cables", title="Cables")
    return made


def joined(study: Study) -> int:
    return StudyRun.objects.filter(configuration__study=study).count()


def test_kept_at_once_they_go_into_the_study(bring: Bring, study: Study) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    again = bring({"x.zip": zipped({"a.json": REPORT, "b.json": OTHER})}, keep_at_once=True, study=study)
    assert again.joined == SENTENCE
    assert joined(study) == 2
    assert AuditEvent.objects.get(act="runs put into a study").who == "engineer@example.org"


def test_with_a_preview_they_go_when_the_others_are_kept(bring: Bring, study: Study, sign_in: Any) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    again = bring({"a.json": REPORT, "b.json": OTHER}, study=study)
    assert (again.joined, joined(study)) == ("", 0)
    engineer: Client = sign_in("engineer")
    shown = engineer.post(f"{again.get_absolute_url()}keep/", {"act": "all"}, follow=True).content.decode()
    assert SENTENCE in shown
    assert joined(study) == 2


def test_where_all_is_known_nothing_waits_for_anybody(bring: Bring, study: Study, sign_in: Any) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    again = bring({"a.json": REPORT}, study=study)
    assert (only_file(again).state, joined(study)) == (FileState.KNOWN, 1)
    assert SENTENCE in sign_in("engineer").get(again.get_absolute_url()).content.decode()


def test_what_a_script_asked_for_as_a_preview_waits_for_somebody(bring: Bring, study: Study, sign_in: Any) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    again = bring({"a.json": REPORT}, is_read=False, study=study)
    Upload.objects.filter(pk=again.pk).update(door=Upload.Door.REST)
    again.refresh_from_db()
    assert again.claim()
    assert parse(again)
    assert joined(study) == 0
    engineer: Client = sign_in("engineer")
    assert "Add the earlier runs to the study" in engineer.get(again.get_absolute_url()).content.decode()
    shown = engineer.post(f"{again.get_absolute_url()}keep/", {"act": "all"}, follow=True).content.decode()
    assert (SENTENCE in shown, "Nothing was kept" in shown) == (True, False)


def test_those_of_another_study_stay_there_and_twice_changes_nothing(bring: Bring, study: Study, lab: Lab) -> None:
    bring({"run.json": REPORT}, keep_at_once=True, study=study)
    other = Study.objects.create(lab=lab, slug="disks", title="Disks")
    again = bring({"a.json": REPORT}, keep_at_once=True, study=other)
    assert again.joined == "1 earlier run stays in another study."
    keep(again)
    assert Upload.objects.get(pk=again.pk).joined == again.joined
    assert (joined(study), joined(other)) == (1, 0)
    assert bring({"b.json": REPORT}, keep_at_once=True, study=study).joined == ""
