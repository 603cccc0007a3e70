"""What an agent reports is checked field by field: kinds, limits at their edge, and what an older agent leaves out."""

import math
from typing import Any

import pytest

from apps.agents import fields
from apps.agents.fields import FieldError
from apps.agents.models import Agent
from apps.core.text import LARGEST

ON_SPOOL = "The agent's own folder is on the filesystem that is measured"


def refused(function: Any, *args: Any, **more: Any) -> str:
    with pytest.raises(FieldError) as caught:
        function(*args, **more)
    return str(caught.value)


def test_a_text_has_a_length_and_what_people_read_is_cut() -> None:
    assert fields.text("a", None, 3) == ""
    assert fields.text("a", "xyz", 3) == "xyz"
    assert fields.text("a", "wxyz", 3, is_cut=True) == "wxy"
    assert refused(fields.text, "a", "wxyz", 3) == "a: found 'wxyz', expected text of at most 3 characters"
    assert refused(fields.text, "a", 5, 3, is_cut=True) == "a: found 5, expected text of at most 3 characters"


@pytest.mark.parametrize(
    ("value", "is_whole"), [(0, 1), (7, 1), (LARGEST, 1), (-1, 0), (LARGEST + 1, 0), (True, 0), (1.0, 0)]
)
def test_a_whole_number_is_within_its_limits(value: Any, is_whole: int) -> None:
    if is_whole:
        assert fields.whole("a", value) == value
    else:
        assert refused(fields.whole, "a", value).startswith(f"a: found {value}, expected a whole number from 0 to")


def test_a_number_is_finite_and_yes_or_no_is_nothing_else() -> None:
    assert [fields.number("a", value) for value in (2, 2.5)] == [2.0, 2.5]
    for value in (math.inf, math.nan, True, "2", None):
        assert refused(fields.number, "a", value).endswith("expected a number")
    assert [fields.yes_or_no("a", value) for value in (True, False)] == [True, False]
    for value in (1, 0, "true", None):
        assert refused(fields.yes_or_no, "a", value).endswith("expected true or false")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x" * 60, repr("x" * 60)), ("x" * 61, "text of 61 characters"), (None, "None"), (2.5, "2.5"),
        ([1], "a list"), ({"a": 1}, "an object"), (10**100, "1" + "0" * 59),
    ],
)  # fmt: skip
def test_an_error_tells_what_was_found_in_few_words(value: Any, words: str) -> None:
    assert fields.told(value) == words


def test_lists_and_objects_that_are_left_out_are_empty_and_long_ones_are_counted() -> None:
    assert (fields.rows("a", None, 2), fields.rows("a", [1, 2], 2), fields.mapping("a", None)) == ([], [1, 2], {})
    assert refused(fields.rows, "a", [1, 2, 3], 2) == "a: found 3 entries, expected a list of at most 2"
    assert refused(fields.rows, "a", {}, 2) == "a: found an object, expected a list of at most 2"
    assert refused(fields.mapping, "a", [1]) == "a: found a list, expected an object"


def test_a_policy_has_its_known_entries_checked_and_short_unknown_ones() -> None:
    known = {
        "directory": "/data", "directories": ["/data"], "quota_bytes": 5, "max_runtime_s": 6, "max_iodepth": 7,
        "max_numjobs": 8, "spool_on_directory": True, "directory_refused": "No.",
    }  # fmt: skip
    assert fields.policy_of({**known, "directory": None}) == {
        name: known[name] for name in known if name != "directory"
    }
    unknown = {"new": 1, "w" * 60: "x" * 500, "half": 0.5, "yes": True, "most": -LARGEST}
    dropped = {"w" * 61: 1, "long": "x" * 501, "inf": math.inf, "list": [1], "more": LARGEST + 1, "null": None}
    assert fields.policy_of({**unknown, **dropped}) == unknown
    full = {f"n{number}": number for number in range(fields.MOST_ENTRIES)}
    assert fields.policy_of(full) == full
    assert refused(fields.policy_of, {**full, "more": 1}) == "policy: found 41 entries, expected at most 40"
    for name, value in {"directory": 5, "quota_bytes": -1, "max_iodepth": "8", "spool_on_directory": 1}.items():
        assert refused(fields.policy_of, {name: value}).startswith(f"policy.{name}: found ")


def test_a_directory_is_kept_with_what_was_reported_of_it() -> None:
    whole = {"path": "/data", "root": "/data", "type": "ext4", "quota_bytes": 5, "holds_spool": True}
    [directory] = fields.directories_of([whole])
    assert {name: directory[name] for name in whole} == whole
    [older] = fields.directories_of([{"path": "/data"}])
    assert "quota_bytes" not in older
    assert "holds_spool" not in older, "an older agent does not say so"
    [apart] = fields.directories_of([{**whole, "holds_spool": False}])
    assert "holds_spool" not in apart
    assert len(fields.directories_of([{"path": "/data"}] * fields.MOST_DIRECTORIES)) == fields.MOST_DIRECTORIES


@pytest.mark.parametrize(
    ("directories", "policy", "where"),
    [
        ([{"path": "/a"}, {"path": "/b"}], {}, None),
        ([{"path": "/a", "holds_spool": True}], {}, ""),
        ([{"path": "/a", "root": "/a"}, {"path": "/b", "root": "/b", "holds_spool": True}], {}, " in /b"),
        ([{"path": "/a"}], {"spool_on_directory": True}, ""),
    ],
)
def test_a_host_says_where_the_agents_own_folder_disturbs_what_is_measured(
    directories: list[dict[str, Any]], policy: dict[str, Any], where: str | None
) -> None:
    agent = Agent(boot_id="b", fio_version="fio-3.33", directories=fields.directories_of(directories), policy=policy)
    sentences = [sentence for sentence in agent.shortcomings if sentence.startswith(ON_SPOOL)]
    assert sentences == ([] if where is None else [f"{ON_SPOOL}{where}, so what it writes there is in the results."])


def test_settings_of_the_kernel_are_short_printable_words_and_the_rest_is_left_out() -> None:
    queue = {"scheduler": "mq-deadline", "read_ahead_kb": "128"}
    odd = {**queue, "scheduler": "x" * 201, "rotational": 5, "unknown": "1"}
    assert fields.settings_of({"device": queue, "disks": {"sda": queue}, "governors": ["performance", "", 5]}) == {
        "device": queue, "disks": {"sda": queue}, "governors": ["performance"],
    }  # fmt: skip
    assert fields.settings_of({"device": odd}) == {"device": {"read_ahead_kb": "128"}}
    for nothing in (None, 5, [], {}, {"disks": [], "governors": "x", "device": []}):
        assert fields.settings_of(nothing) == {}
    many = fields.settings_of({"disks": {f"sd{n}": queue for n in range(300)}, "governors": ["a"] * 300})
    assert (len(many["disks"]), len(many["governors"])) == (fields.MOST_DISKS, fields.MOST_DISKS)
