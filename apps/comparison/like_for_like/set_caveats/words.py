"""The caveats of matched sets in the reader's words: for the page of one question, and for documents."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from string import ascii_lowercase

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.comparison.like_for_like.answers import StratumEffect
from apps.comparison.like_for_like.forest import Forest
from apps.comparison.like_for_like.set_caveats.findings import SetCaveat, SetCaveats, by_level


@dataclass(frozen=True)
class CaveatRow:
    """One caveat as a page shows it.

    `letter` marks its sets in tables, and is empty where it is about all of them. `warning` is a sentence for beside the
    answer where the caveat stands against the values of a whole side.
    """

    rule: str
    title: str
    text: str
    lines: tuple[str, ...]
    where: str
    letter: str
    warning: str = ""


def caveat_rows(caveats: SetCaveats) -> list[CaveatRow]:
    """Return the caveats of an answer, each once."""
    letters = _letters(caveats)
    return [
        CaveatRow(
            one.rule, _(one.caveat.title), _(one.caveat.text), one.caveat.arithmetic, where_words(one, caveats),
            letters.get(one.rule, ""), _warning(one, caveats) if one.is_against_a_side else "",
        )
        for one in caveats.found
    ]  # fmt: skip


def _letters(caveats: SetCaveats) -> dict[str, str]:
    every = {key for key, runs in caveats.sides.items() if runs}
    partial = [one.rule for one in caveats.found if not every <= one.concerned.keys()]
    return dict(zip(partial, ascii_lowercase, strict=False))


def marks_of(caveats: SetCaveats, effect: StratumEffect) -> list[tuple[str, str]]:
    """Return letter and rule of the caveats that are about this set and not about all."""
    number = caveats.asked.numbers.get(id(effect.stratum))
    keys = {(number, effect.level), (number, effect.against)}
    letters = _letters(caveats)
    return [
        (letters[one.rule], one.rule) for one in caveats.found if one.rule in letters and keys & one.concerned.keys()
    ]


def marked(plot: Forest, caveats: SetCaveats | None) -> Forest:
    """Return a forest plot whose rows are marked with the caveats of their sets, with these in words."""
    if caveats is None or not caveats.found:
        return plot
    rows = tuple(
        replace(row, marks=",".join(letter for letter, _rule in marks_of(caveats, row.effect))) if row.effect else row
        for row in plot.rows
    )
    return replace(plot, rows=rows, caveats=tuple(line_of(row) for row in caveat_rows(caveats)))


def line_of(row: CaveatRow) -> str:
    """Return a caveat in one line, as it stands below a plot: its letter, its title, and whose runs it is about."""
    return f"{row.letter} {row.title}: {row.where}".strip()


def where_words(one: SetCaveat, caveats: SetCaveats) -> str:
    """Return how many runs of each level a caveat is about, and in how many sets: `RAID 5: 3 of 3 runs; in 1 of 2 …`."""
    concerned, looked = by_level(one.concerned), by_level(caveats.sides)
    parts = [
        ngettext("%(level)s: %(n)s of %(total)s run", "%(level)s: %(n)s of %(total)s runs", len(looked[level]))
        % {"level": caveats.asked.level_name(level), "n": len(runs), "total": len(looked[level])}
        for level, runs in concerned.items()
    ]
    return "; ".join([*parts, *_in_sets(len(one.sets), caveats)])


def _in_sets(n: int, caveats: SetCaveats) -> Iterator[str]:
    total = len({number for number, _level in caveats.sides})
    if total > 1:
        yield ngettext("in %(n)s of %(total)s matched set", "in %(n)s of %(total)s matched sets", total) % {
            "n": n, "total": total,
        }  # fmt: skip


def _warning(one: SetCaveat, caveats: SetCaveats) -> str:
    """Return a sentence such as `The array was not in order: all runs of RAID 5 in 1 of 2 matched sets`."""
    levels = dict.fromkeys(level for _number, level in sorted(one.whole))
    names = ", ".join(map(caveats.asked.level_name, levels))
    told = _("%(caveat)s: all runs of %(levels)s") % {"caveat": _(one.caveat.title), "levels": names}
    return " ".join([told, *_in_sets(len({number for number, _level in one.whole}), caveats)])


def looked_words(caveats: SetCaveats) -> str:
    """Return of how many runs caveats were looked for; empty where of all."""
    if caveats.is_of_all_runs:
        return ""
    words = {"n": caveats.looked, "total": caveats.total}
    return _("Looked for in %(n)s of the %(total)s runs in the matched sets.") % words


def titles_of(caveats: SetCaveats) -> list[str]:
    """Return the titles of the caveats, those that spoil a value most first."""
    return [_(one.caveat.title) for one in caveats.found]
