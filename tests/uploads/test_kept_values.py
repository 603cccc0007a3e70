"""What is read in the confined child is what is kept: samples, series and digests."""

import socket
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from apps.parsers.core.models import ParsedTable
from apps.parsers.core.source_text import SourceText
from apps.runs.models import Run, Sample, Series
from apps.uploads.file_reader import FileReading, read_file
from apps.uploads.models import UploadedFile, UploadedRun
from apps.uploads.sandbox import frames
from tests.uploads.conftest import OTHER, REPORT, Bring, zipped

FIXTURES = Path(__file__).parent.parent / "parsers" / "fixtures"
FILES = sorted(one for one in FIXTURES.rglob("*") if one.is_file() and ".expected." not in one.name)


def travelled(found: FileReading) -> FileReading:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=FileReading)


def test_every_fixture_has_the_same_samples_and_digests_after_its_way_from_the_child() -> None:
    for path in FILES:
        found = read_file(SourceText(path.read_bytes(), path.name))
        other = travelled(found)
        assert len(found.runs) == len(other.runs)
        for one, two in zip(other.runs, travelled(other).runs, strict=True):
            assert two.digest == one.digest, path
        for one, two in zip(found.runs, other.runs, strict=True):
            assert tuple(two.samples) == tuple(one.samples), path
            assert (two.sample_count, two.has_values) == (one.sample_count, one.has_values)


def test_a_table_has_the_digest_of_its_samples_one_by_one() -> None:
    compared = 0
    for path in FILES:
        for one in travelled(read_file(SourceText(path.read_bytes(), path.name))).runs:
            if isinstance(one.run.samples, ParsedTable):
                apart = structs.replace(one, run=structs.replace(one.run, samples=tuple(one.run.samples)))
                assert apart.digest == one.digest, path
                compared += 1
    assert compared


@pytest.mark.django_db
def test_files_of_both_kinds_are_kept_in_one_batch(bring: Bring) -> None:
    files = {one.name: one.read_bytes() for one in FILES if one.parent.name in ("fio_json", "fio_logs", "iozone")}
    bring({"all.zip": zipped({"a/report.json": REPORT, "a/other.json": OTHER, **files})}, keep_at_once=True)
    kept = UploadedFile.objects.filter(kept_at__isnull=False)
    assert kept.count() > 10
    assert Series.objects.exists()
    for file in kept:
        assert Sample.objects.filter(run__uploaded_from__file=file).count() == file.sample_count
    for row in UploadedRun.objects.select_related("file"):
        (again,) = [
            one
            for one in read_file(SourceText(_bytes(row.file, files), row.file.name)).runs
            if one.format == row.format
        ][row.number : row.number + 1]
        assert row.digest == travelled(FileReading(runs=(again,))).runs[0].digest


def _bytes(file: UploadedFile, files: dict[str, bytes]) -> bytes:
    name = file.name.split("/")[-1]
    return {"report.json": REPORT, "other.json": OTHER, **files}[name]


@pytest.mark.django_db
def test_a_run_without_samples_is_kept(bring: Bring) -> None:
    log = b"".join(b"%d, %d, 0, 4096\n" % (n, n + 1) for n in range(50))
    upload = bring({"x_bw.1.log": log}, keep_at_once=True)
    assert UploadedFile.objects.get(upload=upload).run_count == Run.objects.count()


def test_frames_come_in_pieces_and_together() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        incoming = frames.FrameReader(ours)
        for size in (0, 1, 5, 100_000):
            frames.send(theirs, b"x" * size)
        sent = msgspec.msgpack.encode(b"last")
        theirs.sendall(len(sent).to_bytes(8, "big")[:3])
        got = [msgspec.msgpack.decode(incoming.receive()) for _ in range(4)]
        assert [len(one) for one in got] == [0, 1, 5, 100_000]
        theirs.sendall(len(sent).to_bytes(8, "big")[3:] + sent[:2])
        theirs.sendall(sent[2:])
        assert msgspec.msgpack.decode(incoming.receive()) == b"last"
        theirs.close()
        with pytest.raises(frames.ClosedError):
            incoming.receive()
