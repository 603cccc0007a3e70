"""No broker: what would be sent to it is kept in a list."""

from tests.trends.conftest import published  # noqa: F401
