"""What arrays survive, against every way in which disks can fail."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as some

from apps.inventory.topology.redundancy import (
    Group,
    Leaf,
    Node,
    is_alive,
    leaves,
    places_lost,
    survives_any,
    survives_at_best,
)
from tests.sampling import examples, for_each


def array(level: str, count: int, first: int = 0, **more: object) -> Group:
    return Group(level, tuple(Leaf(first + n, f"c{n % 3}") for n in range(count)), **more)  # type: ignore[arg-type]


def nested(level: str, groups: int, each: int) -> Group:
    return Group("0", tuple(array(level, each, first=n * each) for n in range(groups)))


def by_trying(node: Node) -> tuple[int, int]:
    """(failures survived whichever they are, in the best case), by trying all."""
    keys = [leaf.key for leaf in leaves(node)]
    alive = [[is_alive(node, frozenset(lost)) is True for lost in combinations(keys, n)] for n in range(len(keys) + 1)]
    any_ = next(n for n, states in enumerate(alive) if not all(states)) - 1
    return any_, max(n for n, states in enumerate(alive) if any(states))


CASES = [
    array("0", 3), array("1", 3), array("5", 4), array("6", 6), array("10", 4), array("10", 8), array("10", 6, copies=3),
    array("10", 4, is_near=False), nested("5", 2, 3), nested("6", 2, 4), nested("1", 3, 2),
    Group("5", (array("1", 2), array("1", 2, 2), array("1", 2, 4))), Group("1", (array("0", 3), array("0", 3, 3))),
]  # fmt: skip


@for_each("node", CASES)
def test_what_is_said_is_what_trying_all_failures_gives(node) -> None:
    assert (survives_any(node), survives_at_best(node)) == by_trying(node)


@given(some.sampled_from(["0", "1", "5", "6", "10"]), some.integers(4, 5), some.integers(1, 2), some.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_so_it_is_for_nests_of_any_shape(level, each, groups, far) -> None:
    count = each - each % 2 if level == "10" else each
    inner = [array(level, count, n * count, is_near=not far) for n in range(groups)]
    node = Group("0", tuple(inner))
    assert (survives_any(node), survives_at_best(node)) == by_trying(node)


def test_seed_001s_raid_50_survives_one_disk_of_each_half() -> None:
    md5 = Group("0", (array("5", 4), array("5", 4, first=4)))
    assert (survives_any(md5), survives_at_best(md5)) == (1, 2)
    assert is_alive(md5, frozenset({0, 4})) is True
    assert is_alive(md5, frozenset({0, 1})) is False


def test_a_controllers_raid_50_that_prints_no_groups_is_certain_of_one_disk() -> None:
    hidden = array("50", 8, knows_groups=False)
    assert is_alive(hidden, frozenset({3})) is True
    assert is_alive(hidden, frozenset({3, 4})) is None
    assert survives_any(hidden) == 1
    assert survives_at_best(hidden) is None


def test_an_unknown_level_is_not_guessed() -> None:
    assert is_alive(array("", 4), frozenset({1})) is None
    assert survives_any(array("", 4)) is None
    assert is_alive(array("", 4), frozenset()) is True


def test_the_loss_of_a_controller_takes_all_its_disks() -> None:
    assert places_lost(array("6", 6)) == {"c0": True, "c1": True, "c2": True}
    assert places_lost(array("5", 6)) == {"c0": False, "c1": False, "c2": False}
    assert places_lost(Group("1", (Leaf(1, "a"), Leaf(2, "")))) == {"a": True}
