"""Merging two rows that are one thing: one stays, all references to the other move to it, the other is deleted.

It happens in one transaction, or not at all.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, models, transaction
from django.dispatch import Signal

from apps.inventory.editing.rules import problems_of, violated
from apps.inventory.exchange.outcome import FieldChange, Outcome
from apps.inventory.models import (
    Array,
    ArrayMember,
    Controller,
    Difference,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    Nic,
    Part,
    PathSection,
    StoragePath,
    Target,
)  # fmt: skip
from apps.inventory.target_identity import is_same_target
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab

MERGED: dict[str, type[Part]] = {
    "hosts": Host, "controllers": Controller, "disks": Disk, "arrays": Array, "enclosures": Enclosure,
}  # fmt: skip
# What two parts of one host must not share; where they do, the two are merged as well.
OWN: dict[type[models.Model], tuple[str, ...]] = {
    Controller: ("name",), Array: ("name", "round"), Nic: ("name",), Enclosure: ("name",), StoragePath: ("name",),
    Target: ("name",), Filesystem: ("mount_point", "is_present"),
}  # fmt: skip
LISTS = {ArrayMember: "array", PathSection: "path"}
NOT_CHOSEN = ("id", "lab", "created_at", "updated_at", "labels", "notes", "absent", "sources")
EMPTY: tuple[Any, ...] = (None, "", {}, [])


class MergeError(ValueError):
    """Nothing was merged; `sentences` say why."""

    def __init__(self, sentences: list[str]) -> None:
        self.sentences = sentences
        super().__init__(" ".join(sentences))


@dataclass
class Merged:
    """What a merge does.

    `moved` counts the moved rows by word, `also` has sentences on what is merged or deleted besides, `changes` are
    those of the part that stays.
    """

    moved: Counter[str] = field(default_factory=Counter)
    also: list[str] = field(default_factory=list)
    changes: list[FieldChange] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def digest(self) -> str:
        from apps.inventory.exchange.outcome import OutcomeEntry

        lines = [*(f"{word} {count}" for word, count in sorted(self.moved.items())), *self.also, *self.problems]
        return Outcome((OutcomeEntry("", "", "\n".join(lines), changes=self.changes),)).digest


def choices_of(stays: Part, goes: Part) -> list[tuple[FieldChange, bool]]:
    """Return each field that differs, and whether the other part's value is preferable because the own one is empty."""
    results = []
    for column in stays._meta.concrete_fields:
        mine, other = _value(stays, column), _value(goes, column)
        if column.name not in NOT_CHOSEN and mine != other:
            results.append((FieldChange(column.name, _said(mine), _said(other)), mine in EMPTY))
    return results


def preview(lab: Lab, stays: Part, goes: Part, taken: Collection[str]) -> Merged:
    """Return what the merge would do without writing anything.

    `taken` are the names of the fields whose value comes from the part that goes.
    """
    with lab_scope(lab.pk), transaction.atomic():
        merged = _try(stays, goes, taken)
        transaction.set_rollback(True)
    return merged


def merge(lab: Lab, stays: Part, goes: Part, taken: Collection[str], actor: str, digest: str) -> Merged:
    """Merge the part `goes` into `stays`, record it in the audit trail and return what was done.

    Raises:
        MergeError: if the parts cannot be merged, or the merge is no longer what the preview with this digest showed.
    """
    message = f"{goes} into {stays}"
    with lab_scope(lab.pk), transaction.atomic():
        gone = goes.pk
        merged = _try(stays, goes, taken)
        if merged.problems:
            raise MergeError(merged.problems)
        if merged.digest != digest:
            raise MergeError(
                ["The inventory has changed since this preview was made; nothing was merged. Look at it again."]
            )
        detail = {"kind": stays._meta.model_name, "stays": stays.pk, "goes": gone, "moved": dict(merged.moved)}
        AuditEvent.objects.record(lab.pk, "inventory merged", message[:200], actor=actor, **detail)
    return merged


def _try(stays: Part, goes: Part, taken: Collection[str]) -> Merged:
    merged = Merged()
    if reason := _forbidden(stays, goes):
        merged.problems.append(reason)
        return merged
    manager: Any = type(stays).objects
    held = {
        row.pk: row for row in manager.filter(pk__in=[stays.pk, goes.pk]).select_for_update(of=("self",)).order_by("id")
    }
    try:
        with transaction.atomic():
            Merger(merged).unite(held[stays.pk], held[goes.pk], taken)
    except IntegrityError as error:
        merged.problems.append(violated(error))
    except models.ProtectedError as error:
        merged.problems.append(f"{goes} cannot go: {error.args[0]}")
    return merged


def _forbidden(stays: Any, goes: Any) -> str:
    if stays.pk == goes.pk:
        return f"found {stays} twice, expected two different ones"
    if isinstance(stays, Controller | Array | Enclosure) and stays.host_id != goes.host_id:
        return (
            f"{stays} is in {stays.host} and {goes} in {goes.host}; merge the two hosts first, expected two of one host"
        )
    return ""


# kind: "host", "target" …; stays, goes: ids. Sent inside the transaction, also of a preview, which is taken back.
parts_merged = Signal()


class Merger:
    def __init__(self, merged: Merged) -> None:
        self.merged = merged

    def unite(self, stays: Any, goes: Any, taken: Collection[str], is_top: bool = True) -> None:
        for relation in _relations(stays):
            self._move(relation, stays, goes)
        self._open_differences(stays, goes)
        if isinstance(stays, Enclosure):
            self._slots(stays, goes)
        after = {column.name: _value(goes if column.name in taken else stays, column) for column in _chosen(stays)}
        reasons = [_reasons(stays, goes, taken, word) for word in ("sources", "absent")]
        gone = goes.pk
        goes.delete()
        parts_merged.send(type(stays), kind=str(stays._meta.model_name), stays=stays.pk, goes=gone)
        self._fill(stays, goes, after, reasons, is_top)

    def _fill(self, stays: Any, goes: Any, after: dict[str, Any], reasons: list[dict[str, str]], is_top: bool) -> None:
        before = {name: getattr(stays, name) for name in (*after, "labels", "notes")}
        for name, value in after.items():
            setattr(stays, name, value)
        stays.labels = goes.labels | stays.labels
        stays.notes = "\n".join(dict.fromkeys(note for note in (stays.notes, goes.notes) if note))
        stays.sources, stays.absent = reasons
        self.merged.problems += [f"{name}: {said}" for name, said in problems_of(stays)]
        if isinstance(stays, Disk):
            self.merged.problems += _elsewhere(stays)
        stays.save()
        if is_top:
            differs = [name for name in before if before[name] != getattr(stays, name)]
            self.merged.changes = [
                FieldChange(name, _said(before[name]), _said(getattr(stays, name))) for name in differs
            ]

    def _move(self, relation: Any, stays: Any, goes: Any) -> None:
        model, name = relation.related_model, relation.field.name
        rows = model._default_manager.filter(**{name: goes})
        if relation.one_to_one:
            self._move_only(rows.first(), model._default_manager.filter(**{name: stays}).first(), name, stays)
            return
        if LISTS.get(model) == name and rows and model._default_manager.filter(**{name: stays}).exists():
            words = model._meta.verbose_name_plural
            self.merged.also.append(f"{len(rows)} {words} of {goes} are dropped: {stays} keeps its own")
            rows.delete()
            return
        if model in OWN and isinstance(stays, Host) and name == "host":
            self._unite_namesakes(model, stays, goes)
        if model is ArrayMember and name in ("disk", "member_array"):
            self._refuse_twice(rows, name, stays)
        if count := rows.update(**{name: stays}):
            self.merged.moved[str(model._meta.verbose_name if count == 1 else model._meta.verbose_name_plural)] += count

    def _move_only(self, theirs: Any, mine: Any, name: str, stays: Any) -> None:
        """Move a row that each part can have one of, such as a host's agent; one that is out of use may be deleted."""
        if theirs is None:
            return
        if mine is not None:
            gone = next((row for row in (theirs, mine) if getattr(row, "is_out_of_use", False)), None)
            word = str(theirs._meta.verbose_name)
            if gone is None:
                self.merged.problems.append(
                    f"Both have an {word} in use, expected one at most; revoke the one that is wrong first."
                )
                return
            self.merged.also.append(f"the {word} that is out of use goes")
            gone.delete()
            if gone is theirs:
                return
        type(theirs)._default_manager.filter(pk=theirs.pk).update(**{name: stays})
        self.merged.moved[str(theirs._meta.verbose_name)] += 1

    def _unite_namesakes(self, model: Any, stays: Host, goes: Host) -> None:
        keys = OWN[model]
        mine = {tuple(getattr(row, key) for key in keys): row for row in model.objects.filter(host=stays)}
        for row in model.objects.filter(host=goes):
            if model is Target:
                self._keep_apart(row, mine)
            key = tuple(getattr(row, name) for name in keys)
            if key in mine and all(
                part is not False and (part != "" or name == "round") for name, part in zip(keys, key, strict=True)
            ):
                self.merged.also.append(f"{model._meta.verbose_name} {row} is merged with the one of the same name")
                empty = [column.name for column in _chosen(row) if _value(mine[key], column) in EMPTY]
                self.unite(mine[key], row, empty, is_top=False)

    def _keep_apart(self, row: Any, mine: dict[tuple[Any, ...], Any]) -> None:
        """Rename a target if its namesake lies on another filesystem or path.

        The two stay apart because their runs cannot be compared as those of one target.
        """
        namesake = mine.get((row.name,))
        if namesake is None or is_same_target(namesake, row):
            return
        taken = {name for (name,) in mine} | set(Target.objects.filter(host=row.host_id).values_list("name", flat=True))
        row.name = next(
            name for name in (f"{row.name[:190]} {number}" for number in range(2, 10_000)) if name not in taken
        )
        row.save()
        self.merged.also.append(f"a target of the same name lies elsewhere and is called {row.name} now")

    def _refuse_twice(self, rows: Any, name: str, stays: Any) -> None:
        arrays = ArrayMember.objects.filter(**{name: stays}).values_list("array_id", "partition")
        for member in rows.select_related("array"):
            if (member.array_id, member.partition) in set(arrays):
                self.merged.problems.append(f"Both are members of {member.array}; one thing cannot be there twice.")

    def _open_differences(self, stays: Part, goes: Part) -> None:
        kind = str(stays._meta.model_name)
        known = Difference.objects.filter(part_kind=kind, part_id=stays.pk).values("field")
        theirs = Difference.objects.filter(part_kind=kind, part_id=goes.pk)
        theirs.filter(field__in=known).delete()
        theirs.update(part_id=stays.pk)

    def _slots(self, stays: Enclosure, goes: Enclosure) -> None:
        """Move the disks to the enclosure that stays; disks refer to their enclosure by name."""
        if stays.name != goes.name:
            count = Disk.objects.filter(host=goes.host_id, enclosure=goes.name).update(enclosure=stays.name)
            self.merged.moved["disks in its slots"] += count


def _relations(row: models.Model) -> list[Any]:
    """Return all references to this row, including those without an accessor on its side."""
    fields = row._meta.get_fields(include_hidden=True)
    return [
        column
        for column in fields
        if column.auto_created and not column.concrete and (column.one_to_many or column.one_to_one)
    ]


def _chosen(row: models.Model) -> list[Any]:
    return [column for column in row._meta.concrete_fields if column.name not in NOT_CHOSEN]


def _value(row: Any, field: Any) -> Any:
    return getattr(row, field.name)


def _said(value: object) -> Any:
    return str(value) if isinstance(value, models.Model) else None if value in EMPTY else value


def _reasons(stays: object, goes: object, taken: Collection[str], word: str) -> dict[str, str]:
    """Return the sources or absences of the merged part: each goes with the value that was chosen."""
    remaining = {name: why for name, why in getattr(stays, word).items() if name not in taken}
    return remaining | {name: why for name, why in getattr(goes, word).items() if name in taken}


def _elsewhere(disk: Disk) -> list[str]:
    members = disk.memberships.exclude(array__host=disk.host_id).select_related("array__host")
    return [
        f"It is a member of {member.array} in {member.array.host}, so it must stay there; choose that host."
        for member in members
    ]
