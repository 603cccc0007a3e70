"""Runs that somebody left out when the others were kept: reading the file again leaves them out, and they can be kept after all."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from msgspec import structs

from apps.runs.models import Run
from apps.uploads.file_reader import FileReading
from apps.uploads.models import Upload, UploadedFile, UploadedRun
from apps.uploads.reparse import services as uploads_reparse
from apps.uploads.review.run_selection import ticked, with_choice
from apps.uploads.sandbox.parent import reader
from apps.uploads.save_runs import keep
from tests.uploads.conftest import Bring, only_file

pytestmark = pytest.mark.services
DD = """\
$ dd if=/dev/zero of=/srv/{name}/test bs=1M count=1024
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, {seconds} s, 262 MB/s
"""
THREE = "".join(DD.format(name=name, seconds=seconds) for name, seconds in (("A", "4.1"), ("B", "5.2"), ("C", "6.3")))


@pytest.fixture
def kept(bring: Bring) -> Upload:
    """Of three runs the middle one was left out."""
    upload = bring({"three.txt": THREE.encode()})
    with_choice(only_file(upload).pk, lambda found: ticked(found, on_page=range(3), ticks={0, 2}))
    assert keep(upload) == 2
    return upload


def reparse(**options: object) -> str:
    out = StringIO()
    call_command("reparse", stdout=out, **options)
    return out.getvalue()


def paths() -> list[str]:
    return sorted(Run.objects.values_list("labels__path", flat=True))


def test_it_is_neither_offered_nor_kept_when_the_file_is_read_again(kept: Upload) -> None:
    assert "nothing changed" in reparse()
    assert "nothing changed" in reparse(keep_new=True)
    assert paths() == ["/srv/A/test", "/srv/C/test"]


def test_nor_when_a_better_parser_reads_it_otherwise(kept: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    def better(found: FileReading) -> FileReading:
        runs = (structs.replace(one, run=structs.replace(one.run, tool_version="9.1")) for one in found.runs)
        return structs.replace(found, runs=tuple(runs))

    class Better:
        def read(self, *asked: Any) -> FileReading:
            return better(reader().read(*asked))

    before = only_file(kept).left_out
    monkeypatch.setattr(uploads_reparse, "reader", Better)
    said = reparse(keep_new=True)
    assert (said.count("changed\n"), "more runs" in said) == (2, False)
    assert only_file(kept).left_out[0]["digest"] != before[0]["digest"]
    assert "nothing changed" in reparse(keep_new=True)
    assert Run.objects.count() == 2


def test_the_page_says_so_and_keeps_it_after_all(kept: Upload, sign_in: Any) -> None:
    file, engineer = only_file(kept), sign_in("engineer")
    shown = engineer.get(file.get_absolute_url()).content.decode()
    assert "lines 6 to 8: dd /srv/B/test, 2 samples" in shown
    assert "1 left out" in engineer.get(kept.get_absolute_url()).content.decode()
    address = f"{file.get_absolute_url()}left-out/"
    assert sign_in("viewer").post(address, {"run": 0}).status_code == 403
    assert "Nothing was kept" in engineer.post(address, {}, follow=True).content.decode()
    assert "1 run kept after all." in engineer.post(address, {"run": 0}, follow=True).content.decode()
    assert paths() == ["/srv/A/test", "/srv/B/test", "/srv/C/test"]
    rows = UploadedRun.objects.filter(file=file).order_by("number").values_list("number", "run__labels__path")
    assert list(rows) == [(0, "/srv/A/test"), (1, "/srv/B/test"), (2, "/srv/C/test")]
    after = UploadedFile.objects.get(pk=file.pk)
    assert (after.run_count, after.sample_count, after.left_out) == (3, 6, [])
    assert "Nothing was kept" in engineer.post(address, {"run": 0}, follow=True).content.decode()
    assert "nothing changed" in reparse(keep_new=True)


def test_what_is_kept_whole_leaves_nothing_out(bring: Bring) -> None:
    upload = bring({"three.txt": THREE.encode()}, keep_at_once=True)
    assert only_file(upload).left_out == []


def test_another_labs_page_is_not_there(kept: Upload, sign_in: Any) -> None:
    stranger: Client = sign_in("stranger")
    assert stranger.post(f"{only_file(kept).get_absolute_url()}left-out/", {"run": 0}).status_code == 404
