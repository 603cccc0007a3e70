"""The cables, switches and far hosts that a host's NICs lead to, and the way from one NIC to another."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Q
from django.db.models.expressions import CombinedExpression

from apps.inventory.models import Host, NetworkLink, Nic, Switch
from apps.labs.isolation import LabQuerySet

End = Nic | Switch
Key = tuple[str, int]


@dataclass
class Network:
    """What one host's NICs reach over any number of switches; `links` end at the first NIC of another host."""

    nics: list[Nic] = field(default_factory=list)
    links: list[NetworkLink] = field(default_factory=list)

    @property
    def switches(self) -> list[Switch]:
        ends = (end for link in self.links for end in ends_of(link) if isinstance(end, Switch))
        return list({end.pk: end for end in ends}.values())

    @property
    def wired(self) -> list[tuple[Nic, list[tuple[NetworkLink, End]]]]:
        """Return each NIC with its cables and what is at their other ends."""
        beside = _beside(self.links)
        return [(nic, [(link, end) for end, link in beside.get(key_of(nic), [])]) for nic in self.nics]

    def way(self, near: Nic, peer: Host) -> list[NetworkLink]:
        """Return the shortest chain of cables from a NIC to any NIC of the peer; empty where none is known."""
        beside = _beside(self.links)
        waiting: deque[tuple[Key, list[NetworkLink]]] = deque([(key_of(near), [])])
        seen = {key_of(near)}
        while waiting:
            here, so_far = waiting.popleft()
            for end, link in beside.get(here, []):
                if isinstance(end, Nic) and end.host_id == peer.pk:
                    return [*so_far, link]
                if isinstance(end, Switch) and key_of(end) not in seen:
                    seen.add(key_of(end))
                    waiting.append((key_of(end), [*so_far, link]))
        return []


def key_of(end: End) -> Key:
    return ("nic" if isinstance(end, Nic) else "switch", end.pk)


def ends_of(link: NetworkLink) -> tuple[End, End]:
    near, far = link.nic or link.switch, link.far_nic or link.far_switch
    assert near  # a database constraint: a cable has two ends
    assert far
    return near, far


def networks_of(hosts: Iterable[Host]) -> dict[int, Network]:
    """Return the network of each host by its pk, with four queries for all hosts.

    They read their NICs, the cables at these, those between switches, and those at switches.
    """
    results = {host.pk: Network() for host in hosts}
    nics = list(Nic.objects.filter(host__in=results).select_related("host"))
    for nic in nics:
        results[nic.host_id].nics.append(nic)
    if not nics:
        return results
    own = list(_links().filter(Q(nic__host__in=results) | Q(far_nic__host__in=results)))
    trunks = list(_links().filter(lab__in={nic.lab_id for nic in nics}, nic=None, far_nic=None)) if own else []
    reached = Network(nics, _reached(nics, _beside([*own, *trunks]))).switches
    at_switches = _links().filter(Q(switch__in=reached, far_switch=None) | Q(far_switch__in=reached, switch=None))
    every = {link.pk: link for link in [*own, *trunks, *(at_switches if reached else [])]}
    beside = _beside(every.values())
    for network in results.values():
        network.links = _reached(network.nics, beside)
    return results


def links_at(where: Q) -> LabQuerySet[NetworkLink]:
    """Return the links that match, with both ends and their hosts loaded."""
    return _links().filter(where)


def far_ends(here: End, links: Iterable[NetworkLink]) -> list[tuple[NetworkLink, End]]:
    """Return each cable with what is at its other end, seen from `here`."""
    both = ((link, ends_of(link)) for link in links)
    return [(link, far if key_of(near) == key_of(here) else near) for link, (near, far) in both]


def cables_of(name: str) -> CombinedExpression:
    """Return an expression for `annotate` that counts the links at a NIC or switch.

    `name` is its relation to the links that begin there; the relation `…_from_afar` has those that end there.
    """
    return Count(name, distinct=True) + Count(f"{name}_from_afar", distinct=True)


def _links() -> LabQuerySet[NetworkLink]:
    ends = ("nic__host", "far_nic__host", "switch", "far_switch")
    result: LabQuerySet[NetworkLink] = NetworkLink.objects.select_related(*ends).order_by("pk")
    return result


def _beside(links: Iterable[NetworkLink]) -> dict[Key, list[tuple[End, NetworkLink]]]:
    beside: dict[Key, list[tuple[End, NetworkLink]]] = defaultdict(list)
    for link in links:
        near, far = ends_of(link)
        beside[key_of(near)].append((far, link))
        beside[key_of(far)].append((near, link))
    return beside


def _reached(nics: list[Nic], beside: dict[Key, list[tuple[End, NetworkLink]]]) -> list[NetworkLink]:
    waiting = [key_of(nic) for nic in nics]
    seen, result = set(waiting), dict[int, NetworkLink]()
    while waiting:
        for end, link in beside.get(waiting.pop(0), []):
            result.setdefault(link.pk, link)
            if isinstance(end, Switch) and key_of(end) not in seen:
                seen.add(key_of(end))
                waiting.append(key_of(end))
    return list(result.values())
