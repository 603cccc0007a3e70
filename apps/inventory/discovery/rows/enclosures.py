"""Writing discovered enclosures and NICs to rows."""

from collections.abc import Iterable

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.models import FoundEnclosure, FoundNic
from apps.inventory.discovery.rows.writer import Sheet, was_discovered
from apps.inventory.models import Enclosure, Host, Nic
from apps.inventory.vocabulary import EnclosureKind

MAX_SLOTS = 1024
IN_A_ROW = 12


def write_enclosures(host: Host, found: Iterable[FoundEnclosure], is_told: bool, ledger: Ledger) -> None:
    """Write the discovered enclosures, matched by name; `is_told` tells whether missing ones count as gone.

    People arrange the order of the slots: discovery lays out only an enclosure that is new or untouched.
    """
    rows = {row.name: row for row in Enclosure.objects.filter(host=host)}
    sheet = Sheet(Enclosure, ledger)
    for one in list(found)[:MAX_SLOTS]:
        row = rows.pop(one.name[:120], None)
        row = row or Enclosure(lab_id=host.lab_id, host=host, name=one.name[:120], sources={"name": "discovered"})
        values = {"vendor": one.vendor, "model": one.model, "serial": one.serial, "is_present": True}
        if one.slots:
            values["layout"] = _layout(one.slots)
        if "SGPIO" in one.model or one.model == "Backplane":
            values["kind"] = EnclosureKind.CHASSIS
        sheet.put(row, values, inferred=("layout", "kind"))
    for row in rows.values():
        if is_told and row.is_present and was_discovered(row):
            sheet.put(row, {"is_present": False})
    sheet.write()


def _layout(slots: int) -> list[dict[str, object]]:
    """Return rows of twelve slots in the order of their numbers, as no tool says how they lie in the front."""
    names = [f"d{number}" for number in range(min(slots, MAX_SLOTS))]
    return [{"label": "", "slots": names[first : first + IN_A_ROW]} for first in range(0, len(names), IN_A_ROW)]


def write_nics(host: Host, found: list[FoundNic] | None, ledger: Ledger) -> None:
    """Write the discovered NICs, matched by MAC address, else by name; None means that no tool reported NICs.

    A NIC that the kernel renamed is still the same one.
    """
    if found is None:
        return
    rows = list(Nic.objects.filter(host=host).order_by("id"))
    by_mac, by_name = {row.mac: row for row in rows if row.mac}, {row.name: row for row in rows}
    sheet, used = Sheet(Nic, ledger), set[int]()
    for one in found:
        row = by_mac.get(one.mac) if one.mac else None
        row = row or by_name.get(one.name)
        if row is None or row.pk in used:
            row = Nic(lab_id=host.lab_id, host=host, name=_free(one.name, by_name), sources={"name": "discovered"})
            by_name[row.name] = row
        else:
            used.add(row.pk)
        values = {
            name: getattr(one, name)
            for name in ("vendor", "model", "driver", "firmware", "bus", "address", "mac", "bits_per_second", "mtu")
        }
        sheet.put(row, values | {"is_present": True})
    for row in rows:
        if row.pk not in used and row.is_present and was_discovered(row):
            sheet.put(row, {"is_present": False})
    sheet.write()


def _free(name: str, taken: dict[str, Nic]) -> str:
    return next(one for one in (name[:60], *(f"{name[:50]} ({n})" for n in range(2, 10_000))) if one not in taken)
