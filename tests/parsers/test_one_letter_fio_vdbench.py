"""One letter in any figure of fio's and Vdbench's reports: no sample gets another value, and what is missing is told.

Of every text here some figures spread over it are bent, one at a time. A report that `--status-interval` printed several
times may give way to the one before it, if that is told.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.parsers.core.registry import get_format, read
from apps.parsers.core.source_text import SourceText
from tests.parsers.seeds import TEXTS
from tests.sampling import IS_LONG

FOLDERS = {
    "fio json": "fio_json", "fio log": "fio_logs", "fio terse": "fio_terse", "fio text": "fio_text",
    "vdbench": "", "vdbench flatfile": "", "vdbench histogram": "",
}  # fmt: skip
SEEDS = {"vdbench": "vdbench summary"}
FIXTURES = Path(__file__).parent / "fixtures"
SEVERAL = re.compile(r"status_interval|stonewall|cut_off|beside_json")
FIGURE = re.compile(rb"\d+(?:\.\d+)?")
MOST = 150 if IS_LONG else 5  # figures of a text


def texts(name: str) -> dict[str, bytes]:
    seed = SEEDS.get(name, name)
    found = {"seed": TEXTS[seed].encode()} if seed in TEXTS and name != "fio log" else {}
    paths = sorted((FIXTURES / FOLDERS[name]).iterdir()) if FOLDERS[name] else []
    return found | {path.name: path.read_bytes() for path in paths if not path.name.endswith(".expected.json")}


def bent(data: bytes, offset: int) -> Iterator[tuple[str, bytes]]:
    matches = [*FIGURE.finditer(data)]
    step = max(1, len(matches) // MOST)
    for match in matches[offset % step :: step]:
        start, end = match.span()
        line, middle = data.count(b"\n", 0, start) + 1, (start + end) // 2
        for letter, first, behind in ((b"x", middle, middle), (b"O", middle, middle + 1), (b"l", start, start + 1)):
            yield f"line {line}: {letter.decode()} in {match[0].decode()}", data[:first] + letter + data[behind:]


def read_all(name: str, case: str, data: bytes) -> tuple[Counter[object], Counter[object], Counter[str]]:
    """The samples' values; with them points and bins; and all that is said of what is not as it should be."""
    found = read(get_format(name), SourceText(data, case))
    if found.parsed is None:
        return Counter(), Counter(), Counter([str(found.error)])
    runs = found.parsed.runs
    samples = [one for run in runs for one in run.samples]
    values = Counter[object](
        (one.operation.removeprefix("rand"), one.metric, one.value, one.low) for one in samples if one.value is not None
    )
    points = Counter[object]((one.metric, value) for run in runs for one in run.series for value in one.values)
    bins = Counter[object](one for run in runs for histogram in run.histograms for one in histogram.bins)
    said = [*map(str, found.parsed.broken), *found.parsed.warnings, *(run.problem for run in runs)]
    said += [f"{one.operation} {one.metric} {one.missing_reason}" for one in samples if one.missing_reason]
    return values, values + points + bins, Counter(filter(None, said))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_letter_in_a_figure_makes_no_other_value_and_is_told(name: str) -> None:
    assert texts(name)
    for offset, (case, data) in enumerate(texts(name).items()):
        sound, all_sound, said = read_all(name, case, data)
        for what, damaged in bent(data, offset):
            found, all_found, now_said = read_all(name, case, damaged)
            assert not found - sound or SEVERAL.search(case), f"{case}, {what}: {[*(found - sound)][:3]}"
            assert not all_sound - all_found or now_said - said, (
                f"{case}, {what}: nothing is said of {[*(all_sound - all_found)][:3]}"
            )
