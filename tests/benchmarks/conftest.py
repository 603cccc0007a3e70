from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.conftest import *  # noqa: F403  (the in-memory server and the built agent)
from tests.conftest import Cast
from tests.faults.stack import Stack


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    """A web process that has been up for a while."""
    made = Stack(tmp_path, cast.lab, warm_up_after=0)
    try:
        made.start_web()
        made.until_warm()
        yield made
    finally:
        made.down()
