"""A table's samples in columns are the same samples as one by one."""

import msgspec
import pytest

from apps.parsers.core.models import ParsedRun, ParsedSample, ParsedTable, Samples
from apps.parsers.core.source_text import SourceText
from apps.parsers.iozone import format as iozone_format
from tests.parsers.legacy_texts import iozone_text

TABLE = ParsedTable(
    ("write", "read"), "bandwidth", "kB/s", 1024.0, [1.0, 2.0, 3.0, 4.0], ["1", "2", "3", "4"], [65536, 131072], [4096, 8192], [7, 8],
)  # fmt: skip
SAMPLES = (
    ParsedSample("write", "bandwidth", 1024.0, 0, 65536, 4096, printed="1 kB/s", line=7),
    ParsedSample("read", "bandwidth", 2048.0, 0, 65536, 4096, printed="2 kB/s", line=7),
    ParsedSample("write", "bandwidth", 3072.0, 0, 131072, 8192, printed="3 kB/s", line=8),
    ParsedSample("read", "bandwidth", 4096.0, 0, 131072, 8192, printed="4 kB/s", line=8),
)


def test_a_table_gives_its_samples_row_by_row() -> None:
    assert tuple(TABLE) == SAMPLES
    assert len(TABLE) == 4
    assert SAMPLES[2] in TABLE


@pytest.mark.parametrize("place", [0, 1, 3, -1, -4, slice(1, 3), slice(None), slice(3, None, -2), slice(9, 12)])
def test_any_part_of_a_table_can_be_had(place: int | slice) -> None:
    assert TABLE[place] == SAMPLES[place]


@pytest.mark.parametrize("place", [4, -5])
def test_a_place_behind_its_end_is_none(place: int) -> None:
    with pytest.raises(IndexError):
        TABLE[place]


def test_a_table_that_lacks_a_figure_is_refused_on_its_way() -> None:
    lacking = msgspec.to_builtins(TABLE) | {"figures": ["1"]}
    with pytest.raises(msgspec.ValidationError, match="and as many texts"):
        msgspec.msgpack.decode(
            msgspec.msgpack.encode({"tool": "iozone", "tool_version": "", "samples": lacking}), type=ParsedRun
        )


@pytest.mark.parametrize("samples", [TABLE, SAMPLES], ids=["columns", "one by one"])
def test_both_shapes_travel(samples: Samples) -> None:
    run = ParsedRun("iozone", "3.471", samples=samples)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(run), type=ParsedRun) == run


def parsed(data: bytes) -> Samples:
    (run,) = iozone_format.parse(SourceText(data)).runs
    return run.samples


def test_a_plain_table_of_iozone_stays_in_columns_and_says_the_same_as_row_by_row() -> None:
    data = iozone_text(1)
    wide = data.replace(
        b"\n              64       4 ", b"\n              64      04 ", 1
    )  # no plain number: row by row
    plain, mixed = parsed(data), parsed(wide)
    assert isinstance(plain, ParsedTable)
    assert isinstance(mixed, tuple)
    assert tuple(plain) == mixed


@pytest.mark.parametrize("row", [0, 1, 40, 90])
def test_a_figure_of_zero_anywhere_changes_no_other_sample(row: int) -> None:
    lines = iozone_text(1).split(b"\n")
    first = next(at for at, line in enumerate(lines) if line.split()[:2] == [b"64", b"4"])
    words = lines[first + row].split()
    lines[first + row] = lines[first + row].replace(words[5], b"0".rjust(len(words[5])), 1)
    before, after = parsed(iozone_text(1)), parsed(b"\n".join(lines))
    changed = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert changed == [row * 13 + 3]
    assert after[changed[0]].value is None


def test_a_table_that_begins_again_is_another_run() -> None:
    lines = iozone_text(1).split(b"\n")
    first = next(at for at, line in enumerate(lines) if line.split()[:2] == [b"64", b"4"])
    rows = lines[first : first + 5]
    one, other = iozone_format.parse(SourceText(b"\n".join([*lines[: first + 5], *rows]))).runs
    assert [len(one.samples), len(other.samples)] == [65, 65]
    assert [sample.value for sample in one.samples] == [sample.value for sample in other.samples]
    assert {sample.line for sample in other.samples} == set(range(first + 6, first + 11))
