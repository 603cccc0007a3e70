"""`zpool status` as people bring it: text, a page's text without tabs, JSON, one pool of several."""

import json

import pytest

from apps.inventory.discovery.looks import look_of
from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array
from apps.labs.models import Lab
from tests.inventory import hosts
from tests.inventory.brought import BroughtText
from tests.sampling import for_each

DISKS = "NAME   TYPE\nsdj    disk\n`-sdj1 part\nsdk    disk\n`-sdk1 part\nsdl    disk\n"
STATUS = """\
  pool: depot
 state: DEGRADED
status: One or more devices could not be used because the label is missing or
\tinvalid.
config:

\tNAME        STATE     READ WRITE CKSUM
\tdepot       DEGRADED     0     0     0
\t  mirror-0  DEGRADED     0     0     0
\t    sdj1    ONLINE       0     0     0
\t    sdk1    FAULTED      0     0     0  too many errors
\tspares
\t  sdl       AVAIL

errors: No known data errors
"""
OTHER = (
    STATUS.replace("depot       DEGRADED", "vault       ONLINE  ").replace("depot", "vault").replace("mirror", "raidz2")
)


def vdev(name: str, state: str, **more: object) -> dict[str, object]:
    return {"name": name, "vdev_type": "disk", "state": state, **more}


PARTS = {"sdj1": vdev("sdj1", "ONLINE", path="/dev/sdj1"), "sdk1": vdev("sdk1", "FAULTED", path="/dev/sdk1")}
ROOT = vdev("depot", "DEGRADED", vdevs={"mirror-0": vdev("mirror-0", "DEGRADED", vdevs=PARTS)})
POOL = {
    "name": "depot",
    "state": "DEGRADED",
    "vdevs": {"depot": ROOT},
    "spares": {"sdl": vdev("sdl", "AVAIL", path="/dev/sdl")},
}
JSON = json.dumps({"output_version": {"command": "zpool status"}, "pools": {"depot": POOL}}, indent=1) + "\n"


@for_each("printed", [STATUS, STATUS.expandtabs(8), JSON, "".join(f"    {line}\n" for line in STATUS.splitlines()),
                      f"<pre>\n{STATUS.expandtabs(8)}</pre>\n"])  # fmt: skip
def test_a_pool_is_read_with_its_vdevs_and_spares(printed: str) -> None:
    text = BroughtText(f"$ lsblk -o NAME,TYPE\n{DISKS}\n$ zpool status\n{printed}")
    pool, mirror = text.arrays["depot"], text.arrays["depot mirror-0"]
    assert (pool.software, pool.state, mirror.level, mirror.state) == ("ZFS", "degraded", "1", "degraded")
    assert text.members("depot mirror-0") == [("sdj", "sdj1", "in sync"), ("sdk", "sdk1", "faulty")]
    assert text.members("depot") == [("depot mirror-0", "", "in sync"), ("sdl", "", "spare")]
    assert "pool depot degraded" in [one.summary for one in text.file.inventory]


def test_pools_that_could_be_imported_are_none_of_the_host() -> None:
    text = BroughtText(STATUS.replace(" state: DEGRADED\n", "     id: 1234567890\n  state: ONLINE\n", 1))
    assert text.arrays == {}
    assert text.file.error is not None
    assert text.file.error.message.startswith("zpool import prints this")


@for_each(
    "command, is_whole",
    [("zpool status", True), ("zpool status -LPv", True), ("zpool status depot", False), ("zpool status -x", False)],
)
def test_one_pool_is_a_partial_look(command: str, is_whole: bool) -> None:
    assert look_of("zpool", command.split(), "").is_whole is is_whole


@pytest.mark.django_db
def test_one_pool_says_nothing_of_another(lab: Lab) -> None:
    host = hosts.host(lab)
    whole = BroughtText(f"$ lsblk -o NAME,TYPE\n{DISKS}\n$ zpool status\n{STATUS}\n{OTHER}")
    assert [one.summary for one in whole.file.inventory if one.tool == "zpool"] == [
        "pool depot degraded, pool vault online"
    ]
    receive(host, [vars(one) for one in whole.outputs.values()])
    assert Array.objects.filter(is_present=True).count() == 4
    receive(host, [vars(one) for one in BroughtText(f"$ zpool status depot\n{STATUS}").outputs.values()])
    assert Array.objects.filter(is_present=True).count() == 4
