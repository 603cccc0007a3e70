from collections.abc import Iterator

import pytest

from tests.faults.stack import Stack


@pytest.fixture
def stack(transactional_db, cast, tmp_path, settings) -> Iterator[Stack]:
    """Web, worker and one enrolled agent, up and described."""
    made = Stack(tmp_path, cast.lab)
    try:
        made.up()
        yield made
    finally:
        made.down()
