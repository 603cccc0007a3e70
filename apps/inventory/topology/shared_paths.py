"""Who shares a way with whom: members on one controller, a path of one link. Pure; findings and caveats both use it."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


def carrier(slot_controller: int | None, controller: str, numbered: str = "{}") -> str:
    """Return what a disk shares with others: its slot's controller, else its controller by name; '' if unknown.

    The slot's controller comes first because one controller row may stand for all six of a chassis. `numbered` is the
    format in which it is written.
    """
    return controller if slot_controller is None else numbered.format(slot_controller)


def crowded(members: Iterable[tuple[Key, str]]) -> dict[Key, list[str]]:
    """Return the controllers that carry several members, with the names of the members.

    `members` are pairs of (controller, member's name).
    """
    results: dict[Key, list[str]] = {}
    for key, name in members:
        results.setdefault(key, []).append(name)
    return {key: names for key, names in results.items() if len(names) > 1}


def links_in_use(section: Mapping[str, Any]) -> int:
    """Return how many links of a section are in use, without those that only stand by."""
    return int(section.get("count") or 1) - int(section.get("standby_count") or 0)


def is_single(section: Mapping[str, object]) -> bool:
    """Return whether one cable carries all of a section; a bus inside a box is no cable."""
    return links_in_use(section) == 1 and section.get("kind") != "bus"


def section_in_words(section: Mapping[str, Any]) -> str:
    """Describe the links of a section: `1 × FC-2G, 1 more stands by`."""
    standby = int(section.get("standby_count") or 0)
    more = f", {standby} more stand{'s' * (standby == 1)} by" if standby else ""
    return f"{links_in_use(section)} × {section.get('link') or 'link'}{more}"
