"""Artefacts' bytes on the disk."""

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs import artefact_store
from apps.runs.artefact_store import ArtefactStoreError, keep, open_stream, path_of, read
from apps.runs.models import Artefact
from tests.conftest import Cast


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.ARTEFACT_DIR = tmp_path / "deep" / "artefacts"
    return Path(settings.ARTEFACT_DIR)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_bytes_come_back_as_they_were(lab: Lab) -> None:
    data = os.urandom(3_000_000) + b"\x00" * 3_000_000
    artefact = keep(lab.pk, data)
    assert (artefact.size, artefact.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert read(artefact) == data


def test_pieces_are_kept_as_one(lab: Lab) -> None:
    assert keep(lab.pk, (b"fio", b"", b" says")) == keep(lab.pk, b"fio says")


def test_nothing_is_something_too(lab: Lab) -> None:
    assert read(keep(lab.pk, b"")) == b""


def test_the_same_bytes_twice_are_one_artefact_and_one_file(lab: Lab, folder: Path) -> None:
    assert keep(lab.pk, b"again").pk == keep(lab.pk, b"again").pk
    assert len(files(folder)) == 1


def test_two_labs_share_the_file_and_not_the_row(cast: Cast, folder: Path) -> None:
    with lab_scope(cast.lab.pk):
        mine = keep(cast.lab.pk, b"common")
    with lab_scope(cast.other_lab.pk):
        theirs = keep(cast.other_lab.pk, b"common")
        assert not Artefact.objects.filter(pk=mine.pk).exists()
    assert mine.pk != theirs.pk
    assert len(files(folder)) == 1


def test_a_full_disk_is_said_and_nothing_stays_behind(lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(artefact_store.os, "fsync", full)
    folder.mkdir(parents=True)
    with pytest.raises(ArtefactStoreError, match=r"No space left on device.*Free some space"):
        keep(lab.pk, b"too much")
    assert files(folder) == []
    assert not Artefact.objects.exists()


def test_a_source_that_breaks_off_leaves_nothing(lab: Lab, folder: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("the database went away")

    with pytest.raises(RuntimeError):
        keep(lab.pk, broken())
    assert files(folder) == []


def test_altered_bytes_are_noticed(lab: Lab) -> None:
    artefact = keep(lab.pk, b"the truth")
    path_of(artefact.sha256).write_bytes(path_of(keep(lab.pk, b"a lie").sha256).read_bytes())
    with pytest.raises(ArtefactStoreError, match="were altered"):
        read(artefact)
    path_of(artefact.sha256).write_bytes(b"rubbish")
    with pytest.raises(ArtefactStoreError, match="damaged"):
        read(artefact)


def test_a_file_cut_short_is_noticed(lab: Lab) -> None:
    artefact = keep(lab.pk, os.urandom(10_000))
    whole = path_of(artefact.sha256).read_bytes()
    path_of(artefact.sha256).write_bytes(whole[:5000])
    with pytest.raises(ArtefactStoreError):
        read(artefact)


def test_a_lost_file_is_said_and_can_be_kept_again(lab: Lab) -> None:
    artefact = keep(lab.pk, b"lost")
    path_of(artefact.sha256).unlink()
    with pytest.raises(ArtefactStoreError, match="cannot be read"):
        list(open_stream(artefact))
    assert read(keep(lab.pk, b"lost")) == b"lost"
