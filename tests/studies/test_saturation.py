"""The search for saturation: which point is next, when it ends, and what its answer is. Known models of a disk answer."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from apps.studies.plans.saturation.ladder import (
    CAPPED,
    PASSED,
    SEARCHING,
    STUCK,
    Ladder,
    LadderLoad,
    LoadResult,
    double_in_turn,
    search,
)

MS = 1e6
Model = Callable[[LadderLoad], tuple[float, float]]


def queue_model(service_ms: float, servers: int) -> Model:
    """Return a disk with so many independent heads: beyond them I/Os queue, and latency is I/Os in flight ÷ IOPS."""

    def answer(load: LadderLoad) -> tuple[float, float]:
        flight = load.depth * load.jobs
        busy = min(flight, servers)
        iops = busy / (service_ms / 1000)
        return iops, flight / iops * 1e9

    return answer


def run(
    loads: list[LadderLoad], model: Model, bound_ms: float, least_points: int = 1
) -> tuple[Ladder, list[LadderLoad]]:
    """Measure the open point again and again, as hosts do, until the search has ended."""
    results = [LoadResult(load) for load in loads]
    order = []
    while (ladder := search(results, bound_ms * MS, least_points)).state == SEARCHING:
        assert ladder.open is not None
        load = loads[ladder.open]
        order.append(load)
        iops, latency = model(load)
        results[ladder.open] = LoadResult(load, iops, latency, 1, is_done=True)
    return ladder, order


def test_depth_and_jobs_are_doubled_in_turn() -> None:
    loads = double_in_turn([1, 2, 4], [1, 2, 4, 8])
    assert [(load.depth, load.jobs) for load in loads] == [(1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (4, 8)]
    assert [(load.depth, load.jobs) for load in double_in_turn([1], [1, 2, 4])] == [(1, 1), (1, 2), (1, 4)]
    assert [(load.depth, load.jobs) for load in double_in_turn([1, 2, 4], [1])] == [(1, 1), (2, 1), (4, 1)]


def test_the_answer_of_a_disk_that_is_known() -> None:
    # eight heads of 1 ms: 8,000 IOPS at depth 8, and from there on depth ÷ 8 ms
    ladder, order = run(double_in_turn([1, 2, 4, 8, 16, 32, 64], [1]), queue_model(1, 8), bound_ms=1.5)
    assert (ladder.state, ladder.best, ladder.passed) == (PASSED, 3, 4)
    best = ladder.results[3]
    assert (best.iops, best.latency) == (8000, 1 * MS)
    assert ladder.results[4].latency == 2 * MS
    assert [load.depth for load in order] == [1, 2, 4, 8, 16], "nothing heavier is measured"
    assert ladder.closed == [5, 6]


def test_of_loads_that_give_the_same_the_lightest_is_known() -> None:
    """A target that gives 400 IOPS whatever is in flight, with what two runs of the same differ by."""
    given = dict(zip([1, 2, 4, 8, 16], [399.2, 400.4, 398.0, 401.1, 400.0], strict=True))
    loads = double_in_turn(list(given), [1])
    ladder, _ = run(loads, lambda load: (given[load.depth], load.depth / 400 * 1e9), bound_ms=25)
    assert (ladder.best, ladder.lightest, ladder.passed) == (3, 0, 4)
    ladder, _ = run(loads, queue_model(1, 8), bound_ms=1.5)
    assert (ladder.best, ladder.lightest) == (3, 3)
    ladder, _ = run(loads, queue_model(1, 8), bound_ms=0.5)
    assert (ladder.best, ladder.lightest) == (None, None)


def test_where_a_heavier_load_gives_fewer_iops_the_answer_is_the_peak() -> None:
    given = dict(zip([1, 2, 4, 8, 16], [1000.0, 1900.0, 2400.0, 1800.0, 900.0], strict=True))
    ladder, order = run(
        double_in_turn(list(given), [1]), lambda load: (given[load.depth], load.depth * MS), bound_ms=10
    )
    assert (ladder.best, ladder.lightest, ladder.passed, len(order)) == (2, 2, 4, 5)


def test_a_bound_that_is_never_passed_is_capped() -> None:
    ladder, order = run(double_in_turn([1, 2, 4], [1]), queue_model(1, 8), bound_ms=50)
    assert (ladder.state, ladder.best, ladder.passed, ladder.closed) == (CAPPED, 2, None, [])
    assert len(order) == 3


def test_a_bound_that_the_first_point_passes_has_no_answer() -> None:
    ladder, order = run(double_in_turn([1, 2, 4], [1]), queue_model(1, 8), bound_ms=0.5)
    assert (ladder.state, ladder.best, ladder.passed) == (PASSED, None, 0)
    assert len(order) == 1


def test_the_least_number_of_points_is_measured_past_the_bound() -> None:
    ladder, order = run(double_in_turn([1, 2, 4, 8], [1]), queue_model(1, 1), bound_ms=1.5, least_points=3)
    assert [load.depth for load in order] == [1, 2, 4]
    assert (ladder.best, ladder.passed, ladder.closed) == (0, 1, [3])


def test_a_point_that_failed_or_has_no_latency_ends_the_search_without_an_answer() -> None:
    one, two, four = (LadderLoad(depth, 1) for depth in (1, 2, 4))
    done = LoadResult(one, 100, MS, 1, is_done=True)
    for problem in (LoadResult(two, is_failed=True), LoadResult(two, 200, None, 1, is_done=True)):
        ladder = search([done, problem, LoadResult(four)], 5 * MS)
        assert (ladder.state, ladder.problem, ladder.open, ladder.held_back) == (STUCK, 1, None, [2])


def test_a_skipped_point_is_passed_over() -> None:
    results = [
        LoadResult(LadderLoad(1, 1), 100, MS, 1, is_done=True), LoadResult(LadderLoad(2, 1), is_left_out=True), LoadResult(LadderLoad(4, 1)),
    ]  # fmt: skip
    assert search(results, 5 * MS).open == 2


def test_points_wait_for_those_before_them() -> None:
    results = [LoadResult(LadderLoad(depth, 1)) for depth in (1, 2, 4)]
    ladder = search(results, 5 * MS)
    assert (ladder.open, ladder.held_back) == (0, [1, 2])


@given(st.lists(st.floats(0.01, 20), min_size=1, max_size=14), st.floats(0.1, 10), st.integers(1, 14))
def test_any_disk_has_an_answer_within_the_bound(latencies: list[float], bound: float, least: int) -> None:
    loads = [LadderLoad(2**at, 1) for at in range(len(latencies))]
    model = dict(zip(loads, latencies, strict=True))
    ladder, order = run(loads, lambda load: (1000.0 * load.depth, model[load] * MS), bound, least)
    assert order == loads[: len(order)], "lightest first, none twice, none left out"
    assert len(order) >= min(least, len(loads))
    within = [load.depth for load in order if model[load] * MS <= bound * MS]
    best = None if ladder.best is None else ladder.results[ladder.best].load.depth
    assert best == max(within, default=None)
    assert ladder.state == (PASSED if any(model[load] * MS > bound * MS for load in order) else CAPPED)
    assert len(ladder.closed) == len(loads) - len(order)
