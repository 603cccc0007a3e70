"""Rows that are likely one thing, and why. Pure: plain values in, pairs out."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DuplicateCandidate:
    """What a part is recognised by, to find duplicates.

    `place`: only parts of the same place can be duplicates (for a controller its host); empty means any place.
    """

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
    first: DuplicateCandidate
    second: DuplicateCandidate
    why: str


Pairs = dict[tuple[int, int], Likely]


def likely(candidates: Sequence[DuplicateCandidate], names_are_hosts: bool = False) -> list[Likely]:
    """Return the pairs of parts that are probably the same thing, each once and with its strongest reason.

    Reasons, strongest first: WWN, serial number, UUID, name. Sorted by the titles of the two parts.
    """
    pairs: Pairs = {}
    for why, key in (("the same WWN", _wwn), ("the same serial number", _serial), ("the same UUID", _uuid)):
        _pair(pairs, candidates, why, key)
    _pair(
        pairs,
        candidates,
        "the same name with and without a domain" if names_are_hosts else "the same name",
        _host if names_are_hosts else _name,
    )
    return sorted(pairs.values(), key=lambda pair: (pair.first.title, pair.second.title))


def _pair(
    pairs: Pairs, candidates: Iterable[DuplicateCandidate], why: str, key: Callable[[DuplicateCandidate], str]
) -> None:
    groups = defaultdict(list)
    for candidate in candidates:
        if word := key(candidate):
            groups[candidate.place, word].append(candidate)
    for first, *others in groups.values():
        for other in others:
            pairs.setdefault((first.id, other.id), Likely(first, other, why))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _wwn(duplicate_candidate: DuplicateCandidate) -> str:
    return _plain(duplicate_candidate.wwn.lower().removeprefix("0x").removeprefix("naa."))


def _serial(duplicate_candidate: DuplicateCandidate) -> str:
    """Return the serial number without blanks, hyphens and case; '' for placeholders such as 0000."""
    plain = _plain(duplicate_candidate.serial)
    return plain if len(set(plain)) > 2 else ""


def _uuid(duplicate_candidate: DuplicateCandidate) -> str:
    return _plain(duplicate_candidate.uuid)


def _name(duplicate_candidate: DuplicateCandidate) -> str:
    return " ".join(duplicate_candidate.name.lower().split())


def _host(duplicate_candidate: DuplicateCandidate) -> str:
    """Return the first part of a full host name in lower case; an IP address stays whole."""
    name = duplicate_candidate.name.strip().lower().rstrip(".")
    return name if re.fullmatch(r"[0-9.]+|.*:.*", name) else name.partition(".")[0]
