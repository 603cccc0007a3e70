"""Rows that are likely one thing, and why. Pure: plain values in, pairs out."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """What a row is known by. `place`: rows of different places are no duplicates (the host of a controller); empty for any."""

    id: int
    title: str
    serial: str = ""
    wwn: str = ""
    name: str = ""
    uuid: str = ""
    model: str = ""
    place: int | str = ""


@dataclass(frozen=True)
class Likely:
    first: Candidate
    second: Candidate
    why: str


Pairs = dict[tuple[int, int], Likely]


def likely(candidates: Sequence[Candidate], names_are_hosts: bool = False) -> list[Likely]:
    """Each pair once, for its best reason; of a group of many, each with the first."""
    found: Pairs = {}
    for why, key in (("the same WWN", _wwn), ("the same serial number", _serial), ("the same UUID", _uuid)):
        _pair(found, candidates, why, key)
    _pair(
        found,
        candidates,
        "the same name with and without a domain" if names_are_hosts else "the same name",
        _host if names_are_hosts else _name,
    )
    return sorted(found.values(), key=lambda one: (one.first.title, one.second.title))


def _pair(found: Pairs, candidates: Iterable[Candidate], why: str, key: Callable[[Candidate], str]) -> None:
    groups = defaultdict(list)
    for one in candidates:
        if word := key(one):
            groups[one.place, word].append(one)
    for first, *others in groups.values():
        for other in others:
            found.setdefault((first.id, other.id), Likely(first, other, why))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _wwn(one: Candidate) -> str:
    return _plain(one.wwn.lower().removeprefix("0x").removeprefix("naa."))


def _serial(one: Candidate) -> str:
    """Blanks, hyphens and case mean nothing; serials that are no serials (0000, none) name nobody."""
    plain = _plain(one.serial)
    return plain if len(set(plain)) > 2 else ""


def _uuid(one: Candidate) -> str:
    return _plain(one.uuid)


def _name(one: Candidate) -> str:
    return " ".join(one.name.lower().split())


def _host(one: Candidate) -> str:
    """The first part of a full name; of an address the whole."""
    name = one.name.strip().lower().rstrip(".")
    return name if re.fullmatch(r"[0-9.]+|.*:.*", name) else name.partition(".")[0]
