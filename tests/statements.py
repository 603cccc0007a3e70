"""What a page asks of the database: for tests that a list costs the same for one entry and for thirty."""

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext


def statements(look: Callable[[], object]) -> list[str]:
    """The SQL that `look` sends, in its order; it looks once before, for what is kept from one request to the next."""
    look()
    with CaptureQueriesContext(connection) as captured:
        look()
    return [one["sql"] for one in captured.captured_queries]
