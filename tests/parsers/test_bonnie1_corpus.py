"""Other people's Bonnie 1.x output: the true values of the corpus' index, exactly."""

from dataclasses import dataclass, field

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.bonniepp import format as bonniepp_format
from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample
from apps.parsers.core.source_text import SourceText
from tests.parsers.corpus import CORPUS, folder
from tests.sampling import for_each

K, M = 1024, 1024**2
Pair = tuple[float | None, float | None]  # K/s or /s, % CPU; None where the index says nothing


@dataclass
class Told:
    label: str
    megabytes: int
    values: dict[str, Pair] = field(default_factory=dict)


def told(label: str, megabytes: int, **values: Pair) -> Told:
    return Told(label, megabytes, values)


INDEX: dict[str, tuple[int, Told, Told | None]] = {
    "envoy-envoy.log": (
        20,
        told("druid-0", 2047, char_write=(13366, 29.2), write=(18486, 0.9), rewrite=(7276, None),
             char_read=(21276, None), read=(39466, None), seek=(86.1, 0.0)),
        told("druid-1", 2047, write=(14535, None), seek=(80.5, None)),
    ),
    "envoy-nfs.log": (
        40,
        told("druid-0", 2047, char_write=(10647, 34.3), write=(11968, 1.9), rewrite=(1213, None),
             char_read=(18661, None), read=(25546, None), seek=(80.0, 0.1)),
        told("skiing-1", 2047, write=(13599, None), seek=(94.6, None)),
    ),
    "envoy-nocache.log": (
        20,
        told("druid-0", 2047, char_write=(13754, 26.4), write=(19459, 0.1), rewrite=(6125, None),
             char_read=(13175, None), read=(19924, None), seek=(138.3, 0.0)),
        told("druid-1", 2047, write=(15362, None), seek=(135.5, None)),
    ),
    "ldp-dpt-raid5-vs-ide.txt": (
        2,
        told("RAID", 100, char_write=(9210, 96.8), write=(1613, 5.9), rewrite=(717, None), char_read=(3797, None),
             read=(90931, None), seek=(4648.2, 159.2)),
        None,
    ),
    "ldp-scsi-raid-overflow.txt": (6, told("", 64), told("", 2047, seek=(75.0, None))),
    "lkml-2.1.108-shmfs.txt": (
        2,
        told("", 100, write=(3924, 86.2), read=(6736, 24.4), seek=(143.7, None)),
        told("", 100, read=(17860, 64.0)),
    ),
    "lkml-2.4.0-test8-mq-multirow.txt": (
        9,
        told("TEST8-MQ", 256, char_write=(3624, 100.0), write=(11044, None)),
        told("TEST7-5MQ", 256, read=(16469, 16.7), seek=(171.4, 2.8)),
    ),
    "book-bonnie-cached-overflow.txt": (
        1,
        told("", 100, char_write=(123396, None), write=(1258402, None), rewrite=(996583, None),
             char_read=(126781, None), read=(2187052, None), seek=(164190.1, 299.0)),
        None,
    ),
    "suse-bonnie-1.3-nfs.txt": (
        1,
        told("diavol", 1500, char_write=(10328, 10.5), write=(10319, 3.8), rewrite=(4280, None), read=(10712, None),
             seek=(9.3, None)),
        None,
    ),
    "suse-bonnie-1.2-scsi.txt": (
        1, told("localh", 1024, write=(31044, 7.6), rewrite=(11462, 3.2), seek=(159.4, 0.5)), None,
    ),
    "suse-bonnie-md0-wrapped.txt": (
        1,
        told("", 1024, write=(109124, 51.0), rewrite=(65537, None), read=(167240, 97.6), seek=(1504.4, 6.4)),
        None,
    ),
    "lkml-2.4.10-xmms.txt": (
        1,
        told("", 1024, char_write=(9002, 98.0), write=(15893, 15.1), rewrite=(6519, None), read=(23330, None),
             seek=(104.3, 2.2)),
        None,
    ),
}  # fmt: skip


def read(name: str) -> ParsedFile:
    return bonnie_format.parse(SourceText((folder("bonnie1") / name).read_bytes(), name))


def value(run: ParsedRun, operation: str) -> ParsedSample:
    (found,) = [one for one in run.samples if one.operation == operation]
    return found


def check(run: ParsedRun, row: Told) -> None:
    assert run.host == row.label
    assert {one.file_size for one in run.samples} == {row.megabytes * M}
    for operation, (speed, cpu) in row.values.items():
        one = value(run, operation)
        assert one.value == (speed if operation == "seek" or speed is None else speed * K)
        assert cpu is None or one.cpu == pytest.approx(cpu / 100, abs=1e-9)


@for_each("name", INDEX)
def test_the_values_of_the_index_are_read_exactly(name: str) -> None:
    count, first, last = INDEX[name]
    parsed = read(name)
    assert (len(parsed.runs), parsed.broken) == (count, ())
    check(parsed.runs[0], first)
    if last:
        check(parsed.runs[-1], last)


def test_every_file_of_the_folder_is_in_the_table() -> None:
    assert {path.name for path in folder("bonnie1").iterdir()} == set(INDEX)


def test_no_file_is_also_claimed_as_bonniepp() -> None:
    assert [
        name for name in INDEX if bonniepp_format.looks_like(SourceText((folder("bonnie1") / name).read_bytes()))
    ] == []


def test_files_of_other_tools_are_not_claimed() -> None:
    others = [path for path in CORPUS.glob("*/*") if path.is_file() and path.parent.name != "bonnie1"]
    assert folder("dd").is_dir()
    assert others
    assert [path.name for path in others if bonnie_format.looks_like(SourceText(path.read_bytes()))] == []


def test_values_that_overflowed_their_column_are_missing_and_keep_their_cpu() -> None:
    runs = {run.samples[0].file_size: run for run in read("ldp-scsi-raid-overflow.txt").runs}
    lost = value(runs[64 * M], "read")
    assert (lost.value, lost.cpu, lost.printed) == (None, 1.003, "*****")
    assert "wider" in lost.missing_reason
    assert (value(runs[512 * M], "read").value, value(runs[512 * M], "read").cpu) == (16488 * K, 0.272)
    assert value(runs[512 * M], "seek").value == 1585


def test_captions_tell_runs_apart() -> None:
    assert [run.caption for run in read("envoy-envoy.log").runs[:2]] == [
        "druid-0 : envoy bonnie reset 0", "druid-0 : envoy bonnie reset 1",
    ]  # fmt: skip


def test_versions_and_volumes_of_garloffs() -> None:
    run = read("suse-bonnie-1.3-nfs.txt").runs[0]
    assert (run.tool_version, run.target, run.workload["volumes"]) == ("1.3", ".", 1)
    assert run.labels == {"stdio": "unlocked", "sync": "sync"}
