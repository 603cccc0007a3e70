"""The order of a plan's steps: the same plan gives the same steps."""

from pathlib import Path

import yaml

from apps.studies.plans.matrix import Matrix, MatrixColumn, MatrixRow
from apps.studies.plans.order import Step, sequence, steps
from apps.studies.plans.schema import WrittenPlan, plans_of
from apps.studies.source import DATA

MIB = 1 << 20
GRID = [(row, point) for row in range(3) for point in range(2)]


def crs4() -> WrittenPlan:
    return plans_of(yaml.safe_load(Path(DATA / "crs4-sata-scsi" / "plan.yaml").read_text(encoding="utf-8")))[0]


def matrix_of(plan: WrittenPlan) -> Matrix:
    rows = [MatrixRow(row.name, largest=row.largest_file_size, limit_reason=row.limit_reason) for row in plan.rows]
    return Matrix(rows, [MatrixColumn(point.name, point.file_size) for point in plan.points])


def test_interleaved_takes_all_configurations_at_one_point_and_then_the_next_point() -> None:
    made = [(step.position, step.round, step.row, step.point) for step in steps(GRID, "interleaved", 2)]
    assert made == [
        (1, 1, 0, 0), (2, 1, 1, 0), (3, 1, 2, 0), (4, 1, 0, 1), (5, 1, 1, 1), (6, 1, 2, 1),
        (7, 2, 0, 0), (8, 2, 1, 0), (9, 2, 2, 0), (10, 2, 0, 1), (11, 2, 1, 1), (12, 2, 2, 1),
    ]  # fmt: skip


def test_sequential_finishes_a_configuration_with_all_its_rounds_first() -> None:
    made = [(step.row, step.point, step.round) for step in steps(GRID, "sequential", 2)]
    assert made[:5] == [(0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 2), (1, 0, 1)]
    assert [step.position for step in steps(GRID, "sequential", 2)] == list(range(1, 13))


def test_randomized_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first = [(step.row, step.point) for step in steps(GRID, "randomized", 2, seed=7)]
    assert first == [(step.row, step.point) for step in steps(GRID, "randomized", 2, seed=7)]
    assert first != [(step.row, step.point) for step in steps(GRID, "randomized", 2, seed=8)]
    # written down, so that no later change of the drawing reorders plans that are under way
    assert first == [
        (2, 0), (0, 1), (1, 1), (1, 0), (2, 1), (0, 0), (0, 0), (2, 1), (0, 1), (1, 0), (2, 0), (1, 1),
    ]  # fmt: skip


def test_every_round_of_a_randomized_order_has_every_cell_once() -> None:
    made = steps(GRID, "randomized", 4, seed=1)
    for number in range(1, 5):
        assert sorted((step.row, step.point) for step in made if step.round == number) == sorted(GRID)


def test_crs4_begins_at_100_mb_with_all_seven_and_starts_again_after_38_steps() -> None:
    plan = crs4()
    matrix = matrix_of(plan)
    made = matrix.steps(plan.order, plan.stopping.least)
    assert len(made) == 380
    names = [(plan.rows[step.row].name, plan.points[step.point].name) for step in made]
    all_seven = [
        "sata-3ware-raid5", "scsi-zcr-raid5", "sata-single", "sata-raid0-sw", "sata-raid1-sw", "scsi-raid0-sw", "scsi-raid1-sw",
    ]  # fmt: skip
    sizes = ["100mb", "500mb", "1000mb", "2000mb", "4000mb", "8000mb"]
    once = [
        (name, size) for size in sizes for name in (all_seven if size not in ("4000mb", "8000mb") else all_seven[2:])
    ]
    assert names == once * 10
    assert made[38] == Step(39, 2, 0, 0)


def test_one_machines_order_is_the_one_that_the_report_names() -> None:
    """Single SATA, SATA RAID 0, SATA RAID 1 at 100 MB, then 500 MB and so on, then 100 MB again."""
    plan = crs4()
    made = [
        (plan.rows[step.row].name, plan.points[step.point].name)
        for step in matrix_of(plan).steps(plan.order, 10)
        if plan.rows[step.row].name.startswith("sata-") and "3ware" not in plan.rows[step.row].name
    ]
    assert made[:4] == [
        ("sata-single", "100mb"),
        ("sata-raid0-sw", "100mb"),
        ("sata-raid1-sw", "100mb"),
        ("sata-single", "500mb"),
    ]
    assert made[17:19] == [("sata-raid1-sw", "8000mb"), ("sata-single", "100mb")]


def test_the_picture_has_a_dot_for_each_step_and_a_band_for_each_point() -> None:
    plan = crs4()
    first = [step for step in matrix_of(plan).steps(plan.order, 10) if step.round == 1]
    labels = [row.name for row in plan.rows], [point.label for point in plan.points]
    picture = sequence(first, *labels, is_repeated=True)
    assert picture is not None
    assert len(picture.dots) == 38
    assert [band.label for band in picture.bands] == ["100 MB", "500 MB", "1000 MB", "2000 MB", "4000 MB", "8000 MB"]
    assert [band.width for band in picture.bands] == [7 * 16] * 4 + [5 * 16] * 2
    assert picture.again
    assert sequence(first[:1], *labels, is_repeated=False) is None
