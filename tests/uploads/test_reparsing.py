"""Kept uploads are read again when a parser improves, and what changed is said."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from msgspec import structs

from apps.labs.models import Lab
from apps.parsers.core.models import Broken
from apps.runs.models import Run, Sample
from apps.uploads import pipeline
from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.models import FileState, Upload, UploadedFile, UploadedRun
from apps.uploads.reparse import services as uploads_reparse
from apps.uploads.review.run_selection import ticked, with_choice
from apps.uploads.sandbox.parent import reader
from apps.uploads.save_runs import keep
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file

pytestmark = pytest.mark.services


def better(found: FileReading, factor: float = 2.0) -> FileReading:
    """The same file as an improved parser would read it: the first value was wrong, the last one is not printed."""
    (one,) = found.runs
    first, *rest = one.run.samples
    assert first.value is not None
    samples = (structs.replace(first, value=first.value * factor), *rest[:-1])
    return structs.replace(found, runs=(structs.replace(one, run=structs.replace(one.run, samples=samples)),))


@pytest.fixture
def improved(monkeypatch: pytest.MonkeyPatch) -> None:
    class Better:
        def read(self, data: bytes, name: str, *_: object) -> FileReading:
            return better(reader().read(data, name))

    monkeypatch.setattr(uploads_reparse, "reader", Better)


def test_nothing_changes_where_the_parser_did_not(bring: Bring, lab: Lab) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    out = StringIO()
    call_command("reparse", lab=lab.slug, stdout=out)
    assert out.getvalue() == "1 files read again, nothing changed.\n"


def test_an_empty_file_that_was_excused_stays_so(bring: Bring, lab: Lab) -> None:
    upload, out = bring({"run.json": REPORT, "run_slat.1.log": b""}, keep_at_once=True), StringIO()
    call_command("reparse", lab=lab.slug, stdout=out)
    assert out.getvalue() == "1 files read again, nothing changed.\n"
    assert upload.files.get(size=0).state == FileState.PARSED


def test_what_an_improved_parser_reads_takes_the_place_of_the_old(bring: Bring, lab: Lab, improved: None) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    run = Run.objects.get()
    before = set(Sample.objects.filter(run=run).values_list("measure", "section", "value"))
    out = StringIO()
    call_command("reparse", lab=lab.slug, stdout=out)
    said = out.getvalue()
    assert f"run.json run {run.pk}: changed" in said
    assert "→" in said
    assert "gone, was" in said
    assert Sample.objects.filter(run=run).count() == len(before) - 1
    assert run.uploaded_from.file.sample_count == len(before) - 1, "the file's row counts what is here"
    now = set(Sample.objects.filter(run=run).values_list("measure", "section", "value"))
    assert (len(before - now), len(now - before)) == (2, 1)
    out = StringIO()
    call_command("reparse", lab=lab.slug, stdout=out)
    assert "nothing changed" in out.getvalue(), "the second time there is nothing left to do"


def test_a_dry_run_shows_and_changes_nothing(bring: Bring, lab: Lab, improved: None) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    before = list(Sample.objects.order_by("pk").values_list("pk", "value"))
    out = StringIO()
    call_command("reparse", lab=lab.slug, dry_run=True, stdout=out)
    assert "changed" in out.getvalue()
    assert list(Sample.objects.order_by("pk").values_list("pk", "value")) == before


def test_labels_host_and_number_of_a_run_stay(bring: Bring, lab: Lab, improved: None) -> None:
    bring({"run.json": REPORT}, keep_at_once=True, labels={"cable": "old"})
    run = Run.objects.get()
    call_command("reparse", lab=lab.slug, stdout=StringIO())
    again = Run.objects.get()
    assert (again.pk, again.labels, again.facts["cable"]) == (run.pk, run.labels, "old")


def test_a_file_that_was_unreadable_can_be_kept_once_a_parser_knows_it(
    bring: Bring, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = bring({"odd.txt": b"odd tool 1.0\n"})
    assert only_file(upload).state == FileState.FAILED

    class Knowing:
        def read(self, *_: object) -> FileReading:
            return reader().read(OTHER, "odd.txt")

    monkeypatch.setattr(uploads_reparse, "reader", Knowing)
    out = StringIO()
    call_command("reparse", upload=upload.pk, stdout=out)
    assert "odd.txt: not readable before, 1 runs" in out.getvalue()
    assert keep(upload) == 1


def test_a_run_that_is_not_found_any_more_stays_and_is_named(
    bring: Bring, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)

    class Blind:
        def read(self, *_: object) -> FileReading:
            return FileReading()

    monkeypatch.setattr(uploads_reparse, "reader", Blind)
    (change,) = uploads_reparse.reparse(UploadedFile.objects.to_read_again(), apply=True)
    assert "is not found any more" in str(change)
    assert Run.objects.count() == 1
    assert Sample.objects.exists()


DD = """\
$ dd if=/dev/zero of=/srv/{name}/test bs=1M count=1024 oflag=direct
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, {seconds} s, {rate} MB/s
"""
THREE = "".join(
    DD.format(name=name, seconds=seconds, rate=rate)
    for name, seconds, rate in (("A", 4.1, 262), ("B", 5.2, 206), ("C", 6.3, 170))
).encode()
A, B, C = 261888249.75609758, 206488812.3076923, 170435210.15873015  # bytes/s
Reads = Callable[[FileReading], FileReading]


@pytest.fixture
def once_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[Reads], None]:
    """What comes in is read so, as by an earlier parser; `reparse` reads as today."""

    def as_before(change: Reads) -> None:
        class Earlier:
            def begin(self, asked: list[Any]) -> Callable[[], list[FileReading]]:
                return lambda: [change(reader().read(*one)) for one in asked]

        monkeypatch.setattr(pipeline, "reader", Earlier)

    return as_before


def without_the_first(found: FileReading) -> FileReading:
    return structs.replace(found, runs=found.runs[1:])


def unreadable(_: FileReading) -> FileReading:
    return FileReading(error=Broken("no such thing", 1))


def each_run(change: Callable[[ReadRun], ReadRun]) -> Reads:
    return lambda found: structs.replace(found, runs=tuple(change(one) for one in found.runs))


def half(one: ReadRun) -> ReadRun:
    """Every value was read wrong."""
    samples = tuple(structs.replace(each, value=(each.value or 0) / 2) for each in one.run.samples)
    return structs.replace(one, run=structs.replace(one.run, samples=samples))


def bandwidths() -> dict[str, float]:
    found = Sample.objects.filter(measure__metric="bandwidth").values_list("run__labels__path", "value")
    return dict(found)


def reparse(**options: Any) -> str:
    out = StringIO()
    call_command("reparse", stdout=out, **options)
    return out.getvalue()


def test_a_file_that_nobody_wanted_to_preview_is_kept_once_a_parser_knows_it(
    bring: Bring, once_read: Callable[[Reads], None]
) -> None:
    once_read(unreadable)
    upload = bring({"late.txt": THREE}, keep_at_once=True)
    assert only_file(upload).state == FileState.FAILED
    said = reparse()
    assert "not readable before, 3 runs with 6 samples now, kept as runs " in said
    assert {name[5]: round(value) for name, value in bandwidths().items()} == {
        "A": round(A),
        "B": round(B),
        "C": round(C),
    }
    again = bring({"late.txt": THREE}, keep_at_once=True)
    assert (only_file(again).state, only_file(again).known_as) == (FileState.KNOWN, only_file(upload))
    assert "nothing changed" in reparse()


def test_a_dry_run_keeps_nothing_that_was_not_readable_before(bring: Bring, once_read: Callable[[Reads], None]) -> None:
    once_read(unreadable)
    upload = bring({"late.txt": THREE}, keep_at_once=True)
    assert "3 runs with 6 samples now" in reparse(dry_run=True)
    assert not Run.objects.exists()
    assert only_file(upload).kept_at is None


@pytest.mark.parametrize("was", [lambda found: found, each_run(half)], ids=["same values", "other values"])
def test_a_run_that_is_newly_found_before_others_moves_no_value_to_another_run(
    bring: Bring, once_read: Callable[[Reads], None], was: Reads
) -> None:
    once_read(lambda found: was(without_the_first(found)))
    upload = bring({"three.txt": THREE}, keep_at_once=True)
    paths = dict(Run.objects.values_list("pk", "labels__path"))
    assert sorted(paths.values()) == ["/srv/B/test", "/srv/C/test"]
    said = reparse()
    assert "1 more runs are found now, and kept as run " in said
    assert "lines 2 to 4: dd /srv/A/test, 2 samples" in said
    assert bandwidths() == pytest.approx({"/srv/A/test": A, "/srv/B/test": B, "/srv/C/test": C})
    assert {pk: path for pk, path in Run.objects.values_list("pk", "labels__path") if pk in paths} == paths
    rows = UploadedRun.objects.filter(file__upload=upload).order_by("number")
    assert [(one.number, one.run.labels["path"][5]) for one in rows] == [(0, "A"), (1, "B"), (2, "C")]
    assert (only_file(upload).run_count, only_file(upload).sample_count) == (3, 6)
    assert "nothing changed" in reparse()


def test_newly_found_runs_are_counted_as_repetitions_with_the_others(
    bring: Bring, once_read: Callable[[Reads], None]
) -> None:
    once_read(without_the_first)
    same = "".join(DD.format(name="A", seconds=seconds, rate=1074) for seconds in ("1.001", "1.002", "1.003"))
    bring({"three.txt": same.encode()}, keep_at_once=True)
    reparse()
    rows = UploadedRun.objects.order_by("number").select_related("run")
    assert [(one.number, one.run.repetition) for one in rows] == [(0, 1), (1, 2), (2, 3)]


def test_of_a_file_of_which_somebody_chose_new_runs_are_kept_on_request_only(
    bring: Bring, once_read: Callable[[Reads], None]
) -> None:
    once_read(without_the_first)
    upload = bring({"three.txt": THREE})
    keep(upload)
    assert "are kept with --keep-new only" in reparse()
    assert Run.objects.count() == 2
    assert "1 more runs are found now, and kept as run " in reparse(keep_new=True)
    assert bandwidths() == pytest.approx({"/srv/A/test": A, "/srv/B/test": B, "/srv/C/test": C})


def test_a_run_that_somebody_deleted_does_not_come_back(bring: Bring) -> None:
    bring({"three.txt": THREE}, keep_at_once=True)
    Run.objects.get(labels__path="/srv/B/test").delete()
    assert "are kept with --keep-new only" in reparse()
    assert sorted(bandwidths()) == ["/srv/A/test", "/srv/C/test"]


def test_a_run_that_is_not_found_any_more_gives_its_number_away(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    bring({"three.txt": THREE}, keep_at_once=True)

    class Worse:
        def read(self, *asked: Any) -> FileReading:
            return without_the_first(reader().read(*asked))

    monkeypatch.setattr(uploads_reparse, "reader", Worse)
    assert "is not found any more (dd, number 1)" in reparse()
    assert bandwidths() == pytest.approx({"/srv/A/test": A, "/srv/B/test": B, "/srv/C/test": C})
    rows = UploadedRun.objects.order_by("number")
    assert [one.run.labels["path"][5] for one in rows] == ["B", "C", "A"]


def test_what_stands_beside_the_values_is_read_again_and_shown(
    bring: Bring, once_read: Callable[[Reads], None]
) -> None:
    def poorer(one: ReadRun) -> ReadRun:
        run = structs.replace(
            one.run, workload={"block_size": 4096}, target="/dev/wrong", labels={"rd": "odd", "cable": "thin"},
            tool_version="0.1", started_at=1e9, problem="it broke", samples=(),
        )  # fmt: skip
        return structs.replace(one, run=run)

    once_read(each_run(poorer))
    bring({"one.txt": THREE[: len(THREE) // 3]}, keep_at_once=True, labels={"cable": "old"})
    run = Run.objects.get()
    assert (run.state, run.labels) == ("failed", {"path": "/dev/wrong", "rd": "odd", "cable": "old"})
    said = reparse()
    for line in (
        "state: failed → finished", "tool version: 0.1 → nothing", "problem: it broke → nothing",
        "started at: 2001-09-09 01:46:40+00:00 → nothing", "label path: /dev/wrong → /srv/A/test",
        "label rd: odd → nothing", "workload block_size: 4096 → 1048576", "workload direct: nothing → 1",
    ):  # fmt: skip
        assert f"    {line}\n" in said
    run = Run.objects.select_related("workload").get()
    assert (run.state, run.tool_version, run.problem, run.started_at) == ("finished", "", "", None)
    assert run.labels == {"path": "/srv/A/test", "cable": "old"}
    assert run.workload.spec["direct"] == 1
    assert (run.facts["path"], run.facts["cable"], run.facts["sync"]) == ("/srv/A/test", "old", "direct")
    assert "nothing changed" in reparse()


def test_a_preview_whose_values_alone_changed_is_read_again(bring: Bring, once_read: Callable[[Reads], None]) -> None:
    once_read(each_run(half))
    upload = bring({"three.txt": THREE})
    with_choice(only_file(upload).pk, lambda found: ticked(found, on_page=range(3), ticks={0, 1}))
    said = reparse()
    assert "2 runs with 4 samples before, 2 runs with 4 samples now" in said
    assert f"{A / 2} → {A}" in said
    keep(Upload.objects.get(pk=upload.pk))
    assert bandwidths() == pytest.approx({"/srv/A/test": A, "/srv/B/test": B}), "what somebody left out stays out"


def test_a_file_that_was_readable_in_part_is_no_longer_said_to_be(
    bring: Bring, once_read: Callable[[Reads], None]
) -> None:
    broken = (Broken("no seconds", 4),)
    once_read(lambda found: structs.replace(without_the_first(found), broken=broken))
    upload = bring({"three.txt": THREE}, keep_at_once=True)
    assert only_file(upload).state == FileState.PARTLY
    said = reparse()
    assert "three.txt: what is said of it besides its runs is changed\n    said no more: line 4: no seconds\n" in said
    assert (only_file(upload).state, only_file(upload).broken) == (FileState.PARSED, [])


def test_runs_that_may_be_lost_ones_are_not_kept_beside_them(bring: Bring, once_read: Callable[[Reads], None]) -> None:
    """Neither their lines nor their values are as before."""

    def elsewhere(one: ReadRun) -> ReadRun:
        samples = tuple(structs.replace(each, line=(each.line or 0) + 100) for each in half(one).run.samples)
        return structs.replace(one, run=structs.replace(one.run, samples=samples))

    once_read(each_run(elsewhere))
    bring({"three.txt": THREE}, keep_at_once=True)
    said = reparse()
    assert said.count("is not found any more") == 3
    assert "they may be those that are not found any more, so these are kept with --keep-new only" in said
    assert Run.objects.count() == 3
