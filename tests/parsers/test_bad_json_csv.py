"""JSON and CSV as no tool should write them: nothing is invented, nothing takes long, and the reason names a line."""

import json
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from apps.parsers.core.models import Broken, ParseError
from apps.parsers.core.registry import LEAST, formats
from apps.parsers.core.source_text import SourceText
from apps.parsers.core.strict_json import DEEPEST, documents, documents_in
from tests.pace import within
from tests.parsers.every import SLOWEST_S, faults, timed, tried
from tests.sampling import for_each

MIB = 1 << 20


def values(text: str | bytes) -> list[Any]:
    before = time.process_time()
    found = [
        value for _, _, value in documents(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    ]
    assert within(time.process_time() - before, 2)
    return found


def values_or_none(text: str) -> list[Any] | None:
    """None where there is no document, which is said of the first line."""
    try:
        return values(text)
    except ParseError as error:
        refused = error
    assert refused.line == 1
    return None


def broken(text: str | bytes) -> Broken:
    (one,) = [value for value in values(text) if isinstance(value, Broken)]
    return one


NO_NUMBERS = ["NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf", "Inf", "1e999", "-1e999", "9" * 400 + ".5"]
TOO_LARGE = [str(2**63), str(-(2**63) - 1), str(2**64), "9" * 30, "9" * 5000, "-" + "9" * 400_000]


@for_each("number", NO_NUMBERS + TOO_LARGE)
def test_what_is_no_number_of_ours_is_none(number: str) -> None:
    assert values(f'{{"a": {number}, "b": [1, {number}], "c": 2}}') == [{"a": None, "b": [1, None], "c": 2}]


@pytest.mark.parametrize("number", ["0", "-0", str(2**63 - 1), str(-(2**63)), "1e308", "2.5", "1E-400", "0.1e1"])
def test_numbers_are_read_as_they_stand(number: str) -> None:
    (found,) = values(f'{{"a": {number}}}')
    assert found["a"] == json.loads(number)


@pytest.mark.parametrize("word", ["nan", "inf", "NaN", "Infinity"])
def test_words_in_strings_stay(word: str) -> None:
    text = f'{{"a": "x: {word}, y", "{word}": [NaN, "{word}"]}}'
    assert values(text) == [{"a": f"x: {word}, y", word: [None, word]}]


@for_each("number", ["01", "+1", ".5", "1.", "0x10", "1_000", "1,5e", "--1", "١", "tru", "undefined"])
def test_a_number_that_json_does_not_have_is_broken_with_its_line(number: str) -> None:
    found = broken(f'{{"a": 1,\n "b": {number}}}\n')
    assert found.line == 2
    assert values(f'{{"a": {number}}}\n{{"good": 1}}')[-1] == {"good": 1}


def test_a_key_that_stands_twice_is_nothing_and_told() -> None:
    text = '\n{"a": 1, "b": {"x": 1, "x": 2}, "a": 2, "same": [1], "same": [1]}'
    value, first, second = values(text)
    assert value == {"a": None, "b": {"x": None}, "same": [1]}
    assert {first.message, second.message} == {f"the key '{key}' stands twice with different values" for key in "ax"}
    assert first.line == 2
    assert {first.found, second.found} == {"1 and 2"}


def test_a_key_that_stands_a_hundred_thousand_times_takes_no_time() -> None:
    assert values("{" + ",".join(f'"a": {number}' for number in range(100_000)) + "}")[0] == {"a": None}
    big = "[" + "1," * 1000 + "1]"
    assert values("{" + ",".join(f'"a": {big}' for _ in range(300)) + "}") == [{"a": [1] * 1001}]


@for_each("opens, closes", [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]"), ("[\n", "\n]"), ('{"a":[\n', "]}")])
@for_each("is_closed", [True, False])
def test_what_is_nested_too_deep_is_broken(opens: str, closes: str, is_closed: bool) -> None:
    depth = 100_000 // len(opens)
    for text in ("[" + opens * depth + (closes * depth + "]" if is_closed else ""),):
        found = [value for value in values(text) if isinstance(value, Broken)]
        assert found
        assert f"deeper than {DEEPEST} levels" in found[0].message


def test_what_is_nested_as_deep_as_may_be_is_read() -> None:
    text = '{"a":' * DEEPEST + "1" + "}" * DEEPEST
    assert values(text) == [json.loads(text)]


@pytest.mark.parametrize("escape", [r"\ud800", r"\udfff", r"\ud800\ud800", r"\u0000", r"\uDBFF"])
def test_characters_that_no_database_holds_are_replaced(escape: str) -> None:
    (found,) = values(f'{{"a": "x{escape}y", "k{escape}": ["{escape}"]}}')
    shown = "\ufffd" * escape.count("\\")
    assert found == {"a": f"x{shown}y", f"k{shown}": [shown]}


@pytest.mark.parametrize("raw", [b"\xff", b"\x00", b"\xed\xa0\x80", b"\xc3"])
def test_bytes_that_are_no_text_are_replaced(raw: bytes) -> None:
    (found,) = values(b'{"a": "x' + raw + b'y", "b": 1}')
    assert found["b"] == 1
    assert set(found["a"]) == {"x", "\ufffd", "y"}


def test_a_pair_of_surrogates_is_one_letter_and_tabs_in_strings_are_read() -> None:
    assert values('{"a": "\\ud83d\\ude00", "b": "1\t2"}') == [{"a": "😀", "b": "1\t2"}]


AROUND = {
    "text before": 'iperf3: error - {x}\nServer [1]\n{"a": 1}', "text behind": '{"a": 1}\niperf Done. {"',
    "prompt": '$ smartctl -j /dev/sda\n{"a": 1}\n$ ', "indented": '   {"a":\n   1}', "CRLF": '{"a":\r\n1}\r\n',
    "no line feed": '{"a":1}', "between": 'x\n\n{"a": 1} # done',
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(AROUND))
def test_text_around_a_document_is_left_out(name: str) -> None:
    assert values(AROUND[name]) == [{"a": 1}]


@pytest.mark.parametrize("between", ["", " ", "\n", "\r\n\r\n", "\n[ ID] Interval\n", "\n,\n"])
def test_documents_one_behind_the_other_are_all_read(between: str) -> None:
    assert values('{"a": 1}' + between + '[{"b": 2}]' + between + '["c"]') == [{"a": 1}, [{"b": 2}], ["c"]]


@pytest.mark.parametrize(
    "cut", ['{"a": {"b": 1,', '{"a": {"b": 1', '{"a": {"b":', '{"a": "text', '{"a": [1, 2', '{"a": {"b": 1}']
)
def test_a_document_that_is_cut_off_is_told_and_the_next_is_read(cut: str) -> None:
    found = values(f'{cut}\n{{"good": 1}}\n')
    assert found[-1] == {"good": 1}
    assert isinstance(found[0], Broken)
    assert "begins in line 1" in found[0].message
    assert "cut off" in broken(cut).message or "ends too early" in broken(cut).message


@pytest.mark.parametrize(
    "text",
    ['{"a": 1]', '{"a" 1}', '["a" "b"]', '{"a": 1,}', '[{"a": 1},]', '{"a": tru}', '{"a": 1 "b": 2}', "{'a': 1}"],
)
def test_what_is_nearly_json_gives_no_value(text: str) -> None:
    assert all(isinstance(value, Broken) for value in values_or_none(text) or [])


@for_each("text", ["", "\n\n", "no JSON", "[  5]  0.00-1.00 sec", "{not json}", "NaN", "1", '"text"', "[1, 2]", "\x00"])
def test_a_text_without_a_document_says_so(text: str) -> None:
    with pytest.raises(ParseError, match="line 1: no JSON in the text"):
        values(text)


HOSTILE: dict[str, Callable[[], str]] = {
    "documents": lambda: "{}\n" * (MIB // 3), "starts": lambda: '{"\n' * (MIB // 3), "cut documents": lambda: '{"a":1,\n' * (MIB // 8),
    "arrays": lambda: "[[1,\n" * (MIB // 5), "objects in arrays": lambda: '[{"a":1},\n' * (MIB // 10), "blanks": lambda: "{" + " " * MIB,
    "lines": lambda: "{" + "\n" * MIB, "one string": lambda: '{"a": "' + "x" * MIB, "backslashes": lambda: '{"a": "' + "\\" * MIB,
    "quotes": lambda: "{" + '"' * MIB, "commas": lambda: '{"a"' + "," * MIB, "digits": lambda: '{"a":' + "1" * MIB + "}",
    "empty objects": lambda: '["a"' + ",{}" * (MIB // 3) + "]", "keys": lambda: "{" + ",".join(f'"{n}":0' for n in range(MIB // 10)) + "}",
    "escapes": lambda: '{"a":"' + "\\ud800" * (MIB // 6) + '"}', "nan": lambda: '["a"' + ",nan" * (MIB // 4) + "]",
    "minus": lambda: '{"a":' + "-" * MIB, "never closed": lambda: ('{"a":[\n' + "1,\n" * 50) * 5000,
}  # fmt: skip


@for_each("name", sorted(HOSTILE), number=4)
def test_a_mebibyte_of_malice_is_read_in_linear_time(name: str) -> None:
    found = values_or_none(HOSTILE[name]())
    assert found is None or found


def test_a_quoted_document_has_the_numbers_of_its_file() -> None:
    mail = '> iperf3 said:\r\n>\r\n> {\r\n>  "a": 1\r\n> }\r\n> {"b": 2}\r\n'
    assert list(documents_in(SourceText(mail))) == [(3, 5, {"a": 1}), (6, 6, {"b": 2})]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1251", "latin-1"])
def test_a_document_is_read_in_every_encoding(encoding: str) -> None:
    word = {"cp1251": "диски", "latin-1": "größe"}.get(encoding, "диск größe")
    text = SourceText(f'x\n{{"name": "{word}", "a": 1}}\n'.encode(encoding))
    assert list(documents_in(text)) == [(2, 2, {"name": word, "a": 1})]


# CSV: every format that reads rows of separated values meets these

ROWS = {
    "bonnie++ 1.03": "host3,16G,,,61822,97,98472,33,,,301284,11,389.2,1,16,2915,99,+++++,+++,+++++,+++,3011,99,+++++,+++,8912,99",
    "iperf 2": "20240102030405,10.0.0.7,41212,10.0.0.8,5001,3,0.0-10.0,1176502272,941197312",
    "fio terse": "3;fio-3.33;job;0;0;" + ";".join(["0"] * 125),
    "fio log": "1, 61822, 0, 4096",
    "table": "size;write;read\n64;1,5;2,5\n128;2,5;3,5",
    "ioping": "2 188908 10587 43363871 17 94454 171890 77436 2 190000",
    "netperf omni": "THROUGHPUT,THROUGHPUT_UNITS\n941.1,10^6bits/s",
}  # fmt: skip
CSV_HOSTILE: dict[str, Callable[[str, str], str]] = {
    "endless line": lambda row, comma: row + comma + comma.join(["1"] * (MIB // 2)),
    "endless field": lambda row, comma: row + comma + "9" * MIB,
    "endless quoted field": lambda row, comma: row + comma + '"' + "x\n" * (MIB // 2),
    "quotes": lambda row, comma: row + "\n" + '"' * MIB,
    "separators": lambda row, comma: row + comma * MIB,
    "a hundred thousand rows": lambda row, comma: (row.split("\n")[0] + "\n") * (MIB // (len(row) + 1)),
    "cut rows": lambda row, comma: "\n".join(row[:length] for length in range(len(row))) + "\n" + row,
    "nan": lambda row, comma: "\n".join(row.replace(digit, "nan") for digit in "123456789"),
    "inf": lambda row, comma: row.replace("1", "1e999") + "\n" + row.replace("1", "inf"),
    "huge numbers": lambda row, comma: row.replace("1", "1" + "0" * 6000),
    "minus": lambda row, comma: row.replace(comma, f"{comma}-"),
    "other digits": lambda row, comma: row.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")),
    "superscripts": lambda row, comma: row.replace("1", "¹").replace("2", "²"),
    "underscores": lambda row, comma: row.replace("11", "1_1"),
    "zeros inside": lambda row, comma: row.replace(comma, f"\x00{comma}"),
    "mixed ends": lambda row, comma: f"{row}\r{row}\r\n{row}\n\r{row}",
    "many separators": lambda row, comma: row.replace(comma, ",;\t|"),
}  # fmt: skip


@pytest.mark.slow
@for_each("hostile, name", product(sorted(CSV_HOSTILE), sorted(ROWS)), number=12)
def test_hostile_rows_are_read_or_refused_in_time(name: str, hostile: str) -> None:
    row = ROWS[name]
    comma = next(sign for sign in (";", ",", " ") if sign in row)
    text = SourceText(CSV_HOSTILE[hostile](row, comma))
    assert text.lines is not None  # read once, as in an upload
    for one in formats():
        score, seconds = timed(lambda one=one: one.looks_like(text))  # type: ignore[misc]
        assert seconds < SLOWEST_S, one.name
        assert 0 <= score <= 1
        if score >= LEAST:
            (parsed, _), seconds = timed(lambda one=one: tried(one, text))  # type: ignore[misc]
            assert seconds < SLOWEST_S, one.name
            assert parsed is None or not faults(parsed, text), one.name
