"""A trend: sizes, directions, what changed with a change, marks, outliers and too few runs."""

from datetime import timedelta

import pytest

from apps.trends.differences import fact_changes, part_changes
from apps.trends.trend import trend
from apps.trends.types import ChangeDirection, FactChange, MeasuredRun, SeriesMark
from apps.trends.words import interval, signed, span
from tests.trends.nights import FIRST, NIGHT, nights, noise

LEVEL = 4e8


def slower(before: int = 60, after: int = 40, size: float = -0.12, seed: int = 1) -> list[float]:
    values = LEVEL * noise(before + after, seed)
    values[before:] *= 1 + size
    return list(values)


def test_a_change_has_place_size_interval_and_direction() -> None:
    found = trend(nights(slower()))
    (change,) = found.changes
    assert (change.place, change.run_before, change.run) == (60, 60, 61)
    assert change.at == FIRST + 60 * NIGHT
    assert change.size == pytest.approx(-0.12, abs=0.015)
    assert change.ratio.low < change.ratio.ratio < change.ratio.high < 1  # type: ignore[operator]
    assert change.ratio.method == "welch"
    assert change.is_settled
    assert change.direction is ChangeDirection.WORSE
    assert (change.n_before, change.n_after) == (60, 40)
    assert change.before == pytest.approx(LEVEL, rel=0.02)
    assert [one.began_by for one in found.segments] == ["start", "change"]


def test_what_is_worse_is_the_metrics_word() -> None:
    assert trend(nights(slower()), higher_is_better=False).changes[0].direction is ChangeDirection.BETTER
    assert trend(nights(slower(size=0.2)), higher_is_better=False).changes[0].direction is ChangeDirection.WORSE


def test_the_order_of_arrival_does_not_matter_nor_do_missing_nights() -> None:
    points = nights(slower())
    with_gaps = [one for one in points if one.run % 7 and not 20 <= one.run <= 33]
    (change,) = trend(reversed(with_gaps)).changes
    assert change.run in (61, 62)
    assert trend(reversed(points)).changes[0].run == 61


def test_facts_that_changed_with_it_are_named_and_others_are_not() -> None:
    def facts(number: int) -> dict[str, object]:
        return {
            "kernel": "6.1" if number < 60 else "6.12",
            "mount_options": "rw" if number < 20 else "rw,noatime",
            "ram": 2**30,
            "label": f"label {number // 60}",
            "temperature": number,
        }

    (change,) = trend(nights(slower(), facts)).changes
    assert change.facts == (FactChange("kernel", "kernel", "6.1", "6.12"),)
    assert change.facts[0].text == "kernel: 6.1 → 6.12"


def test_a_fact_that_is_known_on_one_side_only_is_named_as_unknown_before() -> None:
    before = nights([1.0] * 6)
    after = nights([1.0] * 6, lambda _: {"controller_cache": 2**29})
    assert fact_changes(before, after) == (
        FactChange("controller_cache", "controller cache", "unknown", "512\u00a0MiB"),
    )


def test_what_else_the_machine_did_is_no_change_of_it() -> None:
    assert fact_changes(nights([1.0] * 6), nights([1.0] * 6, lambda _: {"network_before": 0})) == ()


def test_parts_of_two_snapshots_that_differ_are_named() -> None:
    def content(firmware: str, ram: int, members: int, first: str = "S0") -> dict[str, object]:
        serials = [first, *(f"S{at}" for at in range(1, members))]
        disks = [
            {
                "position": at,
                "partition": "",
                "state": "in sync",
                "disk": {"firmware": firmware, "serial": serial, "number": at},
            }
            for at, serial in enumerate(serials)
        ]
        storage = {"array": {"name": "md0", "level": "5"}, "members": disks}
        return {"format": 1, "target": {}, "host": {"ram_bytes": ram}, "filesystem": None, "storage": storage}

    found = part_changes(content("1.2", 2**30, 2), content("1.3", 2**31, 2))
    assert [one.text for one in found] == [
        "host RAM: 1\u00a0GiB → 2\u00a0GiB",
        "disk 0 (S0) firmware: 1.2 → 1.3",
        "disk 1 (S1) firmware: 1.2 → 1.3",
    ]
    assert part_changes(content("1.2", 1, 2), content("1.2", 1, 3))[0].text == "disk: not there → disk 2 (S2)"
    [replaced] = part_changes(content("1.2", 1, 2), content("1.2", 1, 2, first="S9"))
    assert replaced.text == "place 0 of md0 disk: serial S0 → serial S9"
    known = content("1.2", 1, 2)
    assert part_changes({**known, "host": {}}, known) == ()


@pytest.mark.parametrize("off_by", [-1, 0, 1])
def test_a_mark_at_a_change_or_one_run_beside_it_leaves_no_alarm(off_by: int) -> None:
    found = trend(nights(slower()), [SeriesMark(FIRST + (60 + off_by) * NIGHT, "new kernel")])
    assert found.changes == ()
    assert [(one.start, one.began_by) for one in found.segments] == [(0, "start"), (60 + off_by, "mark")]
    assert found.marks[0][0] == 60 + off_by


def test_a_mark_elsewhere_hides_no_change() -> None:
    found = trend(nights(slower()), [SeriesMark(FIRST + 30 * NIGHT)])
    assert [one.place for one in found.changes] == [60]
    assert found.changes[0].n_before == 30


def test_a_mark_after_the_last_run_waits() -> None:
    found = trend(nights(slower()), [SeriesMark(FIRST + 500 * NIGHT)])
    assert found.marks[0][0] == 100
    assert len(found.changes) == 1


def test_outliers_are_marked_and_do_not_count_in_the_size() -> None:
    values = slower()
    values[10] *= 0.5
    values[80] *= 2
    found = trend(nights(values))
    assert {10, 80} <= found.outliers
    assert len(found.outliers) <= 4
    assert found.changes[0].size == pytest.approx(trend(nights(slower())).changes[0].size, abs=0.004)


def test_too_few_runs_say_how_many_more() -> None:
    few = trend(nights(slower()[:7]))
    assert (few.missing, few.noise, few.changes) == (3, None, ())
    assert [one.n for one in few.segments] == [7]
    nothing = trend([])
    assert (nothing.missing, nothing.segments, nothing.points) == (10, (), ())


def test_values_that_have_no_ratio_are_left_out_and_named() -> None:
    points = [*nights(slower()), MeasuredRun(999, FIRST + timedelta(hours=1), 0.0)]
    found = trend(points)
    assert [one.run for one in found.left_out] == [999]
    assert len(found.points) == 100


def test_a_drift_is_told_with_its_whole_size_and_bends_the_level() -> None:
    values = LEVEL * noise(120, 3) * [0.998**number for number in range(120)]
    found = trend(nights(list(values)))
    assert found.changes == ()
    assert found.drift is not None
    assert found.drift.total == pytest.approx(0.998**119 - 1, abs=0.02)
    assert found.drift.direction is ChangeDirection.WORSE
    (level,) = found.segments
    assert level.last / level.first == pytest.approx(1 + found.drift.total)
    assert trend(nights(slower())).drift is None


def test_equal_values_and_one_step_of_them() -> None:
    found = trend(nights([5e6] * 30 + [4e6] * 10))
    (change,) = found.changes
    assert (change.place, change.size) == (30, pytest.approx(-0.2))
    assert trend(nights([5e6] * 40)).changes == ()


def test_sizes_and_spans_in_words() -> None:
    assert (signed(-0.1149), signed(0.032), signed(None)) == ("−11.5\u00a0%", "+3.20\u00a0%", "–")
    assert interval(-0.126, -0.104) == "−12.6\u00a0% to −10.4\u00a0%"
    assert interval(None, None) == "no interval"
    assert (span(86400 * 3), span(3600), span(0.2)) == ("3 days", "1 hour", "0 seconds")


def test_one_outlier_beside_few_runs_does_not_count_in_the_size_of_a_change() -> None:
    values = [1e8, 1.01e8, 0.99e8, 1e8, 1.02e8, 0.98e8, 1.01e8, 1e8, 0.99e8, 1e8] * 3
    values += [8e7, 8.1e7, 7.9e7, 8e7, 8.1e7, 7.9e7, 8e7, 8.05e7]
    sound = trend(nights(values)).changes[0]
    values[34] = 1.6e8
    found = trend(nights(values))
    assert 34 in found.outliers
    (change,) = found.changes
    assert change.size == pytest.approx(sound.size, abs=0.003)
    assert change.size == pytest.approx(-0.2, abs=0.01)
