"""The same files made whole in memory, by other means: what is streamed has to be the same bytes."""

import csv
import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from apps.inventory.exchange.document import ALWAYS, FORMAT, VERSION, Row
from apps.inventory.exchange.keys import Keyring
from apps.inventory.exchange.registry import BY_MODEL, KINDS, ExchangePlaces, FileKind
from apps.inventory.exchange.writers import GUARDED
from apps.inventory.models import Host, NetworkLink, Part, Switch
from apps.labs.models import Lab

Document = dict[str, Any]


def document_of(
    lab: Lab, host: Host | None = None, kinds: Iterable[str] = (), only: Iterable[int] | None = None
) -> Document:
    """`{"format", "version", kind: [row, …] …}`, from all rows of the lab in memory."""
    ring = Keyring(lab)
    places = {kind.name: _places(kind.places, lab) for kind in KINDS if kind.places}
    document: Document = {"format": FORMAT, "version": VERSION}
    for kind in (one for one in KINDS if not kinds or one.name in kinds):
        rows = [row for row in ring.rows[kind.name].values() if _is_wanted(row, host, only, ring)]
        document[kind.name] = [_shown(kind, row, ring, places) for row in rows]
    return document


def _is_wanted(row: Any, host: Host | None, only: Iterable[int] | None, ring: Keyring) -> bool:
    if only is not None and row.pk not in only:
        return False
    if host is None:
        return True
    if isinstance(row, NetworkLink):
        return host.pk in _hosts_of(row)
    if isinstance(row, Switch):
        links: Any = ring.rows["network-links"].values()
        return any(row.pk in (one.switch_id, one.far_switch_id) and host.pk in _hosts_of(one) for one in links)
    return bool((row.pk if isinstance(row, Host) else row.host_id) == host.pk)


def _hosts_of(link: NetworkLink) -> set[int]:
    return {nic.host_id for nic in (link.nic, link.far_nic) if nic}


def _places(places: ExchangePlaces | None, lab: Lab) -> dict[int, list[Any]]:
    assert places
    found = defaultdict(list)
    manager: Any = places.model._default_manager
    parent = f"{places.parent}_id"
    for row in manager.filter(**{f"{places.parent}__lab": lab}).order_by(parent, "position"):
        found[getattr(row, parent)].append(row)
    return found


def _shown(kind: FileKind, row: Part, ring: Keyring, places: dict[str, dict[int, list[Any]]]) -> Row:
    shown: Row = {"key": ring.keys[type(row), row.pk]}
    for name, field in kind.fields.items():
        value = _value(field, row, ring)
        if value not in (None, "", {}, []) or name in ALWAYS:
            shown[name] = value
    if kind.places:
        shown[kind.places.name] = [_place(kind.places, one, ring) for one in places[kind.name].get(row.pk, [])]
    return shown


def _place(places: ExchangePlaces, row: Any, ring: Keyring) -> Row:
    values = {field.name: _value(field, row, ring) for field in places.fields}
    return {name: value for name, value in values.items() if value not in (None, "")}


def _value(field: Any, row: Any, ring: Keyring) -> Any:
    value = getattr(row, field.attname)
    if field.is_relation and value is not None:
        return ring.keys[BY_MODEL[field.related_model].model, value]
    return value


def as_json(document: Document) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def as_csv(kind: FileKind, document: Document) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(kind.columns)
    for row in document.get(kind.name, []):
        writer.writerow([_cell(row.get(column)) for column in kind.columns])
    return out.getvalue()


def as_zip(document: Document) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind in KINDS:
            if document.get(kind.name):
                entry = zipfile.ZipInfo(
                    f"{kind.name}.csv", (2000, 1, 1, 0, 0, 0)
                )  # the same inventory is the same file
                archive.writestr(entry, as_csv(kind, document), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(GUARDED) else text
