"""The look at the machine: only commands that show, bounded, beside the polls, and silent about what only ticks."""

import json
import os
import re
import stat
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, until, workload
from worker.agent import inventory
from worker.agent.conf import Conf, defaults
from worker.agent.inventory_scan import InventoryScan, Refusals

WRITES = re.compile(
    r"\b(?:create|delete|remove|add|set|start|stop|clear|init|erase|format|flash|restore|import|export|destroy|mkfs|grow|fail|wake|-w|-s|-f|-y|force)\b",
    re.IGNORECASE,
)


def all_lines() -> list[str]:
    lines = [line for _, lines in inventory.ONE_OF for line in lines]
    return lines + [
        f"{program} {show}" for _, programs, shows in inventory.RAID for program in programs for show in shows
    ]


def test_every_command_only_shows() -> None:
    assert len(all_lines()) > 40
    for line in all_lines():
        assert not WRITES.search(line.replace("-fmt", "")), line
    assert all("nolog" in line for line in all_lines() if line.startswith(("storcli", "perccli")))
    assert all("-NoLog" in line for line in all_lines() if line.lower().startswith("megacli"))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`program("smartctl", "echo hello")` puts a tool of that name before all others."""
    monkeypatch.setitem(inventory.TOOL_ENV, "PATH", f"{tmp_path}:{inventory.TOOL_ENV['PATH']}")

    def made(name: str, script: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return made


def test_a_tool_that_prints_without_end_is_cut_and_one_that_hangs_is_ended(program: Any, tmp_path: Path) -> None:
    folder = str(tmp_path)
    program("endless", "exec cat /dev/zero")
    program("hangs", "sleep 60")
    found = inventory.run_tool(["endless"], 30, folder)
    assert len(found["stdout"]) == inventory.LONGEST_OUTPUT
    begin = time.monotonic()
    assert inventory.run_tool(["hangs"], 0.2, folder)["exit_status"] == 124
    assert time.monotonic() - begin < 5
    assert inventory.run_tool(["endless"], 0, folder)["stderr"] == "no time was left for it"


def test_drives_are_asked_without_waking_them_and_odd_names_not_at_all(program: Any, tmp_path: Path) -> None:
    program(
        "smartctl",
        'case "$1" in --scan) echo "/dev/sda -d scsi # x"; echo "/dev/bus/0 -d megaraid,3 # x"; echo "/dev/x;reboot -d scsi # x";;'
        ' --help) echo "  -j, --json";; *) echo "{\\"asked\\": \\"$*\\"}";; esac',
    )
    found = inventory.smartctl(inventory.ToolClock(), str(tmp_path))
    assert found["argv"] == [
        "smartctl -j -i -H -n standby /dev/sda",
        "smartctl -j -i -H -n standby -d megaraid,3 /dev/bus/0",
    ]
    assert found["stdout"].splitlines()[1] == '{"asked": "-j -i -H -n standby /dev/sda"}'


def test_what_only_ticks_does_not_change_the_digest() -> None:
    def look(**texts: str) -> str:
        return inventory.digest([{"tool": name, "exit_status": 0, "stdout": text} for name, text in texts.items()])

    still = look(
        smartctl='"time_t": 1,\n"serial_number": "A"',
        storcli='"ROC temperature" : 51,\n"Size" : "1 TB"',
        tune2fs="Mount count: 4\nBlock size: 1",
    )
    assert still == look(
        smartctl='"time_t": 2,\n"serial_number": "A"',
        storcli='"ROC temperature" : 60,\n"Size" : "1 TB"',
        tune2fs="Mount count: 5\nBlock size: 1",
    )
    assert still != look(
        smartctl='"time_t": 1,\n"serial_number": "B"',
        storcli='"ROC temperature" : 51,\n"Size" : "1 TB"',
        tune2fs="Mount count: 4\nBlock size: 1",
    )


def test_a_message_that_is_too_large_leaves_the_last_out_and_says_so() -> None:
    outputs = [{"tool": name, "stdout": "x" * 10, "exit_status": 0, "stderr": ""} for name in "abc"]
    assert [(one["tool"], len(one["stdout"]), one["exit_status"]) for one in inventory.within(outputs, 20)] == [
        ("a", 10, 0),
        ("b", 10, 0),
        ("c", 0, 1),
    ]


def test_a_run_that_is_offered_does_not_wait_for_the_look(host: Host, server: FakeServer) -> None:
    attempt = server.offer(workload(job(ioengine="psync")))
    host.start()
    assert host.ended(attempt) == "finished"
    until(lambda: server.inventories, "the inventory")
    outputs = {output["tool"]: output for output in server.inventories[0]["outputs"]}
    assert json.loads(outputs["sysfs"]["stdout"])["block"] is not None
    assert outputs["sysctl"]["stdout"].startswith("net.core.rmem_max = ")


def test_a_look_writes_only_below_the_agents_folder_and_a_killed_one_leaves_nothing(
    program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    state.mkdir()
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    program("lsblk", "readlink /proc/$$/fd/1 /proc/$$/fd/2 > log; exec sleep 60")  # as arcconf leaves a log
    look = InventoryScan(str(state), "http://127.0.0.1:1", {}, Conf(defaults(str(tmp_path))), Refusals(str(state)))
    look.start()
    log = state / "look" / "log"
    try:
        until(lambda: log.exists() and len(log.read_text().splitlines()) == 2, "the tool's start")
        assert log.parent.stat().st_mode & 0o777 == 0o700
        assert all(line.startswith(f"{log.parent}/") for line in log.read_text().splitlines())
        assert os.listdir(elsewhere) == []
    finally:
        look.stop()
    assert os.listdir(state) == os.listdir(elsewhere) == []


def test_an_agent_clears_what_the_look_of_a_killed_one_has_left(host: Host) -> None:
    left = host.state / "look" / "UcliEvt.log"
    left.parent.mkdir()
    left.write_text("old")
    host.server = SimpleNamespace(address="http://127.0.0.1:1")  # type: ignore[assignment]  # so it does not look
    host.start()
    until(lambda: not left.parent.exists(), "removal of the folder")
