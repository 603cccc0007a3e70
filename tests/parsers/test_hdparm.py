"""hdparm's timings: real ones, other people's, and damaged ones."""

import time

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.hdparm import format as hdparm_format
from tests.pace import within
from tests.parsers.corpus import folder
from tests.sampling import for_each

MIB, KIB = 1024.0**2, 1024.0
LINE = " Timing buffered disk reads: 300 MB in  3.01 seconds =  99.67 MB/sec\n"

CORPUS = {  # per folder and file: device, operation and printed rate in bytes/s of each sample
    ("hdparm", "mail-direct-nvme-and-sata.txt"): [
        ("/dev/nvme0n1", "cached_read", 2495.19 * MIB), ("/dev/nvme0n1", "read", 1683.84 * MIB),
        ("/dev/sdc", "cached_read", 493.55 * MIB), ("/dev/sdc", "read", 183.97 * MIB),
    ],
    ("hdparm", "mail-md-kBsec-loop.txt"): [
        ("/dev/md0", "read", 63.26 * MIB), ("/dev/md1", "read", 1.25 * MIB), ("/dev/md2", "read", 676.33 * KIB),
        ("/dev/md3", "read", 56.65 * KIB),
    ],
    ("hdparm", "mail-kernel-compare-elided.txt"): [
        ("/dev/sda", "read", 476.88 * MIB), ("/dev/sda", "read", 379.78 * MIB), ("/dev/sda", "read", 378.64 * MIB),
    ],
    ("hdparm", "lkml-2003-buffer-cache.txt"): [
        ("/dev/md0", "cached_read", 133.33 * MIB), ("/dev/md0", "read", 20.98 * MIB),
    ],
    ("hdparm", "forum-unas.txt"): [("/dev/md0", "read", 146.42 * MIB)],
    ("dd", "de-hdparm-and-dd.txt"): [("", "cached_read", 1507.62 * MIB), ("", "read", 185.93 * MIB)],
    ("mixed-logs", "pi-SDCard-output_benchmark_1.txt"): [
        ("/dev/mmcblk0p2", "cached_read", 39.00 * MIB), ("/dev/mmcblk0p2", "read", 41.90 * MIB),
    ],
    ("mixed-logs", "pi-SSD_Kingston-output_benchmark_3.txt"): [
        ("/dev/sda2", "cached_read", 306.12 * MIB), ("/dev/sda2", "read", 334.23 * MIB),
    ],
    ("mixed-logs", "pi-iSCSI-output_benchmark_2.txt"): [
        ("/dev/mapper/vg_iscsi-vg_iscsi_lv_node", "cached_read", 71.75 * MIB),
        ("/dev/mapper/vg_iscsi-vg_iscsi_lv_node", "read", 71.07 * MIB),
    ],
}  # fmt: skip


def parse(text: str) -> ParsedFile:
    return hdparm_format.parse(SourceText(text))


def told(runs: tuple[ParsedRun, ...]) -> list[tuple[str, str, float | None]]:
    return [(run.target, one.operation, one.value) for run in runs for one in run.samples]


@pytest.mark.parametrize(("kind", "name"), CORPUS)
def test_every_timing_of_the_corpus_is_read(kind: str, name: str) -> None:
    text = SourceText((folder(kind) / name).read_bytes(), name)
    assert hdparm_format.looks_like(text) == 1.0
    parsed = hdparm_format.parse(text)
    assert told(parsed.runs) == CORPUS[kind, name]
    assert (parsed.broken, parsed.warnings) == ((), ())


def test_every_file_of_the_folder_is_in_the_table() -> None:
    assert {path.name for path in folder("hdparm").iterdir()} == {name for kind, name in CORPUS if kind == "hdparm"}


def test_direct_is_told_by_the_words_of_the_line() -> None:
    text = SourceText((folder("hdparm") / "mail-direct-nvme-and-sata.txt").read_bytes())
    assert [run.workload["direct"] for run in hdparm_format.parse(text).runs] == [1, 1]
    assert [run.workload["sync"] for run in hdparm_format.parse(text).runs] == ["direct", "direct"]
    assert parse("/dev/sda:\n" + LINE).runs[0].workload == {}


def test_run_claims_its_device_line_and_its_timings_only() -> None:
    parsed = parse(f"prose\n/dev/sda:\n{LINE}\nmore\n\n\n\n/dev/sdb:\n HDIO_DRIVE_CMD failed: x\n{LINE}end\n")
    assert [(run.target, run.line, run.last_line) for run in parsed.runs] == [("/dev/sda", 2, 3), ("/dev/sdb", 9, 11)]


def test_a_device_keeps_its_name_beside_a_word_for_it() -> None:
    runs = hdparm_format.parse(SourceText(f"/dev/sda: (Maker 7200.7 SATA)\n{LINE}\n/dev/hdd: (P80)\n{LINE}")).runs
    assert [(run.target, run.line) for run in runs] == [("/dev/sda", 1), ("/dev/hdd", 4)]


def test_device_that_could_not_be_read_is_a_missing_value() -> None:
    (run,) = parse("/dev/fd0:\n Timing buffered disk reads: read() hit EOF - device too small\n").runs
    assert run.samples[0].value is None
    assert run.samples[0].missing_reason == "failed: read() hit EOF - device too small"
    assert run.problem


def test_busybox_prints_whole_kilobytes() -> None:
    (run,) = parse("/dev/sda:\n Timing buffered disk reads:    44 MB in 3.05 seconds = 14772 kB/s\n").runs
    assert run.samples[0].value == 14772 * KIB


def test_rate_that_does_not_agree_is_told() -> None:
    parsed = parse(LINE.replace("99.67", "996.7"))
    assert len(parsed.warnings) == 1
    assert parsed.runs[0].samples[0].note


def test_line_that_is_cut_is_broken_and_the_others_are_read() -> None:
    parsed = parse(f"/dev/sda:\n{LINE[:50]}\n\n/dev/sdb:\n{LINE}")
    assert [one.line for one in parsed.broken] == [2]
    assert told(parsed.runs) == [("/dev/sdb", "read", 99.67 * MIB)]


def test_repeated_timing_without_device_line_is_another_run() -> None:
    assert len(parse(LINE * 3).runs) == 3


@pytest.mark.parametrize("text", ["", "/dev/sda:\n", "HDParm: 41.90 MB/s", "hdparm -t /dev/sda 208.18MB/s"])
def test_text_without_timing_is_an_error(text: str) -> None:
    assert hdparm_format.looks_like(SourceText(text)) == 0.0
    with pytest.raises(ParseError):
        parse(text)


@for_each(
    "text",
    [
        "Timing cached reads: " + "9" * 2**20 + " MB in 1.00 seconds = 1.00 MB/sec",
        "Timing cached reads:" * 50000,
        "Timing cached reads: 1 MB in  0.00 seconds = 0.00 MB/sec\n" * 18000,
        "/dev/" + "a" * 2**20 + ":\n" + LINE,
        "hdparm -t " * 100000 + "\n" + LINE,
        "/dev/sda:\n" * 100000,
    ],
    number=4,
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    source = SourceText(text)
    began = time.process_time()
    hdparm_format.looks_like(source)
    try:
        parsed = hdparm_format.parse(source)
    except ParseError:
        parsed = ParsedFile()
    assert within(time.process_time() - began, 2)
    assert all(one.value is None or 0 < one.value < 1e16 for run in parsed.runs for one in run.samples)


def test_busybox_cuts_its_seconds_off() -> None:
    found = parse("/dev/mmcblk1p2:\n Timing buffered disk reads:   48 MB in 0.29 seconds = 165193 kB/s\n")
    ((sample,),) = (run.samples for run in found.runs)
    assert (sample.value, sample.printed, sample.note) == (165193 * KIB, "165193 kB/s", "")
    assert found.warnings == ()


def test_prose_is_no_command() -> None:
    (run,) = parse(f"I ran hdparm -tT to see how fast it reads:\n{LINE}").runs
    assert run.workload == {"command": "hdparm -tT"}


@pytest.mark.parametrize(
    "command",
    ["hdparm -t /dev/sda", "hdparm -tT --direct /dev/nvme0n1", "hdparm -t --offset 40 /dev/sdb", "hdparm -t /dev/$i"],
)
def test_command_is_kept_as_typed(command: str) -> None:
    (run,) = parse(f"[b]# {command}[/b]\n{LINE}").runs
    assert run.workload["command"] == command


def test_line_that_lost_its_breaks_holds_both_timings_and_the_device() -> None:
    (run,) = parse(
        "/dev/sdc: Timing cached reads:   2206 MB in  2.00 seconds = 1102.81 MB/sec "
        "Timing buffered disk reads: 126 MB in  3.01 seconds =  41.86 MB/sec\n"
    ).runs
    assert run.target == "/dev/sdc"
    assert [(one.operation, one.value) for one in run.samples] == [
        ("cached_read", 1102.81 * MIB),
        ("read", 41.86 * MIB),
    ]


def test_words_about_a_timing_are_no_failure() -> None:
    words = "| Speed | `hdparm -tT /dev/sdx` | Timing buffered disk reads: `~420 to 850 MB/s` (ten times faster) |\n"
    assert told(parse(words + "/dev/sda:\n" + LINE).runs) == [("/dev/sda", "read", 99.67 * MIB)]
    with pytest.raises(ParseError):
        parse(words)


@pytest.mark.parametrize(
    "rest",
    [
        "  17456 MB in  1.99 seconds = ",
        "  17.456 MB in  1.99 seconds = 8764,12 MB/sec",
        "  ",
        "  17456 MB in  1.9",
        "  ^C",
    ],
    ids=["no rate", "commas", "nothing", "cut", "stopped"],
)
def test_broken_timing_never_takes_the_figures_of_the_next_one(rest: str) -> None:
    parsed = parse(f"/dev/sda:\n Timing cached reads: {rest}\n{LINE}")
    assert told(parsed.runs) == [("/dev/sda", "read", 99.67 * MIB)]
    assert [(one.line, one.found) for one in parsed.broken] == [(2, rest.strip())]


def test_failed_timing_keeps_its_words_beside_the_next_one() -> None:
    (run,) = parse(f"/dev/sda:\n Timing cached reads:   read() failed: Input/output error\n{LINE}").runs
    assert [(one.operation, one.value) for one in run.samples] == [("cached_read", None), ("read", 99.67 * MIB)]
    assert run.problem == "read() failed: Input/output error"
    assert run.samples[0].missing_reason == "failed: read() failed: Input/output error"


def test_timing_without_figures_takes_none_of_another_device() -> None:
    parsed = parse(f"/dev/sda:\n Timing cached reads:  \n/dev/sdb:{LINE}")
    assert told(parsed.runs) == [("/dev/sdb", "read", 99.67 * MIB)]
    assert [one.line for one in parsed.broken] == [2]


def test_a_timing_of_the_cache_below_one_of_a_disk_is_of_another_drive() -> None:
    cached = " Timing O_DIRECT cached reads:   866 MB in  2.00 seconds = 433.00 MB/sec\n"
    runs = parse(LINE + cached).runs
    assert [(run.samples[0].operation, run.workload.get("direct")) for run in runs] == [
        ("read", None),
        ("cached_read", 1),
    ]
    (run,) = parse(f"/dev/sdq:\n{LINE}{cached}").runs
    assert [one.operation for one in run.samples] == ["read", "cached_read"]


def test_a_pattern_in_the_command_is_shown_whole() -> None:
    (run,) = parse(f"$ sudo hdparm -t /dev/sd[a-c]\n\n/dev/sda:\n{LINE}").runs
    assert run.workload["command"] == "hdparm -t /dev/sd[a-c]"


def test_devices_of_one_command_have_that_command_and_their_words() -> None:
    runs = parse(f"$ hdparm -t /dev/sda /dev/sdb\n\n/dev/sda:\n{LINE}\n/dev/sdb:\n{LINE}\nNew:\n/dev/sdb:\n{LINE}").runs
    command = "hdparm -t /dev/sda /dev/sdb"
    assert [(run.target, run.workload.get("command"), run.caption) for run in runs] == [
        ("/dev/sda", command, ""), ("/dev/sdb", command, ""), ("/dev/sdb", None, "New")
    ]  # fmt: skip
    runs = parse(
        f"# for i in a b c; do hdparm -t /dev/sd$i; done\n\n/dev/sda:\n{LINE}/dev/sdb:\n{LINE}/dev/sdc:\n{LINE}"
    ).runs
    assert [run.workload.get("command") for run in runs] == ["hdparm -t /dev/sd$i"] * 3
    assert "command" not in parse(f"$ hdparm -t /dev/sda\n/dev/sda:\n{LINE}/dev/sdb:\n{LINE}").runs[1].workload


def test_devices_on_one_line_are_told_apart() -> None:
    runs = parse(f"/dev/sda: {LINE.strip()} /dev/sdb: {LINE.strip().replace('99.67', '99.66')}\n").runs
    assert told(runs) == [("/dev/sda", "read", 99.67 * MIB), ("/dev/sdb", "read", 99.66 * MIB)]


def test_words_above_a_timing_or_before_it_are_its_caption() -> None:
    runs = parse(f"RAID-5 of four\n{LINE}== RAID-0 ==\n{LINE}\nwith more cache: {LINE.strip()}\n[...]\n{LINE}").runs
    assert [run.caption for run in runs] == ["RAID-5 of four", "RAID-0", "with more cache", ""]
    assert [run.caption for run in parse(f"root@lab:~# # hdparm now\n/dev/sda:\n{LINE}").runs] == [""]


def test_figures_stand_behind_what_the_flush_before_them_had_to_say() -> None:
    message = "BLKFLSBUF failed: Inappropriate ioctl for device\n"
    text = (
        f"/dev/zd0:\n Timing cached reads:   {message}{message}9310 MB in  2.00 seconds = 4660.64 MB/sec\n"
        f" Timing buffered disk reads: read() hit EOF - device too small\n{message}"
    )
    (run,) = (parsed := hdparm_format.parse(SourceText(text))).runs
    cached, disk = run.samples
    assert (cached.value, cached.note, cached.line) == (4660.64 * 1024**2, message.strip(), 4)
    assert (disk.value, disk.missing_reason) == (None, "failed: read() hit EOF - device too small")
    assert [warning.partition(":")[0] for warning in parsed.warnings] == ["line 4"]


def test_a_message_without_figures_behind_it_is_a_failure() -> None:
    text = "/dev/zd0:\n Timing cached reads:   BLKFLSBUF failed: Permission denied\n\n10 MB in  2.00 seconds = 5.00 MB/sec\n"
    (run,) = hdparm_format.parse(SourceText(text)).runs
    assert [sample.value for sample in run.samples] == [None]
