from collections.abc import Iterator

import pytest

from tests.agents.conftest import agent, start
from tests.faults.stack import Stack, free_port
from tests.faults.standing import StandingServers

__all__ = ["agent", "start"]


@pytest.fixture(scope="session")
def standing(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandingServers]:
    made = StandingServers(tmp_path_factory.mktemp("standing"), free_port())
    yield made
    made.end()


@pytest.fixture
def stack(transactional_db, cast, tmp_path, settings, standing) -> Iterator[Stack]:
    """Web, worker and one enrolled agent, up and described."""
    made = Stack(tmp_path, cast.lab, port=standing.port, standing=standing)
    try:
        made.up()
        yield made
    finally:
        made.down()
