import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.conftest import *  # noqa: F403  (the in-memory server and the built agent)
from tests.benchmarks.figures import UP_S
from tests.conftest import Cast
from tests.faults.stack import Stack


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    """A web process that has been up for a while."""
    made = Stack(tmp_path, cast.lab)
    try:
        made.start_web()
        time.sleep(UP_S)
        yield made
    finally:
        made.down()
