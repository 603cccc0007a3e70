"""fio's option text, as fio's own parser reads it."""

import json
import subprocess

import pytest

from apps.parsers.fio.options import (
    choose_operation,
    get_directions,
    make_load,
    merge_options,
    parse_seconds,
    parse_size,
)
from tests.sampling import for_each


@for_each("text, size", [
        ("4k", 4096), ("4K", 4096), ("4kb", 4096), ("4kib", 4000), ("1m", 2**20), ("1MiB", 10**6),
        ("2g", 2**31), ("1t", 2**40), ("65536", 65536), ("0x1000", 4096), ("8k ", 8192), (" 8192 ", 8192), (" 8k ", None), ("8 k", None),
        ("20%", None),
        ("4k-16k", None), ("(4*1024)", None), ("", None), ("-1", None), ("1x", None),
        ("9" * 400, None), ("9999999t", None),
    ])  # fmt: skip
def test_a_size_is_what_fio_takes_it_for(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(("text", "size"), [("4k", 4000), ("4kib", 4096), ("1m", 10**6), ("1mib", 2**20)])
def test_kb_base_1000_gives_the_suffixes_their_names_meaning(text: str, size: int) -> None:
    assert parse_size(text, 1000) == size


@pytest.mark.fio
@pytest.mark.parametrize("text", ["4k", "4kib", "1m", "512", "0x1000", "3kb"])
def test_fio_itself_agrees(text: str) -> None:
    command = ["fio", "--name=x", "--ioengine=null", f"--size={text}", "--bs=1", "--output-format=terse"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    assert int(out.split(";")[5]) == (parse_size(text) or 0) // 1024


@pytest.mark.fio
@pytest.mark.parametrize("text", [" 8k", "8 k"])
def test_fio_itself_sees_no_unit_behind_a_blank(text: str) -> None:
    command = ["fio", "--name=x", "--ioengine=null", "--size=64k", f"--bs={text}", "--output-format=json"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    assert json.loads(out)["jobs"][0]["read"]["total_ios"] == 65536 // 8


@for_each(
    "text, seconds",
    [
        (" 30 ", 30),
        (" 5m", None),
        ("5 m", None),
        ("30", 30),
        ("30s", 30),
        ("500ms", 0.5),
        ("2m", 120),
        ("1h", 3600),
        ("250us", 0.00025),
        ("soon", None),
    ],
)
def test_a_time_without_a_unit_is_seconds(text: str, seconds: float | None) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("rw", "direction", "name"),
    [
        ("randrw", "read", "randread"), ("randrw", "write", "randwrite"), ("rw", "write", "write"),
        ("read", "read", "read"), ("randread:8", "read", "randread"), ("randtrim", "trim", "trim"),
        ("trimwrite", "write", "write"), (None, "read", "read"),
    ],
)  # fmt: skip
def test_pattern_and_direction_name_the_operation(rw: str | None, direction: str, name: str) -> None:
    assert choose_operation(rw, direction) == name


def test_a_word_that_fio_does_not_have_says_nothing_about_directions() -> None:
    assert get_directions("sideways") is None
    assert get_directions("randrw") == {"read", "write"}


def test_a_jobs_own_options_go_over_the_global_ones_under_any_alias() -> None:
    load = make_load(
        merge_options({"bs": "4k", "size": "1g"}, {"blocksize": "8k", "readwrite": "randread", "iodepth": "16"})
    )
    assert (load.rw, load.file_size, load.block_size("read"), load.iodepth, load.threads) == (
        "randread",
        2**30,
        8192,
        16,
        1,
    )


@pytest.mark.parametrize(
    ("shared", "own", "sizes"),
    [
        ({"bs": "4k", "kb_base": "1000"}, {"size": "1m"}, (4096, 1_000_000)),
        ({"kb_base": "1000", "bs": "4k"}, {"size": "1m"}, (4000, 1_000_000)),
        ({"bs": "4k"}, {"kb_base": "1000", "size": "1m"}, (4096, 1_000_000)),
        ({"bs": "4k", "kb_base": "1000"}, {"size": "1m", "bs": "8k"}, (8000, 1_000_000)),
        ({"size": "1m", "bs": "4k"}, {"kb_base": "1000"}, (4096, 2**20)),
    ],
)
def test_kb_base_is_for_the_options_behind_it(
    shared: dict[str, str], own: dict[str, str], sizes: tuple[int, int]
) -> None:
    load = make_load(merge_options(shared, own))
    assert (load.block_size("read"), load.file_size) == sizes


def test_one_block_size_per_direction() -> None:
    load = make_load({"bs": "4k,64k", "rw": "rw"})
    assert [load.block_size(name) for name in ("read", "write", "trim")] == [4096, 65536, 65536]
    assert make_load({"bs": ",8k", "rw": "rw"}).block_size("read") == 4096


@pytest.mark.parametrize(
    ("rw", "size"), [("read", 4096), ("randwrite", 65536), ("randrw", 65536), ("randread:8", None), ("rw", 4096)]
)
def test_one_block_size_for_sequential_and_one_for_random_work(rw: str, size: int | None) -> None:
    options = {"bs": "4k,64k", "rw": rw, "bs_is_seq_rand": "1"}
    assert {make_load(options).block_size(name) for name in ("read", "write", "mixed")} == {size}
    assert make_load({**options, "percentage_random": "50"}).block_size("read") is None


@pytest.mark.parametrize("option", ["bsrange", "bssplit"])
def test_a_range_of_block_sizes_is_no_block_size(option: str) -> None:
    assert make_load({option: "4k-16k", "rw": "read"}).block_size("read") is None


def test_a_report_without_options_leaves_the_load_unknown() -> None:
    load = make_load({})
    assert (load.rw, load.file_size, load.block_size("read"), load.threads, load.iodepth) == (None,) * 5


def test_fewer_entries_than_jobs_means_a_group() -> None:
    assert make_load({"numjobs": "4"}, copies=1).grouped
    assert not make_load({"numjobs": "4"}, copies=4).grouped
    assert make_load({"group_reporting": "1"}).grouped
