"""A host whose test directory takes no runs is told about wherever somebody would start one: the form, its page, its targets."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.outside.lab_host import LabHost
from tests.outside.product import Client, Product, wait_until

pytestmark = [
    pytest.mark.outside,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root gives an agent a machine id of its own"),
]


@pytest.fixture(scope="module")
def host(product: Product, owner: Client, admin: Client) -> Iterator[LabHost]:
    place = Path(tempfile.mkdtemp(prefix="spindle-obstacle-", dir="/tmp"))
    made = LabHost(product, owner, admin, place)
    try:
        made.enrol(place / "files")
        made.approve()
        made.start()
        made.target()
        yield made
    finally:
        made.stop()
        shutil.rmtree(place, ignore_errors=True)


def _words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def _page(host: LabHost, path: str, until: Callable[[str], bool]) -> str:
    def read() -> str | None:
        found = _words(host.owner.get(path).text)
        return found if until(found) else None

    return str(wait_until(f"{path} as expected; {host.tail()}", 60, read))


def test_a_sound_directory_is_not_complained_of(host: LabHost) -> None:
    page = _page(host, f"/hosts/{host.id}/", lambda text: "waits for work" in text)
    assert "No run can start here" not in page
    assert "Takes no runs" not in page


def test_a_directory_that_others_may_write_is_named(host: LabHost) -> None:
    files = host.folder / "files"
    files.chmod(0o777)
    try:
        page = _page(host, f"/hosts/{host.id}/", lambda text: "No run can start here" in text)
        assert f"{files}" in page
        assert "Its directory for test files is refused" in page
        assert "waits for work" not in page
        assert "Nothing is wrong" not in page
        assert "Its directory for test files is refused" in _words(host.owner.get("/runs/new/").text)
    finally:
        files.chmod(0o700)
    _page(host, f"/hosts/{host.id}/", lambda text: "waits for work" in text)


def test_a_directory_that_vanished_is_named_and_comes_back(host: LabHost) -> None:
    files = host.folder / "files"
    files.rename(host.folder / "elsewhere")
    try:
        page = _page(
            host, f"/hosts/{host.id}/", lambda text: "No run can start here" in text and "Takes no runs" in text
        )
        sentence = f"Its directory for test files, {files}, cannot be used, and no run can start there: No such file"
        assert sentence in page
        assert "waits for work" not in page
        assert "Nothing is wrong" not in page
        assert re.search(r"gone Takes no runs: \S+files: No such file", page)
        assert sentence in _words(host.owner.get("/runs/new/").text)
    finally:
        (host.folder / "elsewhere").rename(files)
    page = _page(host, f"/hosts/{host.id}/", lambda text: "waits for work" in text)
    assert "Takes no runs" not in page
