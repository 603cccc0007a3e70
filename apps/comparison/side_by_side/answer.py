"""The one way from what is asked to the table, for the page and for REST."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apps.comparison.side_by_side import loading
from apps.comparison.side_by_side.asked import Asked
from apps.comparison.side_by_side.table import Table, table


def in_force(asked: Asked) -> Asked:
    """Where nobody chose: the targets that were measured last."""
    return asked.with_(targets=tuple(one.pk for one in loading.newest_measured())) if asked.is_empty else asked


@contextmanager
def begun(asked: Asked) -> Iterator[Callable[[], Table]]:
    """The database works from here on; what is yielded waits for it."""
    with loading.begun(asked) as found:
        yield lambda: table(*found(), asked.baseline, asked.base)


def answer(asked: Asked) -> Table:
    with begun(asked) as found:
        return found()
