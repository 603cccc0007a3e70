"""A delivered attempt becomes artefacts, samples, series and histograms."""

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.runs.artefacts import store
from apps.runs.artefacts.store import ArtefactStoreError, read
from apps.runs.ingest import IncompleteError, ingest
from apps.runs.models import Attempt, Chunk, Histogram, Measure, Point, Provenance, Run, RunArtefact, Sample, Series
from apps.runs.samples import measure_ids, point_ids, save_samples
from apps.runs.series.arrays import unpack
from apps.runs.services import store_workload
from apps.runs.states import State
from apps.runs.workload import checked
from tests.conftest import Cast

FIXTURES = Path(__file__).parents[1] / "parsers" / "fixtures" / "fio_json"
STONEWALL = (FIXTURES / "stonewall.json").read_bytes()
JOBS = [
    {"rw": "randread", "block_size": 4096, "file_size": 4 * 2**20, "runtime": 2, "time_based": True},
    {"rw": "write", "block_size": 65536, "file_size": 4 * 2**20, "runtime": 2, "time_based": True},
]

pytestmark = pytest.mark.services


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path


def delivered(lab: Lab, state: State = State.FINISHED, problem: str = "", **streams: bytes) -> Attempt:
    """An ended attempt whose streams came in chunks of 10,000 bytes."""
    host = Host.objects.create(lab=lab, name="host1")
    asked = store_workload(lab, checked({"tool": "fio", "jobs": JOBS}))
    run = Run.objects.create(
        lab=lab, tool="fio", origin=Run.Origin.DISPATCHED, workload=asked, host=host, state=state, problem=problem
    )
    manifest = {
        name: {"chunks": len(data) // 10_000 + 1, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in streams.items()
    }
    attempt = Attempt.objects.create(
        lab=lab, run=run, host=host, number=1, token=run.pk, state=state, offered_at=timezone.now(), manifest=manifest
    )
    for name, data in streams.items():
        for place in range(0, len(data) + 1, 10_000):
            piece = data[place : place + 10_000]
            Chunk.objects.create(
                attempt=attempt, stream=name, sequence=place // 10_000, sha256="x", size=len(piece), data=piece
            )
    return attempt


def whole(lab: Lab, **more: Any) -> Attempt:
    return delivered(lab, result=STONEWALL, stderr=b"", job=b"[job0]\n", journal=b"{}\n", **more)


def counts(run: Run) -> list[int]:
    return [model.objects.filter(run=run).count() for model in (Sample, Series, Histogram, RunArtefact)]


def test_values_series_and_histograms_are_there_with_their_source(lab: Lab) -> None:
    attempt = whole(lab)
    ingest(attempt)
    run = Run.objects.get(pk=attempt.run_id)
    assert counts(run) == [57, 8, 2, 4]
    sample = Sample.objects.select_related("measure", "point").get(
        run=run, measure__operation="randread", measure__metric="iops"
    )
    assert sample.value == 400.29985
    assert (sample.point.block_size, sample.point.file_size, sample.section) == (4096, 4 * 2**20, 0)
    assert sample.printed == "400.299850 IOPS"
    artefact = RunArtefact.objects.get(run=run, name="result.json").artefact
    assert sample.artefact == artefact
    line = read(artefact).decode().splitlines()[sample.source_line - 1]
    assert '"iops" : 400.299850' in line


def test_the_run_says_what_measured_it(lab: Lab) -> None:
    attempt = whole(lab)
    ingest(attempt)
    run = Run.objects.get(pk=attempt.run_id)
    assert (run.tool_version, run.state, run.problem, run.progress) == ("3.33", "finished", "", 1)
    assert run.facts["tool_version"] == "3.33"
    assert run.facts["rw"] == "randread + write"


def test_series_come_back_from_the_database(lab: Lab) -> None:
    attempt = whole(lab)
    ingest(attempt)
    series = Series.objects.get(run_id=attempt.run_id, operation="randread", metric="iops")
    times, values = unpack(series.packed)
    assert times.tolist() == pytest.approx([1, 2, 3], abs=0.05)
    assert [row[2] for row in series.overview] == values.tolist()


def test_raw_bytes_move_from_chunks_to_artefacts(lab: Lab) -> None:
    attempt = whole(lab)
    ingest(attempt)
    kept = {use.name: read(use.artefact) for use in RunArtefact.objects.filter(run_id=attempt.run_id)}
    assert kept == {"result.json": STONEWALL, "stderr": b"", "job.fio": b"[job0]\n", "journal": b"{}\n"}
    assert set(Chunk.objects.filter(attempt=attempt).values_list("data", flat=True)) == {None}


def test_what_another_attempt_has_sent_stays_until_it_is_read_in(lab: Lab) -> None:
    attempt = whole(lab)
    host = Host.objects.create(lab=lab, name="host2")
    run = Run.objects.create(lab=lab, tool="fio", origin=Run.Origin.DISPATCHED, host=host, state=State.RUNNING)
    other = Attempt.objects.create(
        lab=lab, run=run, host=host, number=1, token=7, state=State.RUNNING, offered_at=timezone.now()
    )
    Chunk.objects.create(attempt=other, stream="result", sequence=0, sha256="x", size=4, data=b"half")
    ingest(attempt)
    assert [bytes(data) for data in Chunk.objects.filter(attempt=other).values_list("data", flat=True)] == [b"half"]
    run.refresh_from_db()
    other.refresh_from_db()
    assert (run.state, other.ingested_at) == (State.RUNNING, None)
    assert counts(run) == [0, 0, 0, 0]


def test_reading_in_twice_gives_one_result(lab: Lab) -> None:
    attempt = whole(lab)
    ingest(attempt)
    before = counts(attempt.run), list(Sample.objects.order_by("id").values_list("id", flat=True))
    ingest(attempt)
    ingest(Attempt.objects.get(pk=attempt.pk))
    assert (counts(attempt.run), list(Sample.objects.order_by("id").values_list("id", flat=True))) == before


def test_a_result_that_is_no_json_is_kept_and_explained(lab: Lab) -> None:
    attempt = delivered(lab, result=b"fio: engine psync not loadable\nfio: failed to load engine\n")
    ingest(attempt)
    run = Run.objects.get(pk=attempt.run_id)
    assert run.state == State.FAILED
    assert "line 1" in run.problem
    assert "found 'fio: engine psync not loadable'" in run.problem
    assert "expected a whole JSON object" in run.problem
    assert read(RunArtefact.objects.get(run=run, name="result.json").artefact).startswith(b"fio: engine")
    assert attempt.ingested_at is not None


def test_what_the_host_said_stays_first(lab: Lab) -> None:
    attempt = delivered(lab, state=State.CANCELLED, problem="Cancelled by a person.", result=b"")
    Attempt.objects.filter(pk=attempt.pk).update(started_at=attempt.offered_at)
    ingest(attempt)
    run = Run.objects.get(pk=attempt.run_id)
    assert (run.state, run.problem) == (State.CANCELLED, "Cancelled by a person. fio wrote no result.")


def test_what_a_host_said_without_a_full_stop_is_a_sentence_of_its_own(lab: Lab) -> None:
    attempt = delivered(lab, State.FAILED, "fio was killed by signal 9", result=b"", journal=b"")
    Attempt.objects.filter(pk=attempt.pk).update(started_at=attempt.offered_at)
    ingest(attempt)
    assert Run.objects.get(pk=attempt.run_id).problem == "fio was killed by signal 9. fio wrote no result."


def test_of_what_was_never_started_no_result_is_missed(lab: Lab) -> None:
    attempt = delivered(lab, state=State.FAILED, problem="guard idle did not hold within 5 s.", result=b"")
    ingest(attempt)
    assert Run.objects.get(pk=attempt.run_id).problem == "guard idle did not hold within 5 s."


def test_a_cancelled_run_keeps_what_it_measured(lab: Lab) -> None:
    cut_off = (FIXTURES / "cut_off.json").read_bytes()
    attempt = delivered(lab, state=State.CANCELLED, problem="Cancelled.", result=cut_off)
    ingest(attempt)
    assert Sample.objects.filter(run_id=attempt.run_id, measure__metric="iops").count() == 1


def test_an_error_of_fio_fails_the_run_and_keeps_the_other_jobs(lab: Lab) -> None:
    attempt = delivered(lab, result=(FIXTURES / "error.json").read_bytes())
    ingest(attempt)
    run = Run.objects.get(pk=attempt.run_id)
    assert run.state == State.FAILED
    assert run.problem == "fio's broken ended with error 28 (No space left on device)."
    iops = dict(Sample.objects.filter(run=run, measure__metric="iops").values_list("section", "value"))
    assert iops == {0: None, 1: 4000.0}


def test_bytes_that_are_missing_change_nothing(lab: Lab) -> None:
    attempt = whole(lab)
    Chunk.objects.filter(attempt=attempt, stream="result", sequence=1).delete()
    with pytest.raises(IncompleteError, match="chunk 1 of result is not here"):
        ingest(attempt)
    assert counts(attempt.run) == [0, 0, 0, 0]
    assert Attempt.objects.get(pk=attempt.pk).ingested_at is None


def test_a_full_disk_changes_nothing_and_loses_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    attempt = whole(lab)
    monkeypatch.setattr(store, "SMALL", 0)
    (tmp_path / "file").write_text("in the way")
    settings.ARTEFACT_DIR = tmp_path / "file" / "artefacts"
    with pytest.raises(ArtefactStoreError):
        ingest(attempt)
    assert None not in set(Chunk.objects.filter(attempt=attempt).values_list("data", flat=True))
    settings.ARTEFACT_DIR = tmp_path / "again"
    ingest(attempt)
    assert counts(attempt.run)[0] == 57


def test_unknown_words_are_refused_before_they_reach_the_database(lab: Lab) -> None:
    with pytest.raises(ValueError, match="Unknown operation 'dance'"):
        measure_ids({("dance", "iops")})
    with pytest.raises(ValueError, match="Unknown metric 'beauty'"):
        measure_ids({("read", "beauty")})
    assert not Measure.objects.exists()


def test_points_and_measures_exist_once_however_often_they_are_asked_for(lab: Lab) -> None:
    keys = [(None, None, None, None), (1, None, 2, None), (1, 4096, 2, 8)]
    assert point_ids(keys) == point_ids(keys)
    assert Point.objects.count() == 3
    assert measure_ids({("read", "iops")}) == measure_ids({("read", "iops")})


def test_a_value_that_says_no_more_than_itself_has_no_provenance(lab: Lab) -> None:
    run = whole(lab).run
    save_samples(run, [
        ParsedSample("read", "iops", 1.0, printed="1 IOPS", line=3),
        ParsedSample("read", "bandwidth", 2.0, printed="2 B/s", quality="rounded"),
    ])  # fmt: skip
    assert list(Sample.objects.filter(run=run).order_by("id").values_list("printed", "source_line")) == [
        ("1 IOPS", 3), ("2 B/s", None),
    ]  # fmt: skip
    assert Provenance.objects.get(sample__run=run).quality == "rounded"


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_read_it_in_once(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        attempt = whole(cast.lab)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            ingest(attempt)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    with lab_scope(cast.lab.pk):
        assert counts(attempt.run) == [57, 8, 2, 4]


def test_a_newer_document_in_the_same_words_stays_readable(lab: Lab) -> None:
    document = json.loads((FIXTURES / "group.json").read_text())
    document["jobs"][0]["read"]["a new key"] = {"bins": [1, 2, 3]}
    attempt = delivered(lab, result=json.dumps(document).encode())
    ingest(attempt)
    assert Sample.objects.filter(run_id=attempt.run_id).exists()
