"""The volume of uploaded files is full: 507 with a sentence, no row of half an upload, and all is well when there is room."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent, Token
from apps.runs.artefacts.store import read
from apps.runs.models import Artefact
from apps.uploads.models import Upload, UploadedFile
from tests.faults.calls import Reply, call
from tests.faults.namespaces import explain_missing
from tests.faults.stack import KIB, MIB, Stack
from tests.sampling import IS_LONG, SEED

MISSING = explain_missing()
pytestmark = [pytest.mark.faults, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
UPLOADS = 100 if IS_LONG else 6
IMAGE_BYTES = 600 * MIB  # of which nothing is written that is only reserved
LARGE = 200 * KIB  # more than lies in the database
SMALL = 10 * KIB


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Path]:
    image, mount = tmp_path / "image", tmp_path / "media"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


def fill(volume: Path) -> Path:
    """Reserve every block that is left."""
    filler = volume / "filler"
    with filler.open("wb") as file:
        for step in (MIB, 4 * KIB):
            while True:
                try:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, step)
                except OSError:
                    break
    return filler


def send(stack: Stack, token: str, data: bytes) -> Reply:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="fio.json"\r\n\r\n'
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=x"}
    return call(stack.port, "POST", "/api/v1/uploads/", head + data + b"\r\n--x--\r\n", headers)


def count() -> list[int]:
    with all_labs():
        return [model.objects.count() for model in (Upload, UploadedFile, Artefact)] + [
            AuditEvent.objects.filter(act="files uploaded").count()
        ]


def test_a_full_volume_is_507_and_leaves_nothing_half_done(
    transactional_db: None, cast: Any, tmp_path: Path, volume: Path, settings: Any
) -> None:
    chance = random.Random(SEED)
    settings.ARTEFACT_DIR = volume / "artefacts"
    stack = Stack(tmp_path, cast.lab, data=volume)
    with lab_scope(cast.lab.pk):
        token = Token.objects.issue(cast.lab, "admin", "test")[1]
    try:
        stack.start_web()
        assert send(stack, token, chance.randbytes(LARGE)).status == 202
        before, files = count(), sorted(volume.rglob("*.z"))
        assert files
        filler = fill(volume)
        for _ in range(UPLOADS):
            reply = send(stack, token, chance.randbytes(LARGE))
            assert reply.status == 507, reply.body
            assert reply.json()["status"] == 507
            assert count() == before
        assert send(stack, token, b"x" * SMALL).status == 202, "few bytes lie in the database"
        assert sorted(volume.rglob("*.z")) == files
        assert not [path for path in volume.rglob(".*") if path.is_file()]
        assert call(stack.port, "GET", "/api/v1/uploads/", headers={"Authorization": f"Bearer {token}"}).status == 200
        filler.unlink()
        data = chance.randbytes(LARGE)
        assert send(stack, token, data).status == 202
        with all_labs():
            assert read(UploadedFile.objects.latest("pk").artefact) == data
    finally:
        stack.down()
