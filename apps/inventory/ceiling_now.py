"""The ceiling of a target as the inventory describes it now; a run has its own, from its snapshot."""

from collections.abc import Iterable

from apps.inventory.ceiling import Ceiling, ceiling_of
from apps.inventory.host_parts import HostParts
from apps.inventory.models import Target
from apps.inventory.snapshots import content_in, content_of
from apps.inventory.stack import StackError


def ceiling_now(target: Target) -> Ceiling | None:
    """A few queries, and one for each level of arrays. None where the arrays lie on themselves."""
    try:
        return ceiling_of(content_of(target))
    except StackError:
        return None


def ceilings_in(parts: HostParts, targets: Iterable[Target]) -> list[tuple[Target, Ceiling | None]]:
    """Of many targets of one host whose parts are already read, without a query."""
    return [(target, _ceiling_in(parts, target)) for target in targets]


def _ceiling_in(parts: HostParts, target: Target) -> Ceiling | None:
    try:
        return ceiling_of(content_in(parts, target))
    except StackError:
        return None
