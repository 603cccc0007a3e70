"""Cells that are unlike have no interval and no verdict, wherever they are shown: tried on labs with a mixed history."""

import csv
import io
import random
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import pytest
from django.test import Client

from apps.comparison.cells import Comparison, ComparisonCell, Withheld
from apps.comparison.charts.chart import ChartKind
from apps.comparison.charts.comparison import chart_of
from apps.comparison.compare import compare, series_name
from apps.comparison.details import details, effect_rows
from apps.comparison.grid import grid
from apps.comparison.likeness import IMPLIED, WHOLE
from apps.comparison.question import Question
from apps.comparison.readings import LABEL, Reading
from apps.labs.models import Lab
from tests.comparison.factories import GIB, MIB, measured, reading
from tests.comparison.reports import tristan
from tests.sampling import for_each

SignIn = Callable[[str], Client]
HISTORY = {
    "host": ("old", "new"), "ram": (GIB, 2 * GIB), "kernel": ("5.10", "6.1"), "filesystem": ("ext4", "xfs"),
    "raid_level": ("0", "5", "single"), "raid_implementation": ("hardware", "software"), "disk_model": ("A", "B"),
    "tool_version": ("fio-3.1", "fio-3.33"), "sync": ("direct", "none"), "chunk_size": (65536, None), "cable": ("x", None),
}  # fmt: skip
WORKLOAD = {"tool_version", "sync", "direct"}
ARRAY = {"raid_level", "raid_implementation", "chunk_size", "disk_count", "controller", "controller_cache"}
SERIES = [
    (LABEL,), ("host",), ("filesystem",), ("raid_level",), ("raid_implementation",), ("kernel",), ("sync",),
    ("filesystem", "kernel"),
]  # fmt: skip
AXES = ("file_size", "file_size_over_ram", "disk_model", "kernel", "host", "chunk_size")
VERDICTS = re.compile(r"\b(better|worse|significant|too few)\b|\d to \d|p [<=]|g =")


def lab_of(seed: int) -> list[Reading]:
    """A lab whose configurations change now and then, in one or two facts, with three runs or more of each."""
    draws = random.Random(seed)
    facts = {name: draws.choice(values) for name, values in HISTORY.items()}
    readings: list[Reading] = []
    for _ in range(draws.randint(3, 7)):
        for name in draws.sample(sorted(HISTORY), draws.choice((1, 1, 2))):
            facts[name] = draws.choice(HISTORY[name])
        known = {name: value for name, value in facts.items() if value is not None}
        size = draws.choice((256 * MIB, GIB))
        for _ in range(draws.randint(1, 4)):
            label = f"{facts['host']} · {facts['disk_model']}"
            value = draws.lognormvariate(18, 0.1)
            readings.append(
                reading(len(readings), value, label, file_size=size, facts={**known, "seed": len(readings)})
            )
    return readings


def is_allowed(name: str, compared: tuple[str, ...], ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if name in compared or (WHOLE & {*compared} and name not in WORKLOAD):
        return True
    implied = {word for fact in compared for word in IMPLIED.get(fact, ())}
    if any(name == word or (word.endswith("*") and name.startswith(word[:-1])) for word in implied):
        return True
    is_of_array = {"raid_level", "raid_implementation"} & {*compared} and name in ARRAY
    return bool(is_of_array and "single" in (ours.get("raid_level"), theirs.get("raid_level")))


def properties(reading: Reading) -> dict[str, Any]:
    found = {name: value for name, value in reading.facts.items() if name not in (LABEL, "seed")}
    return {**found, "file_size": reading.file_size}


def unlike(ours: Iterable[Reading], theirs: Iterable[Reading], compared: tuple[str, ...]) -> bool:
    """Say by the plain facts alone whether two cells may not be tested against each other."""
    mine, other = [properties(one) for one in ours], [properties(one) for one in theirs]
    if any(facts != mine[0] for facts in mine) or any(facts != other[0] for facts in other):
        return True
    names = {*mine[0], *other[0]}
    return any(mine[0].get(n) != other[0].get(n) and not is_allowed(n, compared, mine[0], other[0]) for n in names)


def pairs(found: Comparison, readings: list[Reading]) -> Iterator[tuple[ComparisonCell, bool]]:
    by_cell: dict[tuple[Any, str], list[Reading]] = {}
    for one in readings:
        by_cell.setdefault((one.of(found.x), series_name(one, found.question.series)), []).append(one)
    compared = (*found.question.series, *(("file_size_over_ram",) if found.x == "file_size_over_ram" else ()))
    for cell in found.cells:
        theirs = by_cell.get((cell.x, str(found.baseline)), [])
        if cell.n and theirs and cell.series != found.baseline:
            yield cell, unlike(by_cell[cell.x, cell.series], theirs, compared)


@for_each("seed, series, x", list(product(range(40), SERIES, AXES)), number=200)
def test_no_interval_and_no_verdict_over_a_mixed_history(seed: int, series: tuple[str, ...], x: str) -> None:
    readings = lab_of(seed)
    try:
        found = compare(readings, Question(series=series, x=x, chart="paired"))
    except ValueError:  # no run has the fact
        return
    table = grid(found)
    figures = {(one.cell.x, one.cell.series): one for row in table.rows for one in row.figures}
    for cell, is_unlike in pairs(found, readings):
        if not is_unlike:
            continue
        tested = (
            cell.ratio_low,
            cell.ratio_high,
            cell.p,
            cell.p_adjusted,
            cell.effect_size,
            cell.verdict,
            cell.more_runs,
        )
        assert tested == (None,) * 7, cell
        assert cell.withheld is not None
        assert cell.advice  # says why
        figure = figures[cell.x, cell.series]
        assert not VERDICTS.search(figure.judgement), figure.judgement
        assert figure.judgement or figure.mixture
        words = [line for line in details(cell, table.unit) if not line.startswith(tuple("0123456789"))]
        assert not any(VERDICTS.search(line) for line in words), words
        if cell.unlike > 1:
            assert (cell.ratio, cell.ci_low, cell.ci_high, figure.spread) == (None,) * 3 + ("",)
    for cell in found.cells:
        if cell.unlike > 1:
            assert (cell.ci_low, cell.ci_high, cell.ratio) == (None, None, None)
    chart = chart_of(found, readings)
    for one in chart.series if chart.kind is ChartKind.PAIRED else ():  # other kinds have no ratios to warn of
        for point in one.points:
            cell = next(cell for cell in found.cells if cell.series == one.label and point.label == _text(found, cell))
            assert bool(point.warning) == bool(cell.confounders or cell.unknown)


def _text(found: Comparison, cell: ComparisonCell) -> str:
    return next(row.x for row in grid(found).rows if row.figures[0].cell.x == cell.x)


def test_the_test_can_tell_both() -> None:
    both = {is_unlike for seed in range(40) for series in SERIES for _, is_unlike in pairs(*_asked(seed, series))}
    tested = [cell.verdict for seed in range(40) for cell in _asked(seed, ("filesystem",))[0].cells if cell.ratio_low]
    assert both == {True, False}
    assert tested  # there are verdicts where nothing else differs


def _asked(seed: int, series: tuple[str, ...]) -> tuple[Comparison, list[Reading]]:
    readings = lab_of(seed)
    return compare(readings, Question(series=series)), readings


def test_ratios_of_factors_are_plain_and_say_where_more_differs() -> None:
    question = Question(series=("environment", "interface"))
    rows = {row["factor"]: row for row in effect_rows(compare(tristan(), question))}
    assert (rows["environment"]["range"], rows["environment"]["is_alike"]) == ("6.05× and 6.86×", True)
    unequal = [
        reading(n, 1e8 * (n + 1), f"c{n}", facts={"environment": e, "interface": i, "ram": n})
        for n, (e, i) in enumerate(product(("guest", "native"), ("SAS", "SATA")))
    ]
    assert not any(row["is_alike"] for row in effect_rows(compare(unequal, question)))


def test_a_configuration_that_changed_has_no_ratio_of_a_factor() -> None:
    pure = [
        reading(n, 1e8 * (n + 1), f"c{n}", facts={"environment": e, "interface": i})
        for n, (e, i) in enumerate(product(("guest", "native"), ("SAS", "SATA")))
    ]
    mixed = reading(9, 9e9, "c0", facts={"environment": "guest", "interface": "SAS", "kernel": "6.1"})
    question = Question(series=("environment", "interface"))
    assert len(compare(pure, question).effects[0].held) == 2
    assert len(compare([*pure, mixed], question).effects[0].held) == 1


def places(*facts: dict[str, Any]) -> list[Reading]:
    """Three runs of each, every one on a target of its own."""
    return [
        reading(10 * place + n, 1e8 * (1 + place + n / 100), facts={"host": "h", "target": f"t{place}", **some})
        for place, some in enumerate(facts)
        for n in range(3)
    ]


def test_what_nobody_knows_of_two_places_may_differ_where_others_have_it() -> None:
    ext4, xfs = {"filesystem": "ext4"}, {"filesystem": "xfs"}
    question = Question(series=("filesystem",))
    alone = compare(places(ext4, xfs), question).cells[1]
    assert (alone.withheld, alone.unknown) == (None, ())  # no run tells of disks at all
    found = compare(places(ext4, xfs, {"filesystem": "btrfs", "disk_model": "A", "interface": "SAS"}), question)
    (cell,) = [cell for cell in found.cells if cell.series == "xfs" and found.baseline == "btrfs"]
    assert (cell.confounders, cell.unknown) == (("disk_model", "interface"), ())
    (cell,) = [one for one in compare(places(ext4, xfs, {"filesystem": "btrfs", "disk_model": "A"}),
                                      question.with_(baseline="ext4")).cells if one.series == "xfs"]  # fmt: skip
    assert (cell.withheld, cell.confounders, cell.unknown) == (Withheld.CONFOUNDED, (), ("disk_model",))
    assert (cell.ratio_low, cell.verdict, cell.advice) == (None, None, "Not tested: disk model is not known")
    one_place = [
        reading(n, 1e8, facts={"host": "h", "target": "t", "filesystem": "ext4" if n < 3 else "xfs"}) for n in range(6)
    ]
    more = [reading(9, 1e8, facts={"host": "i", "target": "u", "filesystem": "zfs", "disk_model": "A"})]
    same = compare([*one_place, *more], question)
    assert next(cell for cell in same.cells if cell.series == "xfs").unknown == ()


@pytest.fixture
def history(lab: Lab) -> str:
    """ext4 and xfs on unlike kernels, and a mixture of disks; the address that compares them."""
    measured(lab, "alpha", [1e8, 1.01e8, 1.02e8], filesystem="ext4", kernel="5.10")
    measured(lab, "alpha", [1.5e8, 1.51e8, 1.52e8], filesystem="xfs", kernel="6.1")
    measured(lab, "alpha", [1e8] * 3, file_size=GIB, filesystem="ext4", kernel="5.10")
    for model, value in (("A", 9e7), ("B", 3e8)):
        measured(lab, "alpha", [value] * 3, file_size=GIB, filesystem="xfs", kernel="5.10", disk_model=model)
    return "metric=bandwidth&series=filesystem"


def test_rest_csv_and_wiki_say_no_more_than_the_page(history: str, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    cells = {(cell["x"], cell["series"]): cell for cell in client.get(f"/api/v1/compare/?{history}").json()["cells"]}
    confounded, mixture = cells[256 * MIB, "xfs"], cells[GIB, "xfs"]
    assert (confounded["ratio"], confounded["confounders"]) == (pytest.approx(1.495, abs=0.01), ["kernel"])
    assert (mixture["ratio"], mixture["unlike"]) == (None, 2)
    for cell in (confounded, mixture):
        assert [cell[name] for name in ("ratio_low", "ratio_high", "verdict", "p", "effect_size")] == [None] * 5
    rows = list(csv.DictReader(io.StringIO(client.get(f"/api/v1/compare/?{history}&format=csv").content.decode())))
    of = {(row["x"], row["series"]): row for row in rows}
    assert of[str(256 * MIB), "xfs"]["confounders"] == "kernel"
    assert of[str(GIB), "xfs"]["unlike_facts"] == "disk_model"
    for row in (of[str(256 * MIB), "xfs"], of[str(GIB), "xfs"]):
        assert [row[name] for name in ("ratio_low", "ratio_high", "verdict", "p")] == [""] * 4
    for form in ("mediawiki", "dokuwiki", "markdown"):
        text = client.get(f"/api/v1/compare/?{history}&format={form}").content.decode()
        assert "not tested: kernel differs too" in text
        assert "2 unlike configurations" in text
        assert not re.search(r"\b(better|worse)\b", text)
    page = client.get(f"/compare/?{history}").content.decode()
    assert "1 cell differs from the baseline in more than what is compared" in page
    assert "1 cell holds" in page
    assert not re.search(r"× \([\d.]+ to", page)


def test_a_pair_in_a_chart_marks_a_ratio_of_unlike_cells(history: str, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    chart = client.get(f"/compare/?{history}&chart=paired").context["chart"]
    first, second = chart["series"][1]["points"]
    assert (first["note"], first["warning"]) == ("1.50×", "kernel differs too")
    assert "note" not in second
    assert "A ratio with * is of cells that differ in more than what is compared." in chart["caption"]
    assert "A mark of unlike configurations has no interval." in chart["caption"]
    assert client.get(f"/api/v1/compare/?{history}&chart=paired&format=svg").status_code == 200
