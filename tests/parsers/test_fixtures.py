"""Every `fixtures/<format>/<case>`, printed by the tool itself, reads as its expected half says. A new case is two files
and no code: see `fixture_pairs`.
"""

import json
import re

from apps.parsers.core.registry import RECOGNISED, formats
from tests.parsers.every import faults
from tests.parsers.fixture_pairs import FIXTURES, FORMATS, case_of, half, outputs, parser, source, told
from tests.sampling import for_each

CASES = [(folder, case) for folder in FORMATS for case in outputs(folder)]
BESIDE = {  # another tool's or format's report in the same file
    ("fio_terse", "beside_normal"): {"fio text"}, ("fio_json", "beside_normal"): {"fio text"},
    ("fio_text", "beside_json"): {"fio json"}, ("time_cp", "bash_dd"): {"dd"},
}  # fmt: skip
PRINTED = [pair for pair in CASES if pair[0] not in ("fio_json", "dd", "time_cp") and pair != ("bonniepp", "text_only")]


@for_each("folder, case", CASES)
def test_output_reads_as_expected(folder: str, case: str) -> None:
    assert told(folder, case) == json.loads(half(folder, case).read_text())


@for_each("folder, case", CASES)
def test_what_is_read_is_sound(folder: str, case: str) -> None:
    text = source(folder, case)
    assert not faults(parser(folder).parse(text), text)


@for_each("folder, case", CASES)
def test_an_output_is_recognised_by_its_own_format_alone(folder: str, case: str) -> None:
    text = source(folder, case)
    sure = {one.name for one in formats() if one.looks_like(text) >= RECOGNISED and one.kind != "table"}
    assert sure - {parser(folder).NAME} == BESIDE.get((folder, case), set())
    parsed = parser(folder).parse(text)
    assert parser(folder).NAME in sure or not (parsed.runs or parsed.workloads)


@for_each("folder, case", PRINTED)
def test_every_printed_figure_stands_on_the_line_it_names(folder: str, case: str) -> None:
    text = source(folder, case)
    shown: dict[int, str] = {}
    for index, line in enumerate(text.lines):
        shown[text.number(index)] = shown.get(text.number(index), "") + re.sub("= +", "=", line)
    for one in parser(folder).parse(text).runs:
        for sample in one.samples:
            assert one.line <= sample.line <= one.last_line
            figure = sample.printed.removeprefix("Rtry ").removeprefix("usr ").partition(" ")[0].rstrip("]")
            assert figure.rpartition("[")[2] in shown[sample.line]


def test_every_output_has_its_expected_half_and_every_half_its_output() -> None:
    halves = {path for folder in FORMATS for path in (FIXTURES / folder).glob("*.expected.json")}
    assert halves == {half(folder, case) for folder, case in CASES} != set()
    assert all(case_of(outputs(folder)[case]) == case for folder, case in CASES)
