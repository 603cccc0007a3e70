"""Agents under test run as built, in processes of their own, against the protocol kept in memory. Nothing here needs Django."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host
from worker.build_agent import build


@pytest.fixture(scope="session")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pyz") / "agent.pyz"
    build(path)
    return path


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    yield fake
    fake.stop()
    assert fake.violations == []


@pytest.fixture
def host(tmp_path: Path, server: FakeServer, pyz: Path) -> Iterator[Host]:
    one = Host(tmp_path, server, pyz)
    yield one
    one.close()
