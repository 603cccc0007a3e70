"""A small file is read by the request that brings it, where the confined child is warm; everything else is a worker's."""

import time
from typing import Any

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.artefact_store import SMALL
from apps.runs.models import Sample
from apps.uploads import at_once, parsing
from apps.uploads.at_once import reading_here
from apps.uploads.models import FileState, Upload, UploadedFile, UploadState
from apps.uploads.sandbox.parent import alone, reader
from tests.conftest import Cast
from tests.publishing.test_uploads import Sender
from tests.uploads.conftest import REPORT, Bring, zipped

pytestmark = pytest.mark.services


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_once, "_is_allowed", True)
    reader().warm_up()


@pytest.fixture
def sender(cast: Cast, token: Any) -> Sender:
    return Sender(token("upload"))


def is_here(*files: bytes) -> bool:
    with reading_here(files) as found:
        return found


def test_outside_of_a_server_nothing_is_read_here() -> None:
    assert not is_here(REPORT)


def test_one_small_file_is_read_here_and_nothing_else(allowed: None) -> None:
    assert is_here(REPORT)
    assert is_here(b"x" * SMALL)
    assert not is_here(b"x" * (SMALL + 1))
    assert not is_here(REPORT, REPORT)
    assert not is_here(zipped({"a.json": REPORT}))


def test_nobody_waits_for_a_child_that_somebody_else_asks(allowed: None) -> None:
    with alone:
        assert not is_here(REPORT)
    assert is_here(REPORT)


def test_a_cold_child_is_started_for_the_next_file(allowed: None) -> None:
    reader().close()
    assert not is_here(REPORT)
    end = time.monotonic() + 60
    while not is_here(REPORT):
        assert time.monotonic() < end, "it never became warm"
        time.sleep(0.05)


def test_the_answer_has_the_runs(allowed: None, sender: Sender, cast: Cast) -> None:
    answer = sender.post({"host3/run.json": REPORT}, "?keep=true")
    assert answer.status_code == 202
    said = answer.json()
    assert said["state"] == "parsed"
    assert said["finished_at"]
    with lab_scope(cast.lab.pk):
        assert Sample.objects.filter(run=said["files"][0]["run_ids"][0]).count() == said["files"][0]["samples"]
        assert Upload.objects.get().lease_until is None
    assert sender.get(said["url"]).json() == said


def test_without_keep_it_waits_for_a_person(allowed: None, sender: Sender, cast: Cast) -> None:
    said = sender.post({"run.json": REPORT}).json()
    assert (said["state"], said["files"][0]["run_ids"], said["files"][0]["is_kept"]) == ("parsed", [], False)
    kept = sender.client.post(f"{said['url']}keep/", **sender.head).json()
    assert len(kept["files"][0]["run_ids"]) == 1


def test_the_same_bytes_again_are_known(allowed: None, sender: Sender) -> None:
    first = sender.post({"a.json": REPORT}, "?keep=true").json()["files"][0]
    again = sender.post({"b.json": REPORT}, "?keep=true").json()
    assert (again["state"], again["files"][0]["state"]) == ("parsed", "known")
    assert again["files"][0]["known_as"] == first["id"]


def test_what_nobody_recognises_is_said_at_once(allowed: None, sender: Sender) -> None:
    said = sender.post({"notes.txt": b"bring milk\n"}).json()
    assert (said["state"], said["files"][0]["error"]["found"]) == ("failed", "bring milk")


def test_what_goes_wrong_is_a_workers(
    allowed: None, sender: Sender, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is on fire")

    with monkeypatch.context() as trouble:
        trouble.setattr(parsing._Parsing, "only", broken)
        assert sender.post({"run.json": REPORT}, "?keep=true").json()["state"] == "queued"
    with lab_scope(cast.lab.pk):
        upload = Upload.objects.get()
        assert (upload.state, upload.tries, upload.lease_until) == (UploadState.QUEUED, 0, None)
        assert upload.claim()
        assert parsing.parse(upload)
        assert UploadedFile.objects.get().kept_at


def test_one_whose_server_died_meanwhile_is_read_by_a_worker(lab: Lab, bring: Bring) -> None:
    upload = bring({"run.json": REPORT}, is_read=False, is_claimed=True)
    assert upload.state == UploadState.PARSING
    assert not upload.claim(), "not while the request may still read it"
    Upload.objects.filter(pk=upload.pk).update(lease_until="2020-01-01T00:00Z")
    assert upload.claim()
    assert parsing.parse(upload)
    assert UploadedFile.objects.get().state == FileState.PARSED
