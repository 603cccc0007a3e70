"""The series of a comparison as a list to choose from: in which order they stand, and which of them a chart draws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from apps.comparison.cells import Comparison
from apps.comparison.question import MOST_IN_ORDER, Question

MOST_MOVED = (
    40  # by one place; series behind them move to the front only, for an address names all before the moved one
)


@dataclass(frozen=True)
class SeriesRow:
    """One series of the list. `first`, `earlier` and `later` are addresses, empty where it cannot move so."""

    number: int
    name: str
    is_drawn: bool
    first: str
    earlier: str
    later: str

    @property
    def key(self) -> str:
        """Return what an element's id of this series ends with, wherever in the list it stands."""
        return sha256(self.name.encode()).hexdigest()[:12]


def rows_of(comparison: Comparison, link: Callable[[Question], str]) -> list[SeriesRow]:
    """Return the series in their order, with the addresses that move them."""
    return list(_rows(comparison, link))


def _rows(comparison: Comparison, link: Callable[[Question], str]) -> Iterator[SeriesRow]:
    question, names, drawn = comparison.question, comparison.series, set(comparison.drawn)
    for place, name in enumerate(names):
        orders = {
            "first": moved(question, names, place, 0) if place else (),
            "earlier": moved(question, names, place, place - 1) if 0 < place < MOST_MOVED else (),
            "later": moved(question, names, place, place + 1) if place < min(MOST_MOVED, len(names) - 1) else (),
        }
        links = {how: link(question.with_(order=order)) if order else "" for how, order in orders.items()}
        yield SeriesRow(place + 1, name, name in drawn, **links)


def moved(question: Question, names: Sequence[str], place: int, to: int) -> tuple[str, ...]:
    """Return the order in which the series at `place` of `names` stands at `to`.

    It names as few series as that takes. Those of the former order that are missing for now stay behind the others.
    """
    here = [name for name in question.order if name in set(names)]
    changed = [name for name in names if name != names[place]]
    changed.insert(to, names[place])
    count = len(here) + (place >= len(here)) if to == 0 else max(len(here), place + 1, to + 1)
    missing = [name for name in question.order if name not in set(names)]
    return (*changed[:count], *missing)[:MOST_IN_ORDER]
