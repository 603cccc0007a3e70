"""Like for like: which facts differ between the series, and between each pair of them, besides the one compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from apps.comparison.readings import FILE_SIZE_OVER_RAM, LABEL, POINT, Reading
from apps.comparison.words import UNKNOWN, label_of, natural, text_of
from apps.runs.activity import ACTIVITY

# Names of a series rather than properties of it: that they differ is the comparison itself.
NAMES = {"label", "configuration", "study", "target", "run", "repetition", "mount_point"}
NAMED_BY_A_LABEL = {"array"}
# What labels say of the figures and not of the machine; caveats read them.
ABOUT_FIGURES = {
    "transcribed", "header_file_size", "header_block_size", "header_filesystem", "part_of", "chain", "cpu_at_least",
}  # fmt: skip
KINDS = ("differs", "mixed", "unknown")
MOST_SERIES = 12  # of more series, only pairs with the baseline are told
MOST_VALUES, FIRST = 6, 4  # of a fact in its sentence
MOST_CONFIGURATIONS = 40  # more are not held against each other pair by pair
Texts = tuple[str, ...]
Table = dict[str, dict[str, Texts]]  # fact → series → its values as people write them


@dataclass(frozen=True)
class Confounder:
    """A fact that differs. `kind`: `differs` (known and different), `unknown` (known for some series only), `mixed`
    (inside one series).
    """

    fact: str
    kind: str
    values: dict[str, Texts]  # series → its values as people write them
    text: str  # of many values the first


@dataclass(frozen=True)
class Contrast:
    """Two series: the facts that differ with both values, those known on one side only, and those that are equal."""

    series: tuple[str, str]
    differs: tuple[Confounder, ...]
    unknown: tuple[Confounder, ...]
    equal: tuple[str, ...]


def confounders(known: Table) -> list[Confounder]:
    """What differs between any of the series, beyond what is compared."""
    found = [one for name, values in known.items() for one in _of_fact(name, values)]
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.fact))


def contrasts(known: Table, series: Sequence[str], baseline: str | None) -> list[Contrast]:
    """Every pair, those with the baseline first; of many series only those with it."""
    first = baseline or next(iter(series), "")
    pairs = [(name, first) for name in series if name != first]
    if len(series) <= MOST_SERIES:
        pairs += combinations((name for name in series if name != first), 2)
    return [contrast(known, *pair) for pair in pairs]


def contrast(known: Table, one: str, other: str) -> Contrast:
    differs, unknown, equal = [], [], []
    for fact, values in known.items():
        both = {name: values[name] for name in (one, other)}
        if both[one] == both[other]:
            equal += [fact] if UNKNOWN not in both[one] else []
        elif UNKNOWN in (*both[one], *both[other]):
            unknown.append(_confounder(fact, "unknown", both, " / "))
        else:
            differs.append(_confounder(fact, "differs", both, " / "))
    return Contrast((one, other), tuple(differs), tuple(unknown), tuple(equal))


def configurations(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    """By the configuration, or host and target, that was measured; none of so many that pairs would take too long."""
    found: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.value is not None:
            found.setdefault(str(reading.of(LABEL)), []).append(reading)
    return found if len(found) <= MOST_CONFIGURATIONS else {}


def table(groups: Mapping[str, Sequence[Reading]], compared: Iterable[str]) -> Table:
    """The values of every fact that may confound, in the series that have readings. `compared`: the series' facts and
    the x axis.
    """
    compared = set(compared)
    left_out = NAMES | ABOUT_FIGURES | ACTIVITY | compared
    if {"label", "configuration"} & compared:
        left_out |= NAMED_BY_A_LABEL
    if FILE_SIZE_OVER_RAM in compared:
        left_out |= {"file_size", "ram"}
    groups = {name: readings for name, readings in groups.items() if readings}
    points = {axis: {name: _texts(axis, readings) for name, readings in groups.items()} for axis in POINT}
    # readings of one run share their facts, so each is looked at once
    runs = {name: list({id(one.facts): one for one in readings}.values()) for name, readings in groups.items()}
    names = sorted({fact for readings in runs.values() for one in readings for fact in one.facts} | {*POINT})
    return {
        fact: points.get(fact) or {name: _texts(fact, readings) for name, readings in runs.items()}
        for fact in names
        if fact not in left_out
    }


def _of_fact(name: str, values: Mapping[str, Texts]) -> list[Confounder]:
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


def _texts(name: str, readings: Sequence[Reading]) -> Texts:
    """Its values as people write them, in their order."""
    found = [reading.of(name) for reading in readings]
    raw = {text_of(name, value): value for value in _distinct(found)}
    return tuple(sorted(raw, key=lambda text: natural(raw[text])))


def _distinct(found: Sequence[Any]) -> Iterable[Any]:
    try:
        return set(found)
    except TypeError:  # lists: few facts are
        return found


def _confounder(name: str, kind: str, values: Mapping[str, Texts], between: str) -> Confounder:
    distinct = sorted(dict.fromkeys(_few(texts, " and ") for texts in values.values()), key=UNKNOWN.__eq__)
    return Confounder(name, kind, dict(values), f"{label_of(name)} {_few(distinct, between)}")


def _few(texts: Sequence[str], between: str) -> str:
    """Of many, as captions are in old results, the first and how many more there are; `values` has them all."""
    more = len(texts) - FIRST if len(texts) > MOST_VALUES else 0
    return between.join([*texts[:FIRST], f"{more} more"] if more else texts)
