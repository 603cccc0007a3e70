"""The ceiling of a target as the inventory describes it now; a run has its own, from its snapshot."""

from apps.inventory.ceiling import Ceiling, ceiling_of
from apps.inventory.models import Target
from apps.inventory.snapshots import content_of
from apps.inventory.stack import StackError


def ceiling_now(target: Target) -> Ceiling | None:
    """Two queries, and one for each level of arrays. None where the arrays lie on themselves."""
    try:
        return ceiling_of(content_of(target))
    except StackError:
        return None
