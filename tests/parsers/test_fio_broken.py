"""Documents of fio that are broken, beside others that are not: each says its line, what was found, what was expected."""

import json
import re
from itertools import product
from pathlib import Path

import pytest

from apps.parsers.core.models import Broken, ParsedFile, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.json import format as json_format
from tests.sampling import for_each

FIXTURES = Path(__file__).parent / "fixtures" / "fio_json"
NULL = (FIXTURES / "null.json").read_text()
COUNT = NULL.count("\n")


def at(second: int) -> str:
    """Another run of the same jobs."""
    return re.sub(r'"timestamp_ms" : \d+', f'"timestamp_ms" : {second}000', NULL)


A, B, C = at(1700000000), at(1700001000), at(1700002000)


def changed(text: str, pattern: str, by: str) -> str:
    found, count = re.subn(pattern, lambda match: by, text, count=1)
    assert count == 1
    return found


def only_broken(parsed: ParsedFile) -> Broken:
    (one,) = parsed.broken
    return one


def sample(parsed: ParsedFile, metric: str) -> ParsedSample:
    return next(s for s in parsed.runs[0].samples if s.metric == metric)


FIRST_IOPS = r'"iops" : [\d.]+'
HURT = {
    "comma": (r'"groupid" : 0,', '"groupid" : 0', '"error" : 0,'),
    "surrogate": (r'"jobname" : "', r'"jobname" : "\ud800 ', ""),
    "control letter": (r'"jobname" : "', '"jobname" : "\x01', "\x01"),
    "out of range": (FIRST_IOPS, '"iops" : 1e999', "1e999"),
    "too many digits": (r'"bw_bytes" : \d+', '"bw_bytes" : ' + "9" * 5000, "9" * 40),
    "endless error": (r'"error" : 0', '"error" : ' + "9" * 25, "9" * 25),
    "wrong type": (FIRST_IOPS, '"iops" : "many"', '"many"'),
}


@for_each("place, case", product([0, 1, 2], HURT))
def test_a_broken_document_among_others_says_where_and_what(case: str, place: int) -> None:
    pattern, by, found = HURT[case]
    parts = [A, B, C]
    parts[place] = changed(parts[place], pattern, by)
    parsed = json_format.parse("".join(parts))
    assert len(parsed.runs) == 2
    broken = only_broken(parsed)
    assert broken.line is not None
    assert place * COUNT < broken.line <= (place + 1) * COUNT
    assert found in broken.found
    assert broken.found
    assert broken.expected


@pytest.mark.parametrize("case", HURT)
def test_a_broken_document_alone_says_the_same(case: str) -> None:
    pattern, by, found = HURT[case]
    text = changed(A, pattern, by)
    with pytest.raises(ParseError) as refused:
        json_format.parse(text)
    assert refused.value.line is not None
    assert refused.value.line > 1
    assert found in refused.value.found
    assert refused.value.expected
    assert "cut off" not in refused.value.message


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_document_that_is_cut_off_is_broken_wherever_it_stands(place: int) -> None:
    parts = [A, B, C]
    parts[place] = parts[place][:3000].rstrip() + "\n"
    parsed = json_format.parse("".join(parts))
    assert len(parsed.runs) == 2
    broken = only_broken(parsed)
    assert (broken.line, broken.message) == (place * COUNT + 1, "the JSON that begins here is cut off")
    assert broken.found == "… " + " ".join(parts[place].rstrip()[-40:].split())
    assert broken.expected == 'a whole JSON object with "fio version"'


def test_the_cut_status_of_a_run_that_was_killed_is_a_warning_with_the_same_facts() -> None:
    parsed = json_format.parse((FIXTURES / "cut_off.json").read_text())
    assert parsed.broken == ()
    (warning,) = parsed.warnings
    assert "cut off" in warning
    assert "found '… " in warning
    assert 'expected a whole JSON object with "fio version"' in warning


def test_the_json_of_another_tool_behind_it_is_not_cut_off() -> None:
    parsed = json_format.parse(NULL + '{\n"tool": "another"\n}\n')
    engine = "line 1: ioengine=null: nothing reaches a disk, the engine moves no data"
    assert (parsed.warnings, parsed.broken) == ((engine,), ())


def test_a_report_between_carriage_returns_is_read_and_not_broken() -> None:
    parsed = json_format.parse(SourceText(NULL.replace("\n", "\r").encode()))
    assert (len(parsed.runs), parsed.broken) == (1, ())


@pytest.mark.parametrize("by", ['"iops" : 1.5, "iops" : 2.5', '"iops" : 1.5,\n        "iops" : 2.5'])
def test_a_key_that_stands_twice_is_no_figure_and_told(by: str) -> None:
    parsed = json_format.parse(changed(NULL, FIRST_IOPS, by))
    iops = sample(parsed, "iops")
    assert (iops.value, iops.printed) == (None, "1.5 IOPS")
    assert "stands twice" in iops.missing_reason
    broken = only_broken(parsed)
    assert "'iops' stands twice" in broken.message
    assert (broken.line, broken.found, broken.expected) == (1, "1.5 and 2.5", "one value")
    assert sample(parsed, "bandwidth").value == sample(json_format.parse(NULL), "bandwidth").value


def test_a_key_that_stands_twice_with_the_same_value_is_nothing_to_tell() -> None:
    found = re.search(FIRST_IOPS, NULL)
    assert found
    parsed = json_format.parse(changed(NULL, FIRST_IOPS, f"{found[0]}, {found[0]}"))
    assert parsed.broken == ()
    assert sample(parsed, "iops").value == sample(json_format.parse(NULL), "iops").value


def test_a_direction_that_stands_twice_has_no_figures() -> None:
    parsed = json_format.parse(changed(NULL, r'"read" : \{', '"read" : {"io_bytes" : 5, "iops" : 2}, "read" : {'))
    assert "'read' stands twice" in only_broken(parsed).message
    assert not [s for s in parsed.runs[0].samples if s.section == 0 and s.operation == "randread"]


@pytest.mark.parametrize(
    ("key", "metric"), [("bw_bytes", "bandwidth"), ("iops", "iops"), ("io_bytes", "io_bytes"), ("mean", "slat_mean")]
)
def test_a_figure_below_zero_is_missing_and_says_so(key: str, metric: str) -> None:
    document = json.loads(NULL)
    job = document["jobs"][0]
    direction = next(job[name] for name in ("read", "write") if job[name]["io_bytes"])
    if key == "mean":
        direction["slat_ns"] = {"min": 1, "max": 2, "mean": -5, "stddev": 0, "N": 3}
    else:
        direction[key] = -5
    found = sample(json_format.parse(json.dumps(document, indent=1)), metric)
    assert (found.value, found.missing_reason) == (None, "a figure below zero measures nothing")
    assert found.printed.startswith("-5 ")


@pytest.mark.parametrize("word", ["NaN", "-nan", "null", "inf"])
def test_a_rate_that_is_no_number_says_so(word: str) -> None:
    parsed = json_format.parse(changed(NULL, FIRST_IOPS, f'"iops" : {word}'))
    found = sample(parsed, "iops")
    assert (found.value, found.printed) == (None, f"{word} IOPS")
    assert found.missing_reason == "not printed as a number"
    assert parsed.broken == ()


@pytest.mark.parametrize("cut", [0, 2])
def test_what_was_found_can_be_kept_in_a_database(cut: int) -> None:
    """Memory of another program stands where a disk was full: NUL by the thousand."""
    text = NULL.replace('"jobs"', "\0\0\0\0jobs", 1)
    with pytest.raises(ParseError) as refused:
        json_format.parse(SourceText(text[: len(text) - cut].encode()))
    assert "\0" not in f"{refused.value.found}{refused.value.message}"
