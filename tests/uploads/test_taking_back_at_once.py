"""Runs are taken back while somebody else writes about them."""

import threading

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.deletion import Collector

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Configuration, Study, StudyRun
from apps.studies.run_placement import place
from apps.uploads.models import Upload
from apps.uploads.pipeline import parse
from apps.uploads.revert import take_back
from apps.uploads.services import add_file, open_upload
from tests.uploads.conftest import REPORT
from tests.waiting import until_one_waits_for_a_lock


@pytest.fixture
def kept(transactional_db: None) -> Upload:
    lab = Lab.objects.create(name="Lab", slug="lab")
    with lab_scope(lab.pk):
        upload = open_upload(lab, "a.json", door=Upload.Door.REST, actor="script", keep_at_once=True)
        add_file(upload, "a.json", REPORT)
        assert upload.claim()
        assert parse(upload)
    return upload


def test_what_is_written_about_a_run_amid_its_deletion_does_not_stop_it(
    kept: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between Django's look at what refers to a run and its DELETE."""
    refused: list[IntegrityError] = []

    def put() -> None:
        try:
            with lab_scope(kept.lab_id), transaction.atomic():
                column = Configuration.objects.create(study=study, name="c", label="C")
                StudyRun.objects.create(run=Run.objects.get(), configuration=column)
        except IntegrityError as error:
            refused.append(error)
        finally:
            connection.close()

    def delete(self: Collector) -> object:
        other.start()
        until_one_waits_for_a_lock()
        return deleted(self)

    other, deleted = threading.Thread(target=put), Collector.delete
    monkeypatch.setattr(Collector, "delete", delete)
    with lab_scope(kept.lab_id):
        study = Study.objects.create(lab=kept.lab, slug="s", title="S")
        assert take_back(kept) == 1
        other.join(10)
        assert not Run.objects.exists()
        assert len(refused) == 1


def test_who_puts_a_run_into_a_study_amid_its_deletion_is_told_that_it_is_gone(
    kept: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def put() -> None:
        with lab_scope(kept.lab_id):
            said.append(place([run], study).sentence)
        connection.close()

    def delete(self: Collector) -> object:
        done = deleted(self)
        other.start()
        until_one_waits_for_a_lock()
        return done

    other, deleted = threading.Thread(target=put), Collector.delete
    with lab_scope(kept.lab_id):
        run = Run.objects.select_related("host", "target").get()
        study = Study.objects.create(lab=kept.lab, slug="s", title="S")
        monkeypatch.setattr(Collector, "delete", delete)
        assert take_back(kept) == 1
        other.join(10)
        assert said == ["0 runs put into the study."]
        assert not StudyRun.objects.exists()
