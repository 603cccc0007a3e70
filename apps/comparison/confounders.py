"""Like for like: which facts differ between the series, besides the one compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.comparison.readings import FILE_SIZE_OVER_RAM, POINT, Reading
from apps.comparison.words import UNKNOWN, label_of, natural, text_of

# Names of a series rather than properties of it: that they differ is the comparison itself.
NAMES = {"label", "configuration", "study", "target", "run", "repetition", "mount_point"}
NAMED_BY_A_LABEL = {"array"}


@dataclass(frozen=True)
class Confounder:
    """A fact that differs. `kind`: `differs` (known and different), `unknown` (known for some series only), `mixed`
    (inside one series).
    """

    fact: str
    kind: str
    values: dict[str, tuple[str, ...]]  # series → its values as people write them
    text: str


def confounders(groups: Mapping[str, Sequence[Reading]], compared: Iterable[str]) -> list[Confounder]:
    """What differs between the series of `groups` beyond the facts in `compared` (the series' facts and the x axis)."""
    left_out = NAMES | set(compared)
    if {"label", "configuration"} & left_out & set(compared):
        left_out |= NAMED_BY_A_LABEL
    if FILE_SIZE_OVER_RAM in left_out:
        left_out |= {"file_size", "ram"}
    every = [reading for readings in groups.values() for reading in readings]
    names = sorted({name for reading in every for name in reading.facts}.union(POINT) - left_out)
    found = [confounder for name in names for confounder in _of_fact(name, groups)]
    order = ("differs", "mixed", "unknown")
    return sorted(found, key=lambda one: (order.index(one.kind), one.fact))


def _of_fact(name: str, groups: Mapping[str, Sequence[Reading]]) -> list[Confounder]:
    values = {series: _values(name, readings) for series, readings in groups.items() if readings}
    known = {tuple(text for text in texts if text != UNKNOWN) for texts in values.values()} - {()}
    found = []
    if len(known) > 1:
        found.append(_confounder(name, "differs", values, " / "))
    elif known and any(UNKNOWN in texts for texts in values.values()):
        found.append(_confounder(name, "unknown", values, " / "))
    mixed = {series: texts for series, texts in values.items() if len(set(texts) - {UNKNOWN}) > 1}
    if mixed and len(known) == 1:
        found.append(_confounder(name, "mixed", mixed, " and "))
    return found


def _values(name: str, readings: Sequence[Reading]) -> tuple[str, ...]:
    raw = {text_of(name, value): value for value in (reading.of(name) for reading in readings)}
    return tuple(sorted(raw, key=lambda text: natural(raw[text])))


def _confounder(name: str, kind: str, values: dict[str, tuple[str, ...]], between: str) -> Confounder:
    distinct = sorted(dict.fromkeys(" and ".join(texts) for texts in values.values()), key=UNKNOWN.__eq__)
    return Confounder(name, kind, values, f"{label_of(name)} {between.join(distinct)}")
