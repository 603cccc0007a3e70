"""Lines that are put together from pieces are what the CSV writer makes of each row."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.wiki.dialects import csv
from apps.wiki.sample_lines import lines
from apps.wiki.sample_rows import SampleBatch, flat

TEXTS = st.one_of(
    st.sampled_from(["", "=1+1", " @x", "1,5", 'a "b"', "a\nb", "a\r\nb", "\0", "12 MB/s", "-3", "ü"]),
    st.text(max_size=8),
)
NUMBERS = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 1.0]))
COUNTS = st.one_of(st.none(), st.integers(0, 2**40))
RUNS = [1, 2]


def _run(text: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({
        "repetition": st.integers(1, 3),
        "state": st.sampled_from(["finished", "failed"]),
        "facts": st.dictionaries(st.sampled_from(["host", "kernel", "mine", text]), st.one_of(TEXTS, COUNTS)),
        "names": st.dictionaries(st.integers(0, 2), TEXTS),
    })  # fmt: skip


SAMPLES = st.tuples(
    st.integers(1, 2**60), st.sampled_from(RUNS), NUMBERS, TEXTS, COUNTS, st.integers(0, 2),
    st.sampled_from(["read", "disk"]), st.sampled_from(["bandwidth", "no such metric"]),
    COUNTS, COUNTS, COUNTS, COUNTS,
    st.sampled_from([None, "exact", "lower_bound"]), st.one_of(st.none(), TEXTS), NUMBERS, NUMBERS, NUMBERS,
    st.one_of(st.none(), TEXTS),
)  # fmt: skip


@given(st.lists(SAMPLES, max_size=6), st.tuples(_run("own"), _run("other")))
def test_lines_are_those_of_the_writer(
    found: list[tuple[Any, ...]], said: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    part = SampleBatch(found, dict(zip(RUNS, said, strict=True)))
    assert lines(part) == csv.lines(map(flat, part.rows()))
