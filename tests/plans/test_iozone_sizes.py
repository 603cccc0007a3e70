"""The sizes behind a command of IOzone, held against real output of its automatic mode and the Thumper report's plans."""

import re

import pytest

from apps.labs.isolation import all_labs
from apps.plans.iozone_sizes import KIB, MIB, read_sizes
from apps.plans.published_procedure import explain_no_repeat, repeat
from apps.studies.models import Plan
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import plan_of
from tests.parsers.corpus import folder

GIB = 1 << 30


def test_the_automatic_mode_doubles_files_and_records() -> None:
    sizes = read_sizes("iozone -a -g 1G -i 0 -i 1 -i 2")
    assert sizes is not None
    assert len(sizes.pairs) == 135
    assert sizes.pairs[:6] == tuple((64 * KIB, KIB << power) for power in range(2, 7)) + ((128 * KIB, 4 * KIB),)
    records = [record for file, record in sizes.pairs if file == 16 * MIB]
    assert (records[0], records[-1], len(records)) == (4 * KIB, 16 * MIB, 13)
    records = [record for file, record in sizes.pairs if file == 32 * MIB]
    assert (records[0], records[-1], len(records)) == (64 * KIB, 16 * MIB, 9)
    assert max(file for file, _ in sizes.pairs) == GIB
    assert "64 KiB on, records from 4 KiB to 16 MiB" in sizes.rule


def test_real_output_of_the_automatic_mode_has_just_these_sizes() -> None:
    """Each line of a table of IOzone 3.327, and the command that its head names."""
    text = (folder("iozone") / "comparator-ext4_3.iozone").read_text()
    numbers = [line.split() for line in text.splitlines() if re.match(r" +\d+ +\d+ +\d+", line)]
    measured = [(int(file) * KIB, int(record) * KIB) for file, record, *_ in numbers]
    command = text.partition("Command line used: ")[2].partition("\n")[0]
    sizes = read_sizes(command)
    assert sizes is not None
    assert list(sizes.pairs) == measured
    assert len(measured) == 163


@pytest.mark.parametrize(
    ("command", "first", "last", "count"),
    [
        ("iozone -a", (64 * KIB, 4 * KIB), (512 * MIB, 16 * MIB), 126),
        ("/opt/iozone/bin/iotzone -a -g 500M", (64 * KIB, 4 * KIB), (256 * MIB, 16 * MIB), 117),
        ("iozone -a -n 9G -g 9G -q 256 -y 256", (9 * GIB, 256 * KIB), (9 * GIB, 256 * KIB), 1),
        ("iozone -a -z -n 32m -g 32m", (32 * MIB, 4 * KIB), (32 * MIB, 16 * MIB), 13),
        ("iozone -a -n 1024 -g 2m -y 64k", (MIB, 64 * KIB), (2 * MIB, 2 * MIB), 11),
        ("iozone -t 10", (512 * KIB, 4 * KIB), (512 * KIB, 4 * KIB), 1),
    ],
)
def test_bounds_of_the_command(command: str, first: tuple[int, int], last: tuple[int, int], count: int) -> None:
    sizes = read_sizes(command)
    assert sizes is not None
    assert (sizes.pairs[0], sizes.pairs[-1], len(sizes.pairs)) == (first, last, count)


@pytest.mark.parametrize(
    "command", ["", "bonnie -a", "iozone -s 1g -r 4k", "iozone -a -g much", "iozone 'a", "iozone -g 1G", "iozone x",
                "iozone -a -n 2G -g 1G", "iozone -a -g 0", "iozone -Ra", "iozone -s1g -r64k"],
)  # fmt: skip
def test_other_commands_have_no_such_sizes(command: str) -> None:
    assert read_sizes(command) is None


def thumper(name: str) -> Plan:
    return Plan.objects.whole().get(study__slug="thumper-x4500", name=name, is_from_report=True)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("all_loaded")
def test_thumpers_matrix_is_repeated_as_a_whole() -> None:
    with all_labs():
        plan = thumper("iozone-ext")
        assert explain_no_repeat(plan) == ""
        procedure = repeat(plan, is_scaled=False)
        assert len(procedure.points) == 135 * 4
        assert {point["job"]["rw"] for point in procedure.points} == {"write", "read", "randwrite", "randread"}
        assert len({point["name"] for point in procedure.points}) == 540
        remarks = " ".join(procedure.remarks)
        assert "IOzone's automatic mode" in remarks
        assert "fio has no such operation: reread, rewrite" in remarks
        assert "no block size" not in remarks
        written = {"name": "again", "title": "Again", "stopping": {"kind": "fixed", "rounds": 1}}
        rows = [{"name": "a", "label": "A", "reason": "none"}]
        assert len(plan_of({**written, "points": procedure.points, "configurations": rows}).points) == 540
        writes = repeat(plan, is_scaled=False, operations=["write"])
        assert len(writes.points) == 135
        assert "only these are taken over: write." in " ".join(writes.remarks)
        with pytest.raises(PlanError, match="some of write, read, randread, randwrite"):
            repeat(plan, is_scaled=False, operations=["randrw"])
        scaled = {point.get("ram_multiple") for point in repeat(plan, is_scaled=True, operations=["write"]).points}
        assert scaled == {None, 0.02, 0.03, 0.06, 0.12}, "what is below 1 % of 8 GiB stays in bytes"
        throughput = repeat(thumper("throughput"), is_scaled=False)
        assert {(point["file_size"], point["block_size"], point["threads"]) for point in throughput.points} == {
            (512 * KIB, 4 * KIB, 10)
        }
        assert "in records of 4 KiB" in " ".join(throughput.remarks)
