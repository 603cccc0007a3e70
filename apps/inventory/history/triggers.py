"""The triggers that write `Change`, one for each act and table.

They work on whole statements, so that a discovery of a thousand disks costs one insert more, and they read rows as
JSON, so that a new column needs no new trigger.
"""

from dataclasses import dataclass

import pgtrigger
from django.db import models

from apps.inventory.fields import specs_of
from apps.inventory.models.change import Change
from apps.inventory.models.host import Host
from apps.inventory.models.network import NetworkLink, Nic, PathSection, StoragePath, Switch
from apps.inventory.models.places import Enclosure
from apps.inventory.models.storage import Array, ArrayMember, Controller, Disk, Filesystem
from apps.inventory.models.target import Target


@dataclass(frozen=True)
class Watched:
    """How a row says what it belongs to, in SQL about the row `{row}`."""

    model: type[models.Model]
    name: str = "{row}.name"
    hosts: str = "ARRAY[{row}.host_id]"
    part_kind: str = ""
    part_id: str = "{row}.id"
    lab: str = "{row}.lab_id"
    parent: str = ""

    @property
    def volatile(self) -> tuple[str, ...]:
        """Return the columns that an agent sends anew each time and whose changes are left out of the history."""
        return tuple(spec.name for spec in specs_of(str(self.model._meta.model_name)) if not spec.watched)


_LINK_HOSTS = "ARRAY(SELECT DISTINCT host_id FROM inventory_nic WHERE id IN ({row}.nic_id, {row}.far_nic_id))::bigint[]"
WATCHED = (
    Watched(Host, hosts="ARRAY[{row}.id]"),
    Watched(Controller),
    Watched(
        Disk,
        name="COALESCE(NULLIF({row}.device_name, ''), NULLIF({row}.serial, ''), 'disk ' || {row}.id)",
        hosts="array_remove(ARRAY[{row}.host_id], NULL)",
    ),
    Watched(Array),
    Watched(
        ArrayMember,
        name="parent.name",
        hosts="ARRAY[parent.host_id]",
        part_kind="array",
        part_id="{row}.array_id",
        lab="parent.lab_id",
        parent="JOIN inventory_array parent ON parent.id = {row}.array_id",
    ),
    Watched(
        Filesystem,
        name="COALESCE(NULLIF({row}.type, ''), 'filesystem') || ' on ' || COALESCE(NULLIF({row}.mount_point, ''), {row}.device_name)",
    ),
    Watched(Target),
    Watched(Enclosure),
    Watched(Nic),
    Watched(Switch, hosts="'{{}}'::bigint[]"),
    Watched(NetworkLink, name="'link ' || {row}.id", hosts=_LINK_HOSTS),
    Watched(StoragePath),
    Watched(
        PathSection,
        name="parent.name",
        hosts="ARRAY[parent.host_id]",
        part_kind="storagepath",
        part_id="{row}.path_id",
        lab="parent.lab_id",
        parent="JOIN inventory_storagepath parent ON parent.id = {row}.path_id",
    ),
)
_DECLARE = [
    ("who", "jsonb := NULLIF(current_setting('pghistory.context_metadata', true), '')::jsonb"),
    ("together", "uuid := NULLIF(current_setting('pghistory.context_id', true), '')::uuid"),
    ("ignored", "text[] := ARRAY['updated_at']"),
]
_INSERT = (
    "INSERT INTO inventory_change"
    " (lab_id, at, act, part_kind, part_id, part_name, row_kind, row_id, hosts, before, after, who, together) "
)
_WHOLE = "SELECT {lab}, now(), '{act}', '{part_kind}', {part_id}, {name}, '{row_kind}', {row}.id, {hosts}, {before}, {after}, who, together"
_DIFFERENCE = """
FROM old_rows o JOIN new_rows n ON n.id = o.id
CROSS JOIN LATERAL (SELECT to_jsonb(o) - ignored AS b, to_jsonb(n) - ignored AS a OFFSET 0) pair
CROSS JOIN LATERAL (
    SELECT jsonb_object_agg(one.key, one.value) AS before, jsonb_object_agg(one.key, pair.a -> one.key) AS after
    FROM jsonb_each(pair.b) one WHERE pair.a -> one.key IS DISTINCT FROM one.value
) differing"""


def _select(watched: Watched, row: str, hosts: str = "", **more: str) -> str:
    kind = watched.model._meta.model_name or ""
    columns = {name: getattr(watched, name).format(row=row) for name in ("lab", "part_id", "name", "hosts")}
    columns |= {"hosts": hosts} if hosts else {}
    return _INSERT + _WHOLE.format(row=row, row_kind=kind, part_kind=watched.part_kind or kind, **columns, **more)


def _parent(watched: Watched, row: str) -> str:
    return f" {watched.parent.format(row=row)}" if watched.parent else ""


def _made(watched: Watched) -> str:
    select = _select(watched, "n", act="made", before="NULL", after="jsonb_strip_nulls(to_jsonb(n) - ignored)")
    return f"{select} FROM new_rows n{_parent(watched, 'n')}; RETURN NULL;"


def _deleted(watched: Watched) -> str:
    select = _select(watched, "o", act="deleted", before="jsonb_strip_nulls(to_jsonb(o) - ignored)", after="NULL")
    return f"{select} FROM old_rows o{_parent(watched, 'o')}; RETURN NULL;"


def _changed(watched: Watched) -> str:
    volatile = "".join(f", '{name}'" for name in watched.volatile)
    skip = f"IF who ->> 'by' = 'agent' THEN ignored := ARRAY['updated_at'{volatile}]; END IF; " if volatile else ""
    was, now = (watched.hosts.format(row=row) for row in "on")
    hosts = now if was == now else f"CASE WHEN {was} = {now} THEN {now} ELSE {was} || {now} END"
    select = _select(watched, "n", hosts, act="changed", before="differing.before", after="differing.after")
    return f"{skip}{select} {_DIFFERENCE}{_parent(watched, 'n')} WHERE differing.before IS NOT NULL; RETURN NULL;"


def _triggers(watched: Watched) -> list[pgtrigger.Trigger]:
    old, new = {"old": "old_rows"}, {"new": "new_rows"}
    acts = (
        ("history_made", pgtrigger.Insert, new, _made),
        ("history_changed", pgtrigger.Update, old | new, _changed),
        ("history_deleted", pgtrigger.Delete, old, _deleted),
    )
    return [
        pgtrigger.Trigger(
            name=name,
            level=pgtrigger.Statement,
            when=pgtrigger.After,
            operation=operation,
            referencing=pgtrigger.Referencing(**tables),  # type: ignore[no-untyped-call]
            declare=_DECLARE,
            func=written(watched),
        )
        for name, operation, tables, written in acts
    ]


for each in WATCHED:
    pgtrigger.register(*_triggers(each))(each.model)

__all__ = ["WATCHED", "Change", "Watched"]
