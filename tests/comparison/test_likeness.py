"""Which runs repeat each other, and which cells may be held against each other."""

from typing import Any

import pytest

from apps.comparison.cells import ComparisonCell, Withheld
from apps.comparison.compare import compare
from apps.comparison.fact_names import is_count, is_of_one_run
from apps.comparison.question import Question
from apps.comparison.readings import Evidence, Reading
from tests.comparison.factories import GIB, reading
from tests.sampling import for_each

HERE = {"host": "h", "target": "t", "tool": "fio", "tool_version": "fio-3.33"}


def runs(series: str, value: float, times: int = 3, start: int = 0, **facts: Any) -> list[Reading]:
    return [
        reading(start + n, value * (1 + n / 100), series, facts={**HERE, **facts, "seed": n, "run_number": n})
        for n in range(times)
    ]


def only(readings: list[Reading], **question: Any) -> ComparisonCell:
    (cell,) = compare(readings, Question(**question)).cells
    return cell


@for_each(
    "one, other",
    [
        ({"host": "a"}, {"host": "b"}),
        ({"filesystem": "ext4"}, {"filesystem": "tmpfs"}),
        ({"disk_model": "x"}, {"disk_model": "y"}),
        ({"tool": "fio"}, {"tool": "bonnie++"}),
        ({"tool_version": "fio-3.1"}, {"tool_version": "fio-3.33"}),
        ({"target": "t1"}, {"target": "t2"}),
        ({"cable": "old"}, {"cable": "new"}),
        ({"mount_options": "noatime"}, {}),
        ({"round": "ext3"}, {"round": "xfs"}),
        ({"target": None, "path": "/mnt/a/file"}, {"target": None, "path": "/mnt/b/file"}),
        ({"target": None, "caption": "with cache"}, {"target": None, "caption": "without"}),
    ],
)
def test_runs_that_differ_in_a_fact_are_unlike(one: dict[str, Any], other: dict[str, Any]) -> None:
    cell = only([*runs("a", 1e8, **one), *runs("a", 2e8, start=10, **other)])
    assert (cell.unlike, cell.n) == (2, 6)
    assert (cell.ci_low, cell.ci_high, cell.withheld) == (None, None, Withheld.UNLIKE)
    assert sorted(run for member in cell.members for run in member.runs) == list(cell.runs)


@for_each(
    "one, other",
    [
        ({"seed": 1}, {"seed": 2}),
        ({"randseed": 1}, {}),
        ({"started_at": "2026-01-01"}, {"started_at": "2026-01-02"}),
        ({"job_name": "a"}, {"job_name": "b"}),
        ({"pid": 1}, {"pid": 2}),
        ({"real": "0m55.452s"}, {"real": "0m54.1s"}),
        ({"transcribed": "yes"}, {}),
        ({"file_name": "a.0.0"}, {"file_name": "b.0.0"}),
        ({"round": "1 of 5"}, {"round": "2 of 5"}),
        ({"caption": "reset 0"}, {"caption": "reset 1"}),
        ({"target": None, "path": "/mnt/tmp/a.0"}, {"target": None, "path": "/mnt/tmp/b.0"}),
        ({"raid_level": 5}, {"raid_level": "5"}),
        ({"load_before": 0.1}, {"load_before": 0.2}),
    ],
)
def test_what_is_of_one_run_alone_makes_no_other_configuration(one: dict[str, Any], other: dict[str, Any]) -> None:
    cell = only([*runs("a", 1e8, **one), *runs("a", 1e8, start=10, **other)])
    assert (cell.unlike, cell.withheld) == (1, None)
    assert cell.ci_low is not None


def test_words_of_a_workload_count_and_its_files_do_not() -> None:
    def asked(number: int, **spec: Any) -> Reading:
        return reading(number, 1e8 + number, facts=HERE, evidence=Evidence(asked=spec))

    mix = [asked(n, rwmixread=70 if n < 3 else 50, filename=f"f{n}", randseed=n) for n in range(6)]
    assert (only(mix).unlike, only(mix).unlike_facts) == (2, ("rwmixread",))
    assert only([asked(n, rwmixread=70, filename=f"f{n}") for n in range(6)]).unlike == 1


def judged(ours: dict[str, Any], theirs: dict[str, Any], **question: Any) -> ComparisonCell:
    readings = [*runs("a", 1e8, **theirs), *runs("b", 2e8, start=10, **ours)]
    cells = compare(readings, Question(**question)).cells
    return next(cell for cell in cells if cell.series != cells[0].series)


@pytest.mark.parametrize(
    ("fact", "ours", "theirs"),
    [
        ("filesystem", {"filesystem": "xfs", "mkfs_options": "-f"}, {"filesystem": "ext4"}),
        (
            "interface",
            {"interface": "SAS", "disk_model": "x", "controller": "c"},
            {"interface": "SATA", "disk_model": "y"},
        ),
        (
            "raid_level",
            {"raid_level": "5", "disk_count": 4, "chunk_size": 65536},
            {"raid_level": "single", "disk_count": 1},
        ),
        ("kernel", {"kernel": "6.1"}, {"kernel": "5.10"}),
        ("label", {"host": "x", "ram": GIB, "filesystem": "xfs"}, {"host": "y", "ram": 2 * GIB, "filesystem": "ext4"}),
        ("host", {"host": "x", "ram": GIB, "cpu": "a"}, {"host": "y", "ram": 2 * GIB, "cpu": "b"}),
        ("cable", {"cable": "old", "target": "t1"}, {"cable": "new", "target": "t2"}),
    ],
)
def test_a_fact_and_what_it_implies_may_differ(fact: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    cell = judged(ours, theirs, series=(fact,))
    assert cell.verdict is not None
    assert (cell.withheld, cell.confounders) == (None, ())


@pytest.mark.parametrize(
    ("fact", "ours", "theirs", "also"),
    [
        ("filesystem", {"filesystem": "xfs", "host": "x"}, {"filesystem": "ext4"}, ("host",)),
        ("raid_level", {"raid_level": "5", "disk_count": 8}, {"raid_level": "0", "disk_count": 4}, ("disk_count",)),
        ("label", {"tool": "bonnie++", "tool_version": "1.97"}, {}, ("tool", "tool_version")),
        ("label", {"direct": 1}, {"direct": 0}, ("direct",)),
        ("label", {"direct": 1}, {}, ("direct",)),
        ("host", {"host": "x", "filesystem": "xfs"}, {"host": "y", "filesystem": "ext4"}, ("filesystem",)),
        ("kernel", {"kernel": "6.1", "cable": "new"}, {"kernel": "5.10", "cable": "old"}, ("cable",)),
    ],
)
def test_any_other_fact_that_differs_stands_against_a_verdict(
    fact: str, ours: dict[str, Any], theirs: dict[str, Any], also: tuple[str, ...]
) -> None:
    cell = judged(ours, theirs, series=(fact,))
    assert (cell.verdict, cell.ratio_low, cell.ratio_high, cell.p) == (None, None, None, None)
    assert (cell.withheld, cell.confounders) == (Withheld.CONFOUNDED, also)


@pytest.mark.parametrize(
    "name", ["Seed", "rand-seed", "job seed", "finished_at", "test_number", "log_file_name", "start time"]
)
def test_the_forms_of_names_that_belong_to_one_run(name: str) -> None:
    assert is_of_one_run(name)


@pytest.mark.parametrize(
    "name", ["raid_level", "kernel", "disk_model", "runtime", "cache", "firmware", "timer", "idle", "model_name"]
)
def test_names_of_configurations_are_kept(name: str) -> None:
    assert not is_of_one_run(name)
    assert not is_count(name, "3")
