"""fio's logs of latencies do not say whether they are µs or ns; the reports of the same upload do."""

from pathlib import Path

import pytest
from django.test import Client

from apps.runs.models import Run, Series
from apps.runs.series.arrays import unpack
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.reparse.services import reparse
from apps.uploads.results import SiblingReports, is_log
from apps.uploads.services import add_file, hand_over
from tests.uploads.conftest import OTHER, REPORT, Bring, tarred

pytestmark = pytest.mark.services

LOG = b"1000, 100, 0, 0\n2000, 300, 0, 0\n"
OLD = OTHER.replace(b'"fio version" : "fio-3.', b'"fio version" : "fio-2.')
OLD_TOO = REPORT.replace(b'"fio version" : "fio-3.', b'"fio version" : "fio-2.')


def latencies(upload: Upload, name: str) -> list[float]:
    file = UploadedFile.objects.get(upload=upload, name=name)
    assert file.reading
    (run,) = file.reading.runs
    return list(unpack(run.series[0].packed)[1])


def said(upload: Upload, name: str) -> str:
    return " ".join(UploadedFile.objects.get(upload=upload, name=name).warnings)


def test_the_fixtures_are_of_two_fios() -> None:
    assert b'"fio-2.' in OLD
    assert b'"fio-2.' in OLD_TOO
    assert b'"fio-3.' in REPORT


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a/job_clat.1.log", True), ("lat.log", True), ("JOB_SLAT.12.LOG", True), ("x-lat.log", True),
        ("job_bw.1.log", False), ("platform.log", False), ("lat.d/job_bw.log", False), ("flat.txt", False),
    ],
)  # fmt: skip
def test_names_of_logs_mean_the_same_to_python_and_to_the_database(bring: Bring, name: str, is_one: bool) -> None:
    from apps.uploads.results import LOGS

    upload = bring({name: b"1, 2, 0, 0\n"}, is_read=False)
    assert is_log(name) is is_one
    assert UploadedFile.objects.filter(LOGS, upload=upload).exists() is is_one


def test_logs_beside_an_old_report_are_microseconds_whatever_comes_first(bring: Bring) -> None:
    upload = bring({"a_clat.1.log": LOG, "b.json": OLD, "c_lat.1.log": LOG})
    for name in ("a_clat.1.log", "c_lat.1.log"):
        assert latencies(upload, name) == [100_000, 300_000]
        assert "read as µs" in said(upload, name)
        assert "b.json beside it is of fio 2." in said(upload, name)


def test_logs_beside_a_new_report_are_nanoseconds_without_a_doubt(bring: Bring) -> None:
    upload = bring({"a_clat.1.log": LOG, "b.json": REPORT})
    assert latencies(upload, "a_clat.1.log") == [100, 300]
    assert said(upload, "a_clat.1.log") == ""


def test_the_nearest_folder_with_reports_decides_also_in_archives(bring: Bring) -> None:
    members = {
        "old/logs/x_lat.1.log": LOG, "old/out.json": OLD, "new/logs/x_lat.1.log": LOG + b"3000, 5, 0, 0\n", "new/json/out.json": REPORT,
        "other/x_lat.1.log": LOG + b"3000, 6, 0, 0\n",
    }  # fmt: skip
    upload = bring({"all.tgz": tarred(members)})
    assert latencies(upload, "all.tgz/old/logs/x_lat.1.log") == [100_000, 300_000]
    new = UploadedFile.objects.get(upload=upload, name="all.tgz/new/logs/x_lat.1.log")
    assert new.state == FileState.PARSED
    assert (latencies(upload, new.name), new.warnings) == ([100, 300, 5], [])
    assert "does not tell" in said(upload, "all.tgz/other/x_lat.1.log")  # below it fios of both kinds
    assert latencies(upload, "all.tgz/other/x_lat.1.log") == [100, 300, 6]


def test_a_whole_archive_that_is_kept_at_once_has_the_right_unit_in_its_runs(bring: Bring) -> None:
    members = {
        "a_clat.1.log": LOG,
        "b.json": OLD,
        **{f"z{n}_lat.1.log": LOG + b"%d, 9, 0, 0\n" % (3000 + n) for n in range(60)},
    }
    upload = bring({"all.tgz": tarred(members)}, keep_at_once=True)
    files = UploadedFile.objects.filter(upload=upload, format="fio log")
    assert files.count() == 61
    assert not files.filter(kept_at=None).exists()
    values = [unpack(bytes(one.packed))[1] for one in Series.objects.filter(run__uploaded_from__file__in=files)]
    assert len(values) == 61
    assert {(float(one[0]), float(one[1])) for one in values} == {(100_000, 300_000)}


def test_a_report_that_comes_later_settles_what_waits_and_changes_nothing_that_is_kept(
    bring: Bring, engineer: Client
) -> None:
    upload = bring({"a_clat.1.log": LOG, "k_clat.1.log": LOG + b"3000, 1, 0, 0\n"})
    assert latencies(upload, "a_clat.1.log") == [100, 300]
    kept = UploadedFile.objects.get(name="k_clat.1.log")
    engineer.post(f"/uploads/{upload.pk}/keep/", {"act": "selected", "file": kept.pk})
    add_file(upload, "b.json", OLD)
    hand_over(upload)
    upload.refresh_from_db()
    assert upload.claim()
    assert parse(upload)
    assert latencies(upload, "a_clat.1.log") == [100_000, 300_000]
    kept.refresh_from_db()
    assert kept.kept_at
    assert unpack(bytes(Series.objects.get(run__uploaded_from__file=kept).packed))[1][0] == 100
    values, words = reparse(UploadedFile.objects.filter(upload=upload).to_read_again(), apply=True)
    assert values.file == words.file == kept  # which `reparse` then tells, and puts right
    assert values.values == ("read clat_mean over time: at 1 s 100 → 100000, and 2 more",)
    assert any("read as µs" in one for one in words.values)
    (run,) = Run.objects.filter(uploaded_from__file=kept)
    assert unpack(bytes(Series.objects.get(run=run).packed))[1][0] == 100_000


def test_a_report_that_is_known_from_another_upload_counts(bring: Bring) -> None:
    bring({"b.json": OLD}, keep_at_once=True)
    upload = bring({"a_clat.1.log": LOG, "again.json": OLD})
    assert UploadedFile.objects.get(upload=upload, name="again.json").state == FileState.KNOWN
    assert latencies(upload, "a_clat.1.log") == [100_000, 300_000]


def test_who_says_the_unit_is_right(bring: Bring) -> None:
    upload = bring({"a_clat.1.log": LOG, "b.json": OLD})
    UploadedFile.objects.filter(name="a_clat.1.log").update(only="fio log ns", state=FileState.WAITING)
    hand_over(upload)
    upload.refresh_from_db()
    assert upload.claim()
    assert parse(upload)
    assert latencies(upload, "a_clat.1.log") == [100, 300]


def test_no_question_is_asked_for_files_that_are_no_logs(bring: Bring, django_assert_num_queries: object) -> None:
    upload = bring({"b.json": OLD})
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert SiblingReports(upload.pk).of(str(Path("x") / "b.json")) == ("", "")
