"""Writing discovered controllers to rows, matched by present and former addresses, whatever people call them."""

from collections.abc import Iterable

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.models import FoundController
from apps.inventory.discovery.rows.writer import Sheet
from apps.inventory.models import Array, Controller, Disk, Host
from apps.inventory.vocabulary import Source

_FIELDS = (
    "address", "kind", "bus", "vendor", "model", "model_behind", "driver", "serial", "firmware", "ports", "cache_bytes",
    "cache_protection", "protection_state",
)  # fmt: skip


def write_controllers(
    host: Host, found: Iterable[FoundController], ledger: Ledger | None = None
) -> dict[str, Controller]:
    """Write the discovered controllers and return their rows by address.

    A controller that was known as several SCSI hosts becomes one row; rows that are left empty by that are deleted.
    """
    sheet = Sheet(Controller, ledger)
    rows = list(Controller.objects.filter(host=host).order_by("id"))
    by_address = {row.address: row for row in rows if row.address} | {row.name: row for row in rows if not row.address}
    taken = {row.name for row in rows}
    written: dict[str, Controller] = {}
    used: set[int] = set()
    for one in found:
        row = next((r for key in (one.address, *one.formers) if (r := by_address.get(key)) and r.pk not in used), None)
        if row is None:
            row = Controller(lab_id=host.lab_id, host=host, name=_free(one.name, taken), sources={"name": "inferred"})
        else:
            used.add(row.pk)
        values = {name: getattr(one, name) for name in _FIELDS} | _new_name(row, one, taken)
        written[one.address] = sheet.put(row, values, inferred=("address", "kind", "bus", "name"))
    sheet.write()
    return written


def _new_name(row: Controller, one: FoundController, taken: set[str]) -> dict[str, str]:
    """Return the card's name as the new name of a row that discovery had named after a SCSI host, else nothing."""
    is_ours = row.sources.get("name") == Source.INFERRED and row.name == row.address
    if row.pk is None or not is_ours or one.name in taken or one.address == row.address:
        return {}
    taken.add(one.name)
    return {"name": one.name}


def _free(name: str, taken: set[str]) -> str:
    names = (name, f"{name[:180]} (discovered)", *(f"{name[:180]} (discovered {n})" for n in range(2, 10_000)))
    free = next(one for one in names if one not in taken)
    taken.add(free)
    return free


def drop_superseded(host: Host, found: Iterable[FoundController]) -> None:
    """Delete SCSI hosts that turned out to be ports of one card, if nothing refers to them and nobody edited them."""
    formers = {former for one in found for former in one.formers if " host " in former}
    if not formers:
        return
    empty = Controller.objects.filter(host=host, address__in=formers)
    empty = empty.exclude(pk__in=Disk.objects.filter(controller__host=host).values("controller"))
    empty = empty.exclude(pk__in=Array.objects.filter(controller__host=host).values("controller"))
    untouched = [
        row.pk for row in empty if Source.TYPED not in row.sources.values() and not row.notes and not row.labels
    ]
    if untouched:
        Controller.objects.filter(pk__in=untouched).delete()
