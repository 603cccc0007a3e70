"""`./manage.py backup` of a running product and `restore` into a second data folder."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bin.launcher import clean_environment
from tests.outside.product import ROOT, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]
PAGES = ("runs", "hosts", "disks", "studies", "uploads", "samples")


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="spindle-back-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def restore(archive: Path, data: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(ROOT / "manage.py"), "restore", str(archive), "--data", str(data)]
    return subprocess.run(argv, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False)


def hashes(data: Path) -> dict[str, str]:
    return {
        path.relative_to(data).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*data.glob("artefacts/**/*.z"), data / "secret"]
    }


def answers(product: Product, token: str) -> dict[str, object]:
    """What a script reads: how many there are of everything, and the newest of each."""
    client = product.client(token)
    found = {name: client.get(f"/api/v1/{name}/?limit=5").json() for name in PAGES}
    return {name: (page.get("count"), [row["id"] for row in page["results"]]) for name, page in found.items()}


def test_a_running_product_comes_back_in_a_second_data_folder(
    own_product: Callable[..., Product], folder: Path
) -> None:
    first = own_product()
    token = first.make_token("admin")
    large = b"".join(b"%d bytes (1.1 GB, 1.0 GiB) copied, 2.%06d s, 537 MB/s\n" % (2**30, n) for n in range(4000))
    for name, content in (("large.txt", large), ("dd.txt", large[:60])):
        sent = first.client(token).upload("/api/v1/uploads/", {name: content})
        first.read_in(sent.json()["url"], first.client(token))
    archive = folder / "spindle.tar"
    printed = first.manage("backup", str(archive)).stdout
    assert "rows of" in printed
    assert archive.stat().st_mode & 0o777 == 0o600
    before, files = answers(first, token), hashes(first.data)
    assert any(name.startswith("artefacts/") for name in files), "the test needs a file outside the database"
    first.stop()

    data = folder / "second" / "data"
    data.parent.mkdir()
    done = restore(archive, data)
    assert done.returncode == 0, done.stderr
    assert "all are as they were" in done.stdout
    assert hashes(data) == files
    with Product(folder / "second") as second:
        assert answers(second, token) == before
        second.email, second.password = first.email, first.password
        assert second.owner().get("/").status == 200
        assert "Every kept file has the bytes that came" in second.manage("check_artefacts").stdout
        assert second.manage("check_samples").returncode == 0


def test_a_stopped_product_is_backed_up_too_and_a_second_backup_overwrites_nothing(
    prepared: Product, folder: Path
) -> None:
    stopped = Product(folder, like=prepared)
    archive = folder / "spindle.tar"
    assert "rows of" in stopped.manage("backup", str(archive)).stdout
    again = stopped.manage("backup", str(archive), check=False)
    assert again.returncode != 0
    assert "is there already" in again.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["data", "spindle.tar"]
    occupied = restore(archive, stopped.data)
    assert occupied.returncode != 0
    assert "only into a new data folder" in occupied.stderr

    damaged = folder / "damaged.tar"
    damaged.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    cut = restore(damaged, folder / "cut")
    assert (cut.returncode, "no whole backup" in cut.stderr) == (1, True)
    altered = folder / "altered.tar"
    alter(archive, altered, "secret")
    wrong = restore(altered, folder / "wrong")
    assert (wrong.returncode, "secret in" in wrong.stderr, "is damaged" in wrong.stderr) == (1, True, True), (
        wrong.stderr
    )
    assert not (folder / "wrong" / "postgres").exists()
    assert not (folder / "wrong" / "secret").exists()


def alter(archive: Path, target: Path, name: str) -> None:
    """Copy an archive with one byte of one member changed."""
    with tarfile.open(archive) as tar:
        start = tar.getmember(name).offset_data
    shutil.copyfile(archive, target)
    with target.open("r+b") as file:
        file.seek(start)
        first = file.read(1)
        file.seek(start)
        file.write(bytes([first[0] ^ 1]))
    assert os.path.getsize(target) == os.path.getsize(archive)
