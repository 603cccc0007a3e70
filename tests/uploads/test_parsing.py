"""From raw bytes to what was recognised."""

import gzip
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apps.runs.artefacts.store import read
from apps.runs.models import Artefact, Sample
from apps.uploads import pipeline
from apps.uploads.file_reader import FileReading
from apps.uploads.models import FileState, TableMapping, Upload, UploadedFile, UploadState
from apps.uploads.pipeline import parse
from apps.uploads.sandbox.parent import SandboxError
from tests.parsers.archives.build import tar_header
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file, tarred, zipped

pytestmark = pytest.mark.services


def states(upload: Upload) -> dict[str, str]:
    return dict(UploadedFile.objects.filter(upload=upload).values_list("name", "state"))


def test_a_file_is_recognised_and_waits_for_a_person(bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    file = only_file(upload)
    assert upload.state == UploadState.PARSED
    assert (file.state, file.format, file.tool, file.run_count) == ("parsed", "fio json", "fio", 1)
    assert file.sample_count > 10
    assert file.reading is not None
    assert len(file.reading.runs[0].run.samples) == file.sample_count
    assert not file.kept_at


def test_raw_bytes_are_kept_before_anybody_reads_them(bring: Bring) -> None:
    upload = bring({"run.json": REPORT}, is_read=False)
    artefact = only_file(upload).artefact
    assert artefact is not None
    assert artefact.sha256 == hashlib.sha256(REPORT).hexdigest()
    assert read(artefact) == REPORT


def test_the_same_bytes_twice_are_one_artefact_and_read_once(bring: Bring) -> None:
    upload = bring({"a.json": REPORT, "b.json": REPORT})
    assert Artefact.objects.count() == 1
    assert states(upload) == {"a.json": FileState.PARSED, "b.json": FileState.KNOWN}
    assert UploadedFile.objects.get(name="b.json").known_as == UploadedFile.objects.get(name="a.json")


def test_bytes_that_were_kept_in_an_earlier_upload_are_known(bring: Bring) -> None:
    bring({"a.json": REPORT}, keep_at_once=True)
    again = bring({"renamed.json": REPORT}, keep_at_once=True)
    assert states(again) == {"renamed.json": FileState.KNOWN}
    assert again.state == UploadState.PARSED


@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar.gz"])
def test_an_archives_members_become_files_with_their_paths(bring: Bring, pack: object) -> None:
    upload = bring({"all": pack({"host3/run.json": REPORT, "notes.txt": b"bring milk\n"})})  # type: ignore[operator]
    assert states(upload) == {"all": "unpacked", "all/host3/run.json": "parsed", "all/notes.txt": "failed"}
    assert upload.state == UploadState.PARTLY
    notes = UploadedFile.objects.get(name="all/notes.txt")
    assert notes.error["message"] == "no format recognises this file"
    assert notes.error["found"] == "bring milk"
    assert notes.error["line"] == 1
    assert read(notes.artefact) == b"bring milk\n"


def test_a_hostile_archive_is_refused_with_a_reason_and_its_good_members_stay(bring: Bring) -> None:
    upload = bring({"evil.zip": zipped({"good.json": REPORT, "../../etc/passwd": b"root::0:0\n"})})
    evil = UploadedFile.objects.exclude(name__in=["evil.zip", "evil.zip/good.json"]).get(upload=upload)
    assert evil.state == FileState.REFUSED
    assert evil.error["message"]
    assert states(upload)["evil.zip/good.json"] == FileState.PARSED


def test_a_cut_archive_gives_what_came_whole(bring: Bring) -> None:
    whole = tarred({"a.json": REPORT, "b.json": OTHER}, mode="w")
    upload = bring({"cut.tar": whole[: len(REPORT) + 2048]})
    assert states(upload)["cut.tar/a.json"] == FileState.PARSED
    assert upload.state == UploadState.PARTLY


def test_an_unpacked_archive_that_is_interrupted_goes_on_where_it_was(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = {f"{n}.json": REPORT.replace(b"fio-3", b"fio-3.%d" % n, 1) for n in range(5)}
    upload = bring({"all.zip": zipped(members)}, is_read=False)
    monkeypatch.setattr(pipeline, "BATCH_FILES", 2)
    monkeypatch.setattr(pipeline, "TASK_S", 0.0)
    rounds = 0
    while upload.claim() and not parse(upload):
        rounds += 1
        monkeypatch.setattr(pipeline, "TASK_S", 0.0 if rounds < 2 else 60.0)
        upload.refresh_from_db()
        assert upload.tries == 0, "time that ran out is no failed try"
    assert rounds == 2
    assert sorted(states(upload).values()) == ["parsed"] * 5 + ["unpacked"]


def test_bytes_that_come_again_in_the_next_batch_are_known(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read while the one before it is not stored yet."""
    monkeypatch.setattr(pipeline, "BATCH_FILES", 2)
    later = {f"{n}.json": REPORT.replace(b"fio-3", b"fio-3.%d" % n, 1) for n in range(3)}
    upload = bring({"all.zip": zipped({**later, "again.json": later["1.json"], "more.json": OTHER})}, keep_at_once=True)
    again = UploadedFile.objects.get(name="all.zip/again.json")
    assert (again.state, again.known_as) == (FileState.KNOWN, UploadedFile.objects.get(name="all.zip/1.json"))
    assert UploadedFile.objects.filter(upload=upload, kept_at__isnull=False).count() == 4


def test_the_work_is_given_to_one_worker_only(bring: Bring) -> None:
    upload = bring({"run.json": REPORT}, is_read=False)
    assert upload.claim()
    assert not Upload.objects.get(pk=upload.pk).claim()


def test_what_the_database_refuses_harms_only_its_own_file(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pipeline.keep_files

    def failing(upload: Upload, pairs: list[tuple[UploadedFile, FileReading]]) -> int:
        if any(file.name.endswith("bad.json") for file, _ in pairs):
            raise ValueError("a metric nobody declared")
        return real(upload, pairs)

    monkeypatch.setattr(pipeline, "keep_files", failing)
    upload = bring({"x.zip": zipped({"good.json": REPORT, "bad.json": OTHER})}, keep_at_once=True)
    assert states(upload) == {"x.zip": "unpacked", "x.zip/good.json": "parsed", "x.zip/bad.json": "failed"}
    bad = UploadedFile.objects.get(name="x.zip/bad.json")
    assert "a metric nobody declared" in bad.error["message"]
    assert bad.runs.count() == 0
    assert UploadedFile.objects.get(name="x.zip/good.json").runs.count() == 1


def test_a_reader_that_dies_costs_one_file(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(_: object, files: list[object]) -> Callable[[], list[SandboxError]]:
        return lambda: [SandboxError("reading it took longer than 60 s") for _ in files]

    monkeypatch.setattr(pipeline._Parsing, "_begin", dying)
    upload = bring({"slow.txt": b"x\n"})
    assert upload.state == UploadState.FAILED
    assert only_file(upload).error["message"] == "reading it took longer than 60 s"


def test_an_error_of_ours_is_tried_three_times_and_then_said(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = bring({"run.json": REPORT}, is_read=False)

    def broken(self: object) -> bool:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(pipeline._Parsing, "all", broken)
    for expected in ("queued", "queued", "failed"):
        assert upload.claim()
        assert parse(upload)
        upload.refresh_from_db()
        assert upload.state == expected
    assert "the disk is on fire" in upload.problem
    assert not upload.claim()


def test_a_small_archive_may_be_the_first_that_comes(bring: Bring, settings: Any, tmp_path: Path) -> None:
    settings.ARTEFACT_DIR = tmp_path / "artefacts"
    upload = bring({"all.zip": zipped({"a.json": REPORT})})
    assert upload.state == UploadState.PARSED


def test_an_archive_of_too_many_entries_is_one_row_with_its_reason(bring: Bring) -> None:
    entry = tar_header(b"a", b"%011o\0" % 1) + b"1".ljust(512, b"\0")
    upload = bring({"many.tar.gz": gzip.compress(entry * 100_001 + bytes(1024), 1)})
    file = only_file(upload)
    assert (upload.state, file.state) == (UploadState.FAILED, FileState.REFUSED)
    assert "more than 100,000 entries" in file.error["message"]


def test_empty_files_beside_others_are_told_and_no_failure(bring: Bring) -> None:
    """fio's log of submission latencies is always empty where nothing is queued."""
    upload = bring({"run.json": REPORT, "run_slat.1.log": b""})
    assert upload.state == UploadState.PARSED
    assert states(upload) == {"run.json": "parsed", "run_slat.1.log": "parsed"}
    assert UploadedFile.objects.get(name="run_slat.1.log").warnings == ["nothing is in it (0 bytes)"]


def test_empty_files_of_an_archive_are_told_with_it(bring: Bring) -> None:
    upload = bring({"all.zip": zipped({"run.json": REPORT, "run_slat.1.log": b"", "__MACOSX/._run.json": b"x"})})
    assert upload.state == UploadState.PARSED
    assert states(upload) == {"all.zip": "unpacked", "all.zip/run.json": "parsed"}
    assert "run_slat.1.log" in UploadedFile.objects.get(name="all.zip").warnings[1]


def test_nothing_but_an_empty_file_is_not_readable(bring: Bring) -> None:
    upload = bring({"run_slat.1.log": b""})
    assert upload.state == UploadState.FAILED
    assert only_file(upload).error["message"] == "the file is empty"


MEANS = b"file size MB;sata;scsi\n100;%s;166733,9\n"
SAID = {
    "layout": "wide", "headings": "configuration", "fixed": {"operation": "write", "unit": "KB/s (1024)"}, "decimal": ",",
    "columns": {"0": {"word": "file_size", "unit": "MB (1024)"}, "1": {"word": "value"}, "2": {"word": "value"}},
}  # fmt: skip


def test_a_remembered_mapping_decides_no_comma_that_can_be_either(bring: Bring) -> None:
    first = only_file(bring({"means.csv": MEANS % b"177456,5"}))
    assert first.reading is not None
    TableMapping.objects.create(lab=first.upload.lab, signature=first.reading.table["signature"], mapping=SAID)
    proven = only_file(bring({"proven.csv": MEANS % b"177,456"}, keep_at_once=True))
    assert [sample.value for sample in Sample.objects.filter(run__uploaded_from__file=proven).order_by("id")] == [
        177.456 * 1024, 166733.9 * 1024,
    ]  # fmt: skip
    for cells in (b"100;177,456;166,733", b"100;177,456;166733"):
        upload = bring({"open.csv": b"file size MB;sata;scsi\n" + cells + b"\n"}, keep_at_once=True)
        file = only_file(upload)
        assert (upload.state, file.state, file.run_count, file.mapping) == (
            UploadState.FAILED,
            FileState.FAILED,
            0,
            None,
        )
        assert "needs a choice" in file.error["message"]


def test_a_remembered_mapping_reads_a_table_of_the_other_mark_by_its_own_numbers(bring: Bring) -> None:
    first = only_file(bring({"means.csv": MEANS % b"177456,5"}))
    assert first.reading is not None
    TableMapping.objects.create(lab=first.upload.lab, signature=first.reading.table["signature"], mapping=SAID)
    for cells, values in ((b"177456.5;1.25", [177456.5, 1.25]), (b"177;166", [177, 166])):
        file = only_file(bring({"points.csv": b"file size MB;sata;scsi\n100;" + cells + b"\n"}, keep_at_once=True))
        samples = Sample.objects.filter(run__uploaded_from__file=file).order_by("id")
        assert [sample.value for sample in samples] == [value * 1024 for value in values]


def test_a_member_of_the_name_of_one_that_was_refused_is_read_by_the_next_worker(bring: Bring) -> None:
    """The first one died behind the refusals and before the members were stored."""
    made = zipped({"../up": b"1", "a.json": REPORT, "a.json/b.json": OTHER})
    upload = bring({"all.zip": made}, is_read=False)
    archive = only_file(upload)
    for name in ("all.zip/../up", "all.zip/a.json", f"all.zip/{'x' * 992}"):
        UploadedFile.objects.create(upload=upload, archive=archive, name=name, state=FileState.REFUSED)
    assert upload.claim()
    assert parse(upload)
    now = UploadedFile.objects.filter(upload=upload).values_list("state", flat=True)
    assert sorted(now) == ["parsed"] * 2 + ["refused"] * 3 + ["unpacked"]
    assert UploadedFile.objects.filter(name="all.zip/a.json", state="parsed").count() == 1


def test_members_that_differ_before_the_part_of_their_names_that_is_kept_are_all_read(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = "d" * 500 + "/" + "n" * 500
    members = {f"{n}/{same}": REPORT.replace(b"fio-3", b"fio-3.%d" % n, 1) for n in range(3)}
    upload = bring({"all.zip": zipped(members)}, is_read=False)
    monkeypatch.setattr(pipeline, "BATCH_FILES", 1)
    late = iter([False, True])  # not before the archive, but behind its first member
    monkeypatch.setattr(pipeline._Parsing, "is_late", property(lambda self: next(late, False)))
    assert upload.claim()
    assert not parse(upload)
    assert UploadedFile.objects.filter(upload=upload).count() == 2
    assert upload.claim()
    assert parse(upload)
    assert UploadedFile.objects.filter(upload=upload, state=FileState.PARSED, run_count=1).count() == 3
    assert UploadedFile.objects.filter(upload=upload).count() == 4


def test_the_rest_of_an_archive_of_the_longest_name_is_told(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(*_: object) -> Iterator[object]:
        raise SandboxError("reading it used more than its limits and was ended (signal 9)")
        yield

    monkeypatch.setattr(pipeline, "unpacker", lambda: SimpleNamespace(unpack=dying))
    upload = bring({"n" * 996 + ".zip": zipped({"a.json": REPORT})})
    (rest,) = UploadedFile.objects.filter(upload=upload, state=FileState.REFUSED)
    assert rest.name.endswith("n.zip (rest)")
    assert "signal 9" in rest.error["message"]


def test_thousands_of_refusals_are_stored_together(bring: Bring, django_assert_max_num_queries: Any) -> None:
    cut = gzip.compress(REPORT)[:200]
    made = tarred({f"{number}.gz": cut for number in range(900)}, mode="w")
    with django_assert_max_num_queries(120):
        upload = bring({"all.tar": made})
    assert UploadedFile.objects.filter(upload=upload, state=FileState.REFUSED, size=0).count() == 900
    assert "cut off" in UploadedFile.objects.get(name="all.tar/899.gz").error["message"]
