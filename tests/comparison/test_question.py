"""A comparison's state lives in its address, and the canonical address says the same again."""

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.comparison.question import Question, QuestionError, parse

NAMES = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)


def test_an_empty_address_asks_for_write_bandwidth_by_file_size() -> None:
    assert parse({}) == Question("bandwidth", "write", "file_size", ("label",))


def test_every_word_is_read() -> None:
    question = parse(
        {
            "metric": ["iops"], "operation": ["randread"], "x": ["iodepth"], "series": ["host,raid_level", "sync"],
            "baseline": ["a"],
            "scale": ["log"], "base": ["1024"], "study": ["crs4"], "raid_level": ["5", "0"], "format": ["csv"],
        }
    )  # fmt: skip
    assert question.series == ("host", "raid_level", "sync")
    assert question.filters == (("raid_level", "0"), ("raid_level", "5"), ("study", "crs4"))
    assert (question.baseline, question.scale, question.base) == ("a", "log", 1024)


@pytest.mark.parametrize(
    ("query", "field", "expected"),
    [
        ({"metric": ["speed"]}, "metric", "one of: bandwidth"),
        ({"operation": ["wrote"]}, "operation", "one of: write"),
        ({"x": ["<script>"]}, "x", "the name of a fact"),
        ({"series": ["a;b"]}, "series", "the name of a fact"),
        ({"scale": ["cubic"]}, "scale", "one of: linear, log"),
        ({"base": ["10"]}, "base", "one of: 1000, 1024"),
        ({"metric": ["iops", "bandwidth"]}, "metric", "one value"),
        ({"run": [str(n) for n in range(101)]}, "filters", "at most 100"),
    ],
)
def test_errors_say_field_found_and_expected(query: dict[str, list[str]], field: str, expected: str) -> None:
    with pytest.raises(QuestionError) as error:
        parse(query)
    assert error.value.field == field
    assert error.value.expected.startswith(expected)


def test_an_empty_field_of_a_form_is_one_left_out() -> None:
    assert parse({"metric": [""], "series": ["host", ""], "study": [""]}) == Question(series=("host",))


def test_a_filter_can_be_taken_away() -> None:
    question = parse({"raid_level": ["5", "0"]})
    assert question.without("raid_level", "5").filters == (("raid_level", "0"),)


@given(st.dictionaries(NAMES, WORDS, max_size=4), st.lists(NAMES, min_size=1, max_size=3), WORDS)
def test_the_canonical_address_asks_the_same(filters: dict[str, str], series: list[str], baseline: str) -> None:
    own = {"metric", "operation", "x", "series", "baseline", "scale", "base", "format", "lang"}
    query = {name: [value] for name, value in filters.items() if name not in own}
    question = parse({**query, "series": series, "baseline": [baseline]})
    assert parse(parse_qs(question.address)) == question
