"""The ceiling of a target as the inventory describes it now; a run has its own, from its snapshot."""

from collections.abc import Collection, Iterable

from apps.inventory.ceilings.ceiling import Ceiling, ceiling_of
from apps.inventory.models import Target
from apps.inventory.snapshots.connections import network_of, paths_of_hosts
from apps.inventory.snapshots.content import content_in, content_of, content_of_stack
from apps.inventory.topology.host_parts import HostParts
from apps.inventory.topology.stack import Stack, StackError


def ceiling_now(target: Target) -> Ceiling | None:
    """Return the ceiling of a target as the inventory describes it now; None where arrays lie on themselves.

    Takes a few queries, and one for each level of arrays.
    """
    try:
        return ceiling_of(content_of(target))
    except StackError:
        return None


def ceilings_of(stacks: Collection[Stack]) -> dict[int, Ceiling]:
    """Return the ceilings of many targets by the targets' ids; three queries, and some for each target of a network."""
    paths = paths_of_hosts({stack.host.pk for stack in stacks})
    return {
        stack.target.pk: ceiling_of(content_of_stack(stack, paths.get(stack.host.pk, []), network_of(stack.target)))
        for stack in stacks
    }


def ceilings_in(parts: HostParts, targets: Iterable[Target]) -> list[tuple[Target, Ceiling | None]]:
    """Return each target with its ceiling, from a host's parts that are already loaded, without a query."""
    return [(target, _ceiling_in(parts, target)) for target in targets]


def _ceiling_in(parts: HostParts, target: Target) -> Ceiling | None:
    try:
        return ceiling_of(content_in(parts, target))
    except StackError:
        return None
