"""Which run of a new reading is which one of the old."""

from apps.uploads.reparse.run_matching import RunPlace, pair_runs


def place(number: int, digest: str = "", *lines: int, **more: object) -> RunPlace:
    return RunPlace(
        str(more.pop("format", "dd")), number, digest or f"{number} {lines} {more}", frozenset(lines), **more  # type: ignore[arg-type]
    )  # fmt: skip


def test_what_was_read_counts_before_lines_and_numbers() -> None:
    assert pair_runs([place(0, "b", 4), place(1, "c", 8)], [place(0, "a", 8), place(1, "b"), place(2, "c")]) == {
        0: 1,
        1: 2,
    }


def test_changed_runs_are_found_by_the_lines_of_their_values() -> None:
    before = [place(0, "", 8, 9), place(1, "", 12)]
    assert pair_runs(before, [place(0, "x", 4), place(1, "y", 8), place(2, "z", 12)]) == {0: 1, 1: 2}


def test_values_read_from_other_lines_of_the_same_stretch_are_the_same_runs() -> None:
    now = [place(0, "x", 4, span=(1, 5)), place(1, "y", 9, span=(6, 10))]
    assert pair_runs([place(0, "", 7)], now) == {0: 1}


def test_of_runs_in_one_line_what_is_printed_beside_them_decides() -> None:
    b, c = frozenset({("path", "/b")}), frozenset({("path", "/c")})
    now = [place(0, "x", 1), place(1, "y", 1, printed=b), place(2, "z", 1, printed=c)]
    assert pair_runs([place(0, "", 1, printed=b), place(1, "", 1, printed=c)], now) == {0: 1, 1: 2}


def test_the_number_decides_only_where_lines_are_not_known() -> None:
    assert pair_runs([place(0), place(1)], [place(0, "x"), place(1, "y")]) == {0: 0, 1: 1}
    assert pair_runs([place(0, "", 8)], [place(0, "x", 2)]) == {}, "two places in the file are two runs"


def test_what_is_printed_beside_runs_without_lines_says_more_than_their_number() -> None:
    b = frozenset({("path", "/b")})
    assert pair_runs([place(0, printed=b)], [place(0, "x"), place(1, "y", printed=b)]) == {0: 1}


def test_another_formats_run_takes_the_place_only_where_it_is_chosen() -> None:
    before = [place(0, "", 3, format="old")]
    assert pair_runs(before, [place(0, "x", 3, format="new")]) == {0: 0}
    assert pair_runs(before, [place(0, "x", 3, format="new", is_chosen=False)]) == {}
    assert pair_runs(before, [place(0, "x", 3, format="new"), place(0, "y", 4, format="old", span=(3, 4))]) == {0: 1}


def test_values_that_moved_to_other_lines_are_the_same_runs() -> None:
    """As where an encoded part of a mail is now unpacked, and the lines before it are counted otherwise."""
    first, second = frozenset({("read", 1.0)}), frozenset({("read", 2.0)})
    before = [place(0, "", 4, values=first), place(1, "", 8, values=second)]
    now = [place(0, "x", 8, values=first), place(1, "y", 12, values=second)]
    assert pair_runs(before, now) == {0: 0, 1: 1}
