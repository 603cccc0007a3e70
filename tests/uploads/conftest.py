"""Files as people bring them: real fio reports of ours, and archives built from them."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.labs.models import Lab
from apps.uploads.models import Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.sandbox.parent import Sandbox, reader, unpacker
from apps.uploads.services import add_file, open_upload

REPORTS = Path(__file__).parent.parent / "parsers" / "fixtures" / "fio_json"
REPORT = (REPORTS / "group.json").read_bytes()
OTHER = (REPORTS / "null.json").read_bytes()
Bring = Callable[..., Upload]


def variant(number: int) -> bytes:
    """Return the report of another run alike, for each number one: what it says differs, and not only its form."""
    return REPORT.replace(b"1795268045329", str(1795268045329 + number).encode(), 1)


@pytest.fixture(scope="session", autouse=True)
def children() -> Iterator[None]:
    """The readers that these tests start, ended with them."""
    yield
    reader().close()
    unpacker().close()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A child with little patience, which a module's tests share; where one kills it, the next gets another child."""
    own = Sandbox(read_s=10, unpack_s=10)
    yield own
    own.close()


@pytest.fixture
def bring(lab: Lab) -> Bring:
    """`bring({"a.json": data}, keep_at_once=True)` → the upload, read."""

    def brought(files: dict[str, bytes], *, is_read: bool = True, **options: object) -> Upload:
        upload = open_upload(lab, next(iter(files)), door=Upload.Door.PAGE, actor="engineer@example.org", **options)  # type: ignore[arg-type]
        for name, data in files.items():
            add_file(upload, name, data)
        if is_read:
            assert upload.claim()
            assert parse(upload)
            upload.refresh_from_db()
        return upload

    return brought


@pytest.fixture
def engineer(lab: Lab, sign_in: Any) -> Client:
    return sign_in("engineer")  # type: ignore[no-any-return]


def only_file(upload: Upload) -> UploadedFile:
    return UploadedFile.objects.get(upload=upload)


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()
