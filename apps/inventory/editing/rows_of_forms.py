"""Rows inside an inventory form: labels, members and sections. They are added, moved and removed by buttons, without any script."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from apps.inventory.editing.fields import LABELS
from apps.inventory.editing.kinds import Places
from apps.inventory.editing.wanted import Problems
from apps.inventory.field_words import label_of, unit_of
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Host
from apps.inventory.vocabulary import SectionKind
from apps.labs.models import Lab
from apps.lib import units

MOST_ROWS = 2048
Data = Mapping[str, Any]
Texts = dict[str, str]


def read_rows(data: Data, prefix: str, names: tuple[str, ...]) -> list[Texts]:
    """`member-0-disk`, `member-0-state` … as a list of texts."""
    try:
        count = min(int(data.get(f"{prefix}-count") or 0), MOST_ROWS)
    except ValueError:
        count = 0
    return [{name: str(data.get(f"{prefix}-{number}-{name}", "")).strip() for name in names} for number in range(count)]


def rearranged(rows: list[Texts], act: str, prefix: str, blank: Texts) -> list[Texts]:
    """`act`: `add-member`, `member-up-3`, `member-down-3`, `member-remove-3`. What is out of range changes nothing."""
    if act == f"add-{prefix}":
        return [*rows, dict(blank)]
    verb, _, digits = act.removeprefix(f"{prefix}-").partition("-")
    number = int(digits) if digits.isdecimal() and len(digits) < 6 else -1
    if not 0 <= number < len(rows):
        return rows
    rest = rows[:number] + rows[number + 1 :]
    if verb == "remove":
        return rest
    to = {"up": max(number - 1, 0), "down": number + 1}.get(verb, number)
    return rest[:to] + [rows[number]] + rest[to:]


def labels_of(rows: list[Texts], problems: Problems) -> dict[str, str]:
    labels: dict[str, str] = {}
    for row in rows:
        if not row["name"] and not row["value"]:
            continue
        if not row["name"] or not row["value"]:
            problems.add(
                "labels",
                f"found {row['name'] or '(no name)'} = {row['value'] or '(no value)'}, expected a name and a value",
            )
        elif row["name"] in labels:
            problems.add("labels", f"found {row['name']} twice, expected each name once")
        labels[row["name"]] = row["value"]
    return labels


@dataclass
class Column:
    """One input of a row; `listed` are what may be typed there."""

    name: str
    label: str
    hint: str = ""
    is_number: bool = False
    choices: list[tuple[str, str]] = field(default_factory=list)
    is_listed: bool = False


class PlaceRows:
    """Members or sections as texts, and back as values."""

    def __init__(self, of: Places, lab: Lab, host: Host | None) -> None:
        self.of, self.lab, self.host = of, lab, host
        self.is_members = of.model is ArrayMember
        self.names = ("what", "partition", "state") if self.is_members else of.fields
        self.blank: Texts = dict.fromkeys(self.names, "") | (
            {} if self.is_members else {"count": "1", "standby_count": "0"}
        )
        self._known: dict[str, list[Any]] | None = None

    @property
    def columns(self) -> list[Column]:
        if self.is_members:
            return [
                Column("what", "Disk or array", is_listed=True),
                Column("partition", "Partition", "whole device"),
                Column("state", "State", "in sync"),
            ]
        return [self._column(name) for name in self.of.fields]

    def _column(self, name: str) -> Column:
        label = (LABELS.get(name) or label_of(name)).capitalize()
        if name == "kind":
            return Column(name, label, choices=[("", "–"), *SectionKind.choices])
        hint = {"bytes_per_second": "200 MB/s", "link": "FC-2G", "name": "server – controller"}.get(name, "")
        return Column(name, label, hint, name in ("count", "standby_count"), is_listed=name == "controller")

    @property
    def candidates(self) -> list[str]:
        """What may be typed, each meaning one thing only."""
        return sorted(
            (name for name, found in self._by_name().items() if len(found) == 1 and found[0][1]), key=str.lower
        )

    def _by_name(self) -> dict[str, list[Any]]:
        """Name → (row, whether it is the name to offer). Disks also answer to serial number and WWN."""
        if self._known is None:
            self._known = {}
            for row in self._rows():
                offered = spelled(row)
                for name in {offered, *_other_names(row)}:
                    self._known.setdefault(name, []).append((row, name == offered))
        return self._known

    def _rows(self) -> list[Any]:
        if not self.is_members:
            return list(Controller.objects.filter(lab=self.lab, host=self.host))
        disks = Disk.objects.filter(Q(host=self.host) | Q(host=None), lab=self.lab)
        return [*disks, *Array.objects.filter(lab=self.lab, host=self.host)]

    def texts_of(self, row: Any) -> list[Texts]:
        """The rows of a part as they are."""
        if row is None:
            return []
        references = ("disk", "member_array") if self.is_members else ("controller",)
        manager: Any = self.of.model._default_manager
        found = manager.filter(**{self.of.parent: row}).select_related(*references).order_by("position")
        return [self._texts(one) for one in found]

    def _texts(self, one: Any) -> Texts:
        if self.is_members:
            return {"what": spelled(one.disk or one.member_array), "partition": one.partition, "state": one.state}
        return {name: _text(name, getattr(one, name)) for name in self.of.fields}

    def values_of(self, rows: list[Texts], problems: Problems) -> list[dict[str, Any]]:
        """Rows in which nothing is said are left out."""
        said = [
            (number, row)
            for number, row in enumerate(rows)
            if any(row[name] != self.blank[name] for name in self.names)
        ]
        return [self._values(row, f"{self.of.name}.{number}", problems) for number, row in said]

    def _values(self, row: Texts, at: str, problems: Problems) -> dict[str, Any]:
        values: dict[str, Any] = {name: text for name, text in row.items() if name not in ("what", "controller")}
        for name in ("count", "standby_count", "bytes_per_second"):
            if name in values:
                values[name] = self._number(name, row[name], at, problems)
        if not self.is_members:
            return values | {"controller": self._find(row["controller"], f"{at}.controller", problems)}
        found = self._find(row["what"], f"{at}.what", problems, "a disk or an array")
        key = "member_array" if isinstance(found, Array) else "disk"
        return values | ({key: found} if found else {})

    def _number(self, name: str, text: str, at: str, problems: Problems) -> int | None:
        try:
            return units.parse(text, unit_of(name)) if text else None if unit_of(name) else int(self.blank[name])
        except ValueError as error:
            problems.add(f"{at}.{name}", str(error))
            return None if unit_of(name) else int(self.blank[name])

    def _find(self, text: str, at: str, problems: Problems, needed: str = "") -> Any:
        if not text:
            return None
        found = self._by_name().get(text, [])
        if len(found) == 1:
            return found[0][0]
        number = text.rpartition("#")[2]
        exact = [row for row, _ in found if number.isdecimal() and row.pk == int(number)]
        if exact:
            return exact[0]
        expected = needed or "a controller"
        many = f"which means {len(found)} things" if found else f"expected {expected} of {self.host or 'this host'}"
        problems.add(at, f"found {text[:80]!r}, {many}")
        return None


def _text(name: str, value: Any) -> str:
    if isinstance(value, int):
        return units.typed(value, unit_of(name))
    return spelled(value) if isinstance(value, Controller) else str(value or "")


def spelled(row: Any) -> str:
    """How a part is called in a row of a form: a disk that has no name of its own by its number."""
    if isinstance(row, Disk) and not row.device_name:
        return f"{row.serial or row.model or 'disk'} #{row.pk}"
    if isinstance(row, Array) and row.round:
        return f"{row.name} (round {row.round})"
    return str(row)


def _other_names(row: Any) -> set[str]:
    if isinstance(row, Disk):
        return {name for name in (row.serial, row.wwn, f"{row.device_name} #{row.pk}") if name}
    return {f"{row} #{row.pk}"}
