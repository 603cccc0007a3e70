from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.conftest import *  # noqa: F403  (the in-memory server and the built agent)
from tests.benchmarks.servers import with_web
from tests.conftest import Cast
from tests.faults.stack import Stack


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    with with_web(Stack(tmp_path, cast.lab)) as made:
        yield made
