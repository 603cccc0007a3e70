"""A hostile agent: whatever a tool of its host prints, the server answers, and no other host or lab changes.

Short in plain `bin/test`; SPINDLE_FUZZ_SECONDS=30 gives each tool 30 s, and SPINDLE_LONG=1 shares ten minutes among all.
"""

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from apps.inventory.discovery.readings import PARSERS
from apps.inventory.discovery.rebuild import rebuild
from apps.inventory.discovery.receive import receive
from apps.inventory.discovery.tool_values import UnreadableError
from apps.inventory.models import Array, Disk, Host
from apps.inventory.topology.tree import topology
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.conftest import Cast
from tests.inventory import hosts, raid_hosts
from tests.inventory.discovery_seeds import texts
from tests.pace import within
from tests.parsers.hostile import BENDS, bent
from tests.parsers.test_fuzz_parsers import inputs
from tests.sampling import IS_LONG, for_each, sample

ROOT = Path(__file__).resolve().parents[2]
TOOLS = sorted(PARSERS)
SECONDS = float(os.environ.get("SPINDLE_FUZZ_SECONDS", 600 / len(TOOLS) if IS_LONG else 0))
SLOWEST_S = 2.0
MEMORY = 256 << 20
MEBIBYTE = 1 << 20


def fuzz(examples: int) -> Any:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


def again(tool: str, check: Callable[[bytes], None], examples: int) -> None:
    """Until the seconds are over, or once."""
    end, number = time.monotonic() + SECONDS, 0
    while not number or time.monotonic() < end:
        made = given(inputs(texts(tool) or (b"nothing\n",)))(lambda data: check(data))
        seeded(number)(fuzz(60 if SECONDS else examples)(made))()
        number += 1


def tried(tool: str, printed: str) -> None:
    said = ""
    try:
        PARSERS[tool](printed)
    except UnreadableError as error:
        said = str(error)
    assert not said or ", expected " in said
    said.encode()


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


@for_each("tool", TOOLS)
def test_nothing_that_hypothesis_makes_breaks_a_reader(tool: str) -> None:
    again(tool, lambda data: tried(tool, text_of(data)), 8)


@pytest.mark.slow
@for_each("tool", TOOLS, number=8)
def test_a_mebibyte_of_anything_is_read_in_two_seconds_and_256_mib(tool: str) -> None:
    seeds = texts(tool) or (b"nothing\n",)
    for bend in BENDS if IS_LONG or SECONDS else ("repeated",):
        data = bent(max(seeds, key=len), bend)[:MEBIBYTE]
        data = (data * (MEBIBYTE // max(1, len(data)) + 1))[:MEBIBYTE]
        before = time.process_time()
        tried(tool, text_of(data))
        assert within(time.process_time() - before, SLOWEST_S), bend
    if IS_LONG:
        tracemalloc.start()
        tried(tool, text_of((max(seeds, key=len) * (MEBIBYTE // 64))[:MEBIBYTE]))
        assert tracemalloc.get_traced_memory()[1] < MEMORY
        tracemalloc.stop()


def everything_of(host: Host) -> list[Any]:
    return [list(model._default_manager.filter(host=host).order_by("pk").values()) for model in (Disk, Array)]


@pytest.mark.slow
@pytest.mark.services
@pytest.mark.django_db
def test_any_output_of_a_tool_leaves_this_host_showable_and_the_others_alone(lab: Lab, cast: Cast) -> None:
    """Beside a whole good look: the reading of one tool meets those of the others."""
    victim, host = hosts.host(lab, "victim"), hosts.host(lab, "hostile")
    receive(victim, hosts.raid50())
    with lab_scope(cast.other_lab.pk):
        foreign = Host.objects.create(lab=cast.other_lab, name="foreign")
    receive(foreign, raid_hosts.megaraid())
    with lab_scope(cast.other_lab.pk):
        before = everything_of(foreign)
    mine = everything_of(victim)

    def check(tool: str, data: bytes) -> None:
        with transaction.atomic():
            good = [one for one in raid_hosts.megaraid(serials="H") if one["tool"] != tool]
            receive(host, [*good, hosts.output(tool, text_of(data))])
            rebuild(host)  # not caught, as receive would
            topology(host)
            with lab_scope(cast.other_lab.pk):
                assert everything_of(foreign) == before
            assert [row["id"] for row in everything_of(victim)[1]] == [row["id"] for row in mine[1]]
            transaction.set_rollback(True)

    for tool in sample(TOOLS, 8):
        again(tool, partial(check, tool), 2)


@pytest.mark.services
@pytest.mark.django_db
def test_serials_stolen_through_a_raid_tool_take_no_disk_that_its_host_still_shows(lab: Lab) -> None:
    """A disk goes where it was seen last; the next look of its own host takes it back, with what people wrote on it."""
    victim, thief = hosts.host(lab, "victim"), hosts.host(lab, "thief")
    receive(victim, hosts.raid50())
    stolen = Disk.objects.get(device_name="sda")
    stolen.notes = "mine"
    stolen.save()
    text = raid_hosts.storcli().replace("Z1Z00000", stolen.serial).replace("5000C50000000000", stolen.wwn[2:])
    receive(thief, [hosts.output("storcli", text)])
    receive(victim, hosts.raid50(hosts.RAID50_MDSTAT + "\n"))
    receive(victim, [hosts.output("lsblk", hosts.raid50()[0]["stdout"] + " ")])
    stolen.refresh_from_db()
    assert (stolen.host, stolen.device_name, stolen.notes) == (victim, "sda", "mine")
    assert Array.objects.get(host=victim, name="md0").members.count() == 3


@pytest.mark.slow
def test_huge_counts_are_capped() -> None:
    [card] = PARSERS["storcli"](raid_hosts.storcli(each=2100)).cards  # 4,200 drives in 4 MB
    assert len(card.drives) == 4096
    rows = "\n".join(
        f"u{n}    RAID-5    OK             -       -       256K    5587.9    RiW    ON" for n in range(5000)
    )
    [other] = PARSERS["tw_cli"](
        f"Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy\n{rows}\n"
    ).cards
    assert len(other.volumes) == 1024
    many = "".join(f"Smart Array P{n} in Slot {n}\n   Slot: {n}\n" for n in range(500))
    assert len(PARSERS["ssacli"](many).cards) == 64


@pytest.mark.slow
@pytest.mark.long
def test_nothing_that_atheris_makes_breaks_a_reader() -> None:
    share = ["--seconds", str(SECONDS * len(TOOLS))] if SECONDS else ["--runs", "60"]
    command = [sys.executable, "-m", "tests.fuzz.atheris_discovery", *share]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=SECONDS * len(TOOLS) * 3 + 300
    )
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    assert "failed: none" in done.stdout
