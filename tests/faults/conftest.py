from collections.abc import Iterator

import pytest

from tests.agents.conftest import agent, start
from tests.faults.stack import Stack

__all__ = ["agent", "start"]


@pytest.fixture
def stack(transactional_db, cast, tmp_path, settings) -> Iterator[Stack]:
    """Web, worker and one enrolled agent, up and described."""
    made = Stack(tmp_path, cast.lab)
    try:
        made.up()
        yield made
    finally:
        made.down()
