"""One letter in any figure of a sound text, or one line feed less: no value becomes another one, and what is missing is told.

Of every text that a format calls its own here, some figures spread over it are bent, one at a time.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.parsers.core.models import ParsedSample
from apps.parsers.core.registry import get_format, read
from apps.parsers.core.source_text import SourceText
from tests.parsers.seeds import TEXTS
from tests.sampling import IS_LONG, for_each

FOLDERS = {
    "bonnie": "", "bonnie++": "bonniepp", "hdparm": "hdparm", "ioping": "ioping", "ioping json": "ioping_json", "iozone": "iozone",
    "iperf2": "iperf2_text", "iperf2 csv": "iperf2_csv", "iperf3": "iperf3_text", "iperf3 json": "iperf3_json", "netperf": "",
    "sysbench fileio": "sysbench_fileio", "time cp": "time_cp",
}  # fmt: skip
FIXTURES = Path(__file__).parent / "fixtures"
FIGURE = re.compile(rb"\d+(?:\.\d+)?")
MOST = 200 if IS_LONG else 9  # figures of a text
ROUNDED = 0.06  # in the table of bonnie++ 2.00, which is read where its CSV line is bent
UNHEARD = re.compile(rb"-rw-r--r-- |bytes \(|^real .*\n.*user")  # of a copy only its size; dd tells of its own lines

Value = tuple[str, str, float | None, float | None]


def texts(name: str) -> dict[str, bytes]:
    found = {"seed": TEXTS[name].encode()} if name in TEXTS else {}
    paths = sorted((FIXTURES / FOLDERS[name]).iterdir()) if FOLDERS[name] else []
    return found | {path.name: path.read_bytes() for path in paths if not path.name.endswith(".expected.json")}


def spread(matches: list[re.Match[bytes]], offset: int) -> list[re.Match[bytes]]:
    step = max(1, len(matches) // MOST)
    return matches[offset % step :: step]


def bent(data: bytes, offset: int) -> Iterator[tuple[str, bytes]]:
    """(what was done, the text) for some of its figures and lines."""
    for match in spread([*FIGURE.finditer(data)], offset):
        start, end = match.span()
        middle, line = (start + end) // 2, data.count(b"\n", 0, start) + 1
        if UNHEARD.search(data[data.rfind(b"\n", 0, start) + 1 :].partition(b"\n")[0]):
            continue
        for letter, first, behind in ((b"x", middle, middle), (b"O", middle, middle + 1), (b"l", start, start + 1)):
            yield f"line {line}: {letter.decode()} in {match[0].decode()}", data[:first] + letter + data[behind:]


def values(samples: Iterator[ParsedSample]) -> Counter[Value]:
    return Counter((one.operation, one.metric, one.value, one.low) for one in samples)


def read_all(name: str, data: bytes) -> tuple[Counter[Value], Counter[str]]:
    """The values, and all that is said of what is not as it should be."""
    found = read(get_format(name), SourceText(data))
    if found.parsed is None:
        return Counter(), Counter([str(found.error)])
    samples = [one for run in found.parsed.runs for one in run.samples]
    said = [*map(str, found.parsed.broken), *found.parsed.warnings, *(run.problem for run in found.parsed.runs)]
    said += [f"{one.operation} {one.metric} {one.missing_reason}" for one in samples if one.missing_reason]
    return values(one for one in samples if one.value is not None or one.low is not None), Counter(filter(None, said))


def contradicted(name: str, data: bytes) -> set[tuple[str, str]]:
    """Return the figures that the undamaged text withholds: without what contradicts them nothing is against them."""
    parsed = read(get_format(name), SourceText(data)).parsed
    samples = [sample for run in parsed.runs for sample in run.samples] if parsed else []
    return {(sample.operation, sample.metric) for sample in samples if sample.missing_reason}


def is_near(one: Value, sound: Counter[Value]) -> bool:
    operation, metric, value, _ = one
    return value is not None and any(
        known[:2] == (operation, metric) and known[2] and abs(known[2] - value) <= ROUNDED * value for known in sound
    )


@pytest.mark.slow
@for_each("name", FOLDERS)
def test_a_letter_in_a_figure_makes_no_other_value_and_is_told(name: str) -> None:
    for offset, (case, data) in enumerate(texts(name).items()):
        (sound, said), doubtful = read_all(name, data), contradicted(name, data)
        for what, damaged in bent(data, offset):
            found, now_said = read_all(name, damaged)
            other = [one for one in found - sound if name != "bonnie++" or not is_near(one, sound)]
            other = [one for one in other if one[:2] not in doubtful]
            assert not other, f"{case}, {what}: {other}"
            assert not sound - found or now_said - said, f"{case}, {what}: nothing is said of {[*(sound - found)][:3]}"


# Of iperf 2 an interval that stands alone is the whole test, and of a copy the clock's lines are told apart by their order.
BY_LINE = ("bonnie", "hdparm", "ioping", "ioping json", "iozone", "iperf3", "netperf", "sysbench fileio")


def cut(data: bytes, offset: int) -> Iterator[tuple[str, bytes]]:
    """(what was done, the text): a line less, two that changed places, an end amid a line."""
    lines = data.splitlines(keepends=True)
    step = max(1, len(lines) // MOST)
    for at in range(offset % step, len(lines), step):
        before, line, behind = lines[:at], lines[at], lines[at + 1 :]
        yield f"line {at + 1} left out", b"".join(before + behind)
        yield f"line {at + 1} behind the next", b"".join([*before, *behind[:1], line, *behind[1:]])
        yield f"cut in line {at + 1}", b"".join(before) + line[: len(line) // 2]


@pytest.mark.parametrize("name", BY_LINE)
def test_a_line_less_or_elsewhere_makes_no_other_value_unsaid(name: str) -> None:
    for offset, (case, data) in enumerate(texts(name).items()):
        (sound, said), doubtful = read_all(name, data), contradicted(name, data)
        for what, damaged in cut(data, offset):
            found, now_said = read_all(name, damaged)
            other = [one for one in found - sound if one[:2] not in doubtful]
            assert not other or now_said - said, f"{case}, {what}: {other[:3]}"
