"""What the network between a target and its peer can carry: its NIC, each cable on the way, and the NIC at the other end."""

from collections.abc import Iterator

from apps.inventory.ceiling_disks import Content
from apps.inventory.ceiling_parts import Part
from apps.inventory.ceiling_rates import mb
from apps.lib.units import bit_rate


def network_ways(network: Content, unknown: list[str]) -> Iterator[Part]:
    """`network`: a snapshot's `{nic, way}`. What has no known rate sets no bound and is named."""
    nic = network["nic"]
    here = str(nic.get("name"))
    found = [_part(f"network interface {here}", nic)]
    for cable in network["way"]:
        far, there = cable.get("nic"), str(cable.get("to"))
        found.append(_part(f"cable {here} to {there}", cable))
        if far:
            found.append(_part(f"interface at the other end, {there}", far))
        here = there
    known = [part for part in found if part]
    yield from known
    if not network["way"]:
        unknown.append("which cables lead to the other end")
    if not known:
        unknown.append("how fast the network is")


def _part(name: str, link: Content) -> Part | None:
    """A row may stand for several alike: a bond, cables side by side, the NICs of ten nodes."""
    rate, count = link.get("bits_per_second"), int(link.get("count") or 1)
    if not rate:
        return None
    value = count * rate / 8
    return Part(name, value, f"{count} × {bit_rate(rate)} ÷ 8 = {mb(value)}")
