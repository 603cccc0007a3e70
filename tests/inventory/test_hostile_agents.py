"""Whatever an agent sends, a parser answers or says why not, and the inventory is rebuilt or left alone."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.inventory.discovery.readings import PARSERS
from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.discovery.receive import receive
from apps.inventory.discovery.storage.layers import Layers
from apps.inventory.discovery.tool_values import MAX_WHOLE, UnreadableError, name, size, text, whole
from apps.inventory.discovery.tools import mdstat
from apps.inventory.discovery.tools.findmnt import discover as parse_findmnt
from apps.inventory.discovery.tools.lsblk import devices as lsblk
from apps.inventory.models import Target, ToolOutput
from apps.inventory.snapshots.content import freeze
from apps.inventory.topology.tree import topology
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.sampling import examples

SHORT = settings(max_examples=examples(60), deadline=None)
LITTLE = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
KEYS = [
    "name",
    "kname",
    "path",
    "type",
    "size",
    "pkname",
    "tran",
    "hctl",
    "rota",
    "vendor",
    "model",
    "serial",
    "wwn",
    "fstype",
    "uuid",
    "label",
    "mountpoint",
    "mountpoints",
    "maj:min",
    "min-io",
    "opt-io",
    "log-sec",
    "subsystems",
    "target",
    "source",
    "options",
    "used",
    "avail",
    "children",
    "hostname",
    "fqdn",
    "virt",
    "directory",
    "board_vendor",
]
NAMES = [
    "sda",
    "sda1",
    "sdb",
    "md0",
    "md1",
    "dm-0",
    "vg-r_rimage_0",
    "loop0",
    "nvme0n1",
    "nvme0n2",
    "/",
    "/data",
    "",
    "\0",
    "é" * 300,
]
TYPES = ["disk", "part", "raid0", "raid5", "lvm", "crypt", "mpath", "loop", "md", "zfs_member", "linux_raid_member"]
values = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.sampled_from(NAMES + TYPES),
    st.text(st.characters(codec=None), max_size=20),
)  # fmt: skip
nodes = st.recursive(
    st.dictionaries(st.sampled_from(KEYS), values, max_size=12),
    lambda children: st.builds(
        lambda node, below: node | {"children": below},
        st.dictionaries(st.sampled_from(KEYS), values, max_size=8),
        st.lists(children | values, max_size=4),
    ),
    max_leaves=12,
)
trees = st.builds(
    lambda key, top: json.dumps({key: top}),
    st.sampled_from(["blockdevices", "filesystems"]),
    st.lists(nodes | values, max_size=6),
)
md_lines = st.lists(
    st.sampled_from(
        hosts.RAID50_MDSTAT.splitlines()
        + [
            "md9 : active raid10 md9[0] sda[1](F)",
            "md3 : inactive",
            "      9999999999999999999 blocks [9/0] [____]",
            "resync=PENDING",
        ]
    )
    | st.text(max_size=40),
    max_size=12,
).map("\n".join)


@pytest.mark.slow
@pytest.mark.parametrize("tool", sorted(PARSERS))
@SHORT
@given(printed=st.one_of(st.text(st.characters(codec=None)), trees, nodes.map(json.dumps), md_lines))
def test_a_parser_answers_or_says_what_it_expected(tool: str, printed: str) -> None:
    said = ""
    try:
        PARSERS[tool](printed)
    except UnreadableError as error:
        said = str(error)
    assert not said or (said.startswith(tool) and ", expected " in said)
    said.encode()


@SHORT
@given(printed=trees, md=md_lines)
def test_any_tree_of_devices_gives_layers_that_refer_to_what_was_found(printed: str, md: str) -> None:
    try:
        block, state = lsblk.discover(printed), mdstat.discover("Personalities : \n" + md)
    except UnreadableError:
        return
    storage = Layers(block, state).storage([device.kname for device in block.devices])
    known = {("disk", n) for disk in storage.disks for n in (disk.device_name, *disk.aliases)}
    known |= {("array", array.name) for array in storage.arrays}
    for array in storage.arrays:
        assert ("array", array.name) not in {(m.layer.kind, m.layer.name) for m in array.members}
        assert {(m.layer.kind, m.layer.name) for m in array.members} <= known


@SHORT
@given(value=values | st.lists(values) | st.dictionaries(st.sampled_from(KEYS), values))
def test_values_come_out_clean_and_within_bounds(value: Any) -> None:
    for cleaned in (text(value, 10), name(value, 10)):
        cleaned.encode()
        assert len(cleaned) <= 10
        assert cleaned.isprintable() or not cleaned.isascii()
    for number in (whole(value), size(value)):
        assert number is None or 0 <= number <= MAX_WHOLE


@pytest.mark.slow
@pytest.mark.services
@LITTLE
@given(block=trees, mounts=trees, md=md_lines, facts=nodes.map(json.dumps))
def test_any_outputs_together_leave_an_inventory_that_can_be_shown_and_frozen(
    lab: Lab, block: str, mounts: str, md: str, facts: str
) -> None:
    host = hosts.host(lab, f"h{ToolOutput.objects.count()}-{hash((block, mounts, md, facts))}")
    texts = {"lsblk": block, "findmnt": mounts, "mdstat": md, "machine": facts}
    receive(host, [hosts.output(*item) for item in texts.items()])
    rebuild(host)  # not caught, as receive would
    topology(host)
    for target in Target.objects.filter(host=host):
        freeze(target)


@pytest.mark.slow
@pytest.mark.services
def test_four_mebibytes_of_devices_are_read_in_bounded_time(lab: Lab) -> None:
    devices = [{"kname": f"md{i}", "type": "raid1", "pkname": f"md{i - 1}"} for i in range(60_000)]
    host = hosts.host(lab)
    receive(host, [hosts.output("lsblk", json.dumps({"blockdevices": devices}))])
    assert "the rest was not read" in ToolOutput.objects.get().problem


def test_the_deepest_tree_that_json_reads_is_read() -> None:
    deep = '{"filesystems": [' + '{"target": "/a", "children": [' * 300 + "]}" * 300 + "]}"
    assert len(parse_findmnt(deep).mounts) == 1
