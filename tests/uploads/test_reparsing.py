"""Kept uploads are read again when a parser improves, and what changed is said."""

from io import StringIO

import pytest
from django.core.management import call_command
from msgspec import structs

from apps.labs.models import Lab
from apps.runs.models import Run, Sample
from apps.uploads import reparsing
from apps.uploads.keeping import keep
from apps.uploads.models import FileState, UploadedFile
from apps.uploads.reading import FileReading
from apps.uploads.sandbox.parent import reader
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
        def read(self, data: bytes, name: str, only: str, mapping: object) -> FileReading:
            return better(reader().read(data, name))

    monkeypatch.setattr(reparsing, "reader", Better)


def test_nothing_changes_where_the_parser_did_not(bring: Bring, lab: Lab) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    out = StringIO()
    call_command("reparse", lab=lab.slug, stdout=out)
    assert out.getvalue() == "1 files read again, nothing changed.\n"


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
    assert Sample.objects.filter(run=run).count() == run.uploaded_from.file.sample_count - 1
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

    monkeypatch.setattr(reparsing, "reader", Knowing)
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

    monkeypatch.setattr(reparsing, "reader", Blind)
    (change,) = reparsing.reparse(UploadedFile.objects.to_read_again(), apply=True)
    assert "is not found any more" in str(change)
    assert Run.objects.count() == 1
    assert Sample.objects.exists()
