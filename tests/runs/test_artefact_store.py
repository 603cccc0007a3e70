"""Artefacts' bytes: few of them in the database, many on the disk."""

import errno
import hashlib
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.artefacts import store
from apps.runs.artefacts.store import SMALL, ArtefactStoreError, keep, keep_all, open_stream, path_of, read, tail
from apps.runs.models import Artefact, RunArtefact, SmallBytes
from tests.comparison.factories import run
from tests.conftest import Cast
from tests.sampling import for_each

BIG = bytes(SMALL + 1)


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All bytes are many."""
    settings.ARTEFACT_DIR = tmp_path / "deep" / "artefacts"
    monkeypatch.setattr(store, "SMALL", -1)
    return Path(settings.ARTEFACT_DIR)


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def few(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SMALL", 64 << 10)


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

    monkeypatch.setattr(store.os, "fsync", full)
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


@pytest.mark.usefixtures("few")
def test_few_bytes_lie_in_the_database_and_many_on_the_disk(lab: Lab, folder: Path) -> None:
    data = [os.urandom(size) for size in (0, 1, SMALL, SMALL + 1)]
    kept = keep_all(lab.pk, [*data, data[1]])
    assert [read(one) for one in kept] == [*data, data[1]]
    assert kept[1].pk == kept[4].pk
    assert [one.name for one in files(folder)] == [f"{kept[3].sha256}.z"]
    assert SmallBytes.objects.count() == 3


@pytest.mark.usefixtures("few")
def test_few_bytes_are_gone_with_the_transaction_that_brought_them(lab: Lab) -> None:
    def failing() -> None:
        with transaction.atomic():
            keep(lab.pk, b"few")
            raise RuntimeError("the database went away")

    with pytest.raises(RuntimeError):
        failing()
    assert not Artefact.objects.exists()
    assert read(keep(lab.pk, b"few")) == b"few"


@pytest.mark.usefixtures("few")
def test_another_lab_keeps_few_bytes_by_itself(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        keep(cast.lab.pk, b"common")
    with lab_scope(cast.other_lab.pk):
        assert not SmallBytes.objects.exists()
        assert read(keep(cast.other_lab.pk, b"common")) == b"common"


@pytest.mark.usefixtures("few")
def test_few_bytes_that_were_altered_are_noticed(lab: Lab) -> None:
    artefact, other = keep(lab.pk, b"the truth"), keep(lab.pk, b"a lie")
    SmallBytes.objects.filter(pk=artefact.pk).update(packed=SmallBytes.objects.get(pk=other.pk).packed)
    with pytest.raises(ArtefactStoreError, match="were altered"):
        read(artefact)
    SmallBytes.objects.filter(pk=artefact.pk).update(packed=b"rubbish")
    with pytest.raises(ArtefactStoreError, match="damaged"):
        read(Artefact.objects.get(pk=artefact.pk))


@pytest.mark.usefixtures("few")
def test_a_file_of_few_bytes_from_before_is_read_and_not_kept_twice(
    lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(store, "SMALL", -1)
        artefact = keep(lab.pk, b"earlier")
    assert keep(lab.pk, b"earlier") == artefact
    assert read(artefact) == b"earlier"
    assert not SmallBytes.objects.exists()


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


def test_bytes_that_were_altered_are_right_again_when_they_come_again(lab: Lab) -> None:
    artefact = keep(lab.pk, iter([b"the truth"]))
    path_of(artefact.sha256).write_bytes(b"rubbish")
    assert keep(lab.pk, iter([b"the truth"])) == artefact
    assert read(artefact) == b"the truth"


@for_each("most, size", list(product([1, 7, 1 << 20, 3_000_000], [0, 5, 2_500_000])))
def test_the_end_of_an_artefact(lab: Lab, size: int, most: int) -> None:
    data = os.urandom(size)
    assert tail(keep(lab.pk, data), most) == data[-most:]


@pytest.mark.usefixtures("few")
def test_every_file_that_is_lost_or_altered_is_named(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    few, many, other, sound = (keep(lab.pk, data) for data in (b"few", BIG, BIG + b"1", BIG + b"2"))
    call_command("check_artefacts")
    assert "Every kept file has the bytes that came." in capsys.readouterr().out
    SmallBytes.objects.filter(artefact=few).update(packed=b"rubbish")
    path_of(many.sha256).unlink()
    path_of(other.sha256).write_bytes(path_of(sound.sha256).read_bytes())
    RunArtefact.objects.create(run=run(lab), artefact=many, name="a/result.json", kind="result")
    with pytest.raises(CommandError, match="3 files lost or altered"):
        call_command("check_artefacts")
    told = capsys.readouterr().err.splitlines()
    assert [one.partition(": ")[2].partition(" artefact ")[0] for one in told] == [
        "The kept bytes of",
        "The bytes of",
        "The kept bytes of",
    ]
    assert f"a/result.json of run {RunArtefact.objects.get().run_id}: " in told[1]
    assert "a file of 3 bytes without a run" in told[0]
