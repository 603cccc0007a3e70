"""Members of arrays and sections of paths: checked as a whole list, written where they differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from apps.inventory.editing.edit_request import Problems
from apps.inventory.editing.registry import PartKind, Places
from apps.inventory.editing.rules import storable
from apps.inventory.models import Array, ArrayMember

MOST = 1024  # members of one array
MAX_DEPTH = 32
Place = Mapping[str, Any]


@dataclass(frozen=True)
class KnownPlaces:
    """The places of a part, and which arrays are members of which (from arrays' numbers to their members' numbers)."""

    present: Sequence[Any]
    arrays_in: Callable[[set[int]], set[int]]


def check_places(
    kind: PartKind, row: Any, places: Sequence[Place], problems: Problems, known_already: KnownPlaces | None = None
) -> None:
    """Add errors such as `members.3.disk` to `problems`; unchanged places were accepted once and are not judged again.

    `known_already` is for callers that have loaded it for many parts; without it, it is queried.
    """
    assert kind.places
    of = known_already or KnownPlaces(_present(kind.places, row), _arrays_in)
    if len(places) > MOST:
        problems.add(kind.places.name, f"found {len(places)}, expected at most {MOST}")
        return
    known = {_key(kind.places, one) for one in of.present}
    for number, place in enumerate(places):
        at = f"{kind.places.name}.{number}"
        _check_columns(kind.places, place, at, problems)
        if place_key(kind.places, place) not in known:
            _check_host(row, place, at, problems)
    if kind.places.model is ArrayMember:
        _check_members(row, places, problems, of.arrays_in)


def _check_columns(of: Places, place: Place, at: str, problems: Problems) -> None:
    """Check the columns' own rules: lengths, choices, numbers."""
    row = of.model(**{name: value for name, value in place.items() if name in of.fields})
    try:
        row.clean_fields(exclude=[of.parent, "position", "disk", "member_array", "controller"])
    except ValidationError as error:
        for name, said in error.message_dict.items():
            problems.add(f"{at}.{name}", " ".join(said))
    for name in of.fields:
        value = getattr(row, of.column(name))
        if isinstance(value, str) and not storable(value):
            problems.add(f"{at}.{name}", "found a character that cannot be kept, expected plain text")
    if of.model is not ArrayMember:
        _check_section(place, at, problems)


def _check_section(place: Place, at: str, problems: Problems) -> None:
    count, standby = place.get("count", 1) or 0, place.get("standby_count", 0) or 0
    if count < 1:
        problems.add(f"{at}.count", f"found {count}, expected at least 1")
    elif standby >= count:
        problems.add(
            f"{at}.standby_count", f"found {standby} standing by of {count} links, expected at least one in use"
        )
    if (place.get("bytes_per_second") or 0) < 0:
        problems.add(f"{at}.bytes_per_second", "found a negative rate, expected at least 0")


def _check_host(row: Any, place: Place, at: str, problems: Problems) -> None:
    for name in ("disk", "member_array", "controller"):
        other = place.get(name)
        if other is not None and other.host_id not in (None, row.host_id):
            problems.add(f"{at}.{name}", f"found {other}, which is in {other.host}; expected one in {row.host}")


def _check_members(
    row: Array, places: Sequence[Place], problems: Problems, arrays_in: Callable[[set[int]], set[int]]
) -> None:
    seen: dict[tuple[Any, ...], int] = {}
    for number, place in enumerate(places):
        disk, array = place.get("disk"), place.get("member_array")
        if (disk is None) == (array is None):
            text = "both" if disk else "neither"
            problems.add(f"members.{number}.disk", f"found {text}, expected a disk or an array")
            continue
        key = (disk and disk.pk, array and array.pk, place.get("partition") or "")
        if key in seen:
            problems.add(f"members.{number}.disk", f"found {disk or array}, which is member {seen[key]} already")
        seen.setdefault(key, number)
        if array is not None and row.pk and _lies_on(array, row.pk, arrays_in):
            problems.add(f"members.{number}.member_array", f"found {array}, which lies on {row} itself")


def _lies_on(array: Array, wanted: int, arrays_in: Callable[[set[int]], set[int]]) -> bool:
    level, seen = {array.pk}, set[int]()
    for _ in range(MAX_DEPTH):
        if wanted in level:
            return True
        seen |= level
        level = arrays_in(level) - seen
        if not level:
            return False
    return True


def _arrays_in(arrays: set[int]) -> set[int]:
    below = ArrayMember.objects.filter(array__in=arrays, member_array__isnull=False)
    return set(below.values_list("member_array_id", flat=True))


def place_key(of: Places, place: Place) -> tuple[Any, ...]:
    """Return a place as a tuple of its columns' values, references by number, missing ones as the default."""
    row = of.model(**{name: value for name, value in place.items() if name in of.fields})
    return _key(of, row)


def _key(of: Places, row: object) -> tuple[Any, ...]:
    return tuple(getattr(row, of.column(name)) for name in of.fields)


def _present(of: Places, row: Any) -> list[Any]:
    manager: Any = of.model._default_manager
    return list(manager.filter(**{of.parent: row}).order_by("position")) if row.pk else []


def write_places(kind: PartKind, row: object, places: Sequence[Place]) -> bool:
    """Write the places in this order and return whether anything differs from before.

    Rows stay at their position; what is in them changes.
    """
    assert kind.places
    of, present = kind.places, _present(kind.places, row)
    columns = [of.column(name) for name in of.fields]
    manager: Any = of.model._default_manager
    differs = len(present) != len(places)
    if gone := [one.pk for one in present[len(places) :]]:
        manager.filter(pk__in=gone).delete()
    for number, place in enumerate(places):
        key = place_key(of, place)
        if number >= len(present):
            manager.create(**{of.parent: row, "position": number}, **dict(zip(columns, key, strict=True)))
        elif key != _key(of, present[number]) or present[number].position != number:
            manager.filter(pk=present[number].pk).update(position=number, **dict(zip(columns, key, strict=True)))
            differs = True
    return differs
