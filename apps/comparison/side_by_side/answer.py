"""The one way from what is asked to the table, for the page and for REST."""

from apps.comparison.side_by_side.asked import Asked
from apps.comparison.side_by_side.loading import columns, newest_measured, sums
from apps.comparison.side_by_side.table import Table, table


def in_force(asked: Asked) -> Asked:
    """Where nobody chose: the targets that were measured last."""
    return asked.with_(targets=tuple(one.pk for one in newest_measured())) if asked.is_empty else asked


def answer(asked: Asked) -> Table:
    found = columns(asked)
    return table(found, sums(asked, found), asked.baseline, asked.base)
