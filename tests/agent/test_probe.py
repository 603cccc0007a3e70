"""The probe that runs as root: what it writes, how the agent takes it, and what it does not do."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from worker.agent.admin import probe
from worker.agent.conf import Mistake, boot_id

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the probe runs as root")


def written(folder: Path, **more: Any) -> dict[str, Any]:
    """Write outputs as the probe would, and return what the agent makes of them."""
    folder.mkdir(exist_ok=True)
    item = {"tool": "dmidecode", "argv": ["dmidecode"], "exit_status": 0, "stdout": "SMBIOS", "stderr": ""}
    body = {"at": time.time(), "boot_id": boot_id(), "outputs": [item]} | more
    path = folder / probe.OUTPUTS
    path.write_text(json.dumps(body))
    path.chmod(0o640)
    return probe.read_outputs(str(folder))


def test_the_unit_writes_what_its_tools_say(tmp_path: Path, pyz: Path) -> None:
    folder = tmp_path / "probe"
    done = subprocess.run(
        [sys.executable, "-I", str(pyz), "probe", "--folder", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = probe.read_outputs(str(folder))
    tools = {item["tool"] for item in found["outputs"]}
    assert {"dmidecode", "smartctl", "nvme", "mdadm", "lvs", "storcli", "ssacli", "tune2fs"} <= tools
    assert "problem" not in found
    assert (folder / probe.CONF).read_text().rstrip().endswith("allow_drop_caches = no")
    assert {path.stat().st_mode & 0o027 for path in folder.iterdir() if path.is_file()} == {0}
    assert not list((folder / "work").iterdir())


def test_its_answers_take_the_place_of_the_agents(tmp_path: Path) -> None:
    own = [
        {"tool": "dmidecode", "argv": [], "exit_status": 1, "stdout": "", "stderr": "Permission denied"},
        {"tool": "uname", "argv": [], "exit_status": 0, "stdout": "Linux", "stderr": ""},
    ]
    merged = probe.merge(own, written(tmp_path / "probe"))
    assert [item["stdout"] for item in merged] == ["SMBIOS", "Linux"]
    assert probe.merge(own, {}) == own


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"boot_id": "another"}, "another boot"),
        ({"at": time.time() - 2 * 86400}, "older than a day"),
        ({"outputs": 7}, "cannot be read"),
        ({"at": "soon"}, "cannot be read"),
    ],
)
def test_outputs_that_cannot_be_trusted_are_not_used(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    found = written(tmp_path / "probe", **more)
    assert words in found["problem"]
    assert "outputs" not in found


def test_a_file_that_others_can_write_or_that_is_not_roots_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    written(folder)
    path = folder / probe.OUTPUTS
    path.chmod(0o666)
    assert "only root can write" in probe.read_outputs(str(folder))["problem"]
    path.chmod(0o640)
    os.chown(path, 65534, 65534)
    assert "only root can write" in probe.read_outputs(str(folder))["problem"]
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    assert "only root can write" in probe.read_outputs(str(folder))["problem"]


def test_an_output_of_another_shape_is_left_out(tmp_path: Path) -> None:
    found = written(tmp_path / "probe", outputs=[{"tool": "lsblk"}, 7, {"tool": 1, "argv": [], "exit_status": 0}])
    assert found["outputs"] == []


def test_caches_are_dropped_only_if_root_allows_it(tmp_path: Path) -> None:
    folder, request = tmp_path / "probe", tmp_path / "state" / "requests" / probe.REQUEST
    request.parent.mkdir(parents=True)
    request.write_text("1")
    assert probe.drop_caches(str(request), str(folder)) == 0
    result = json.loads((folder / probe.DROPPED).read_text())
    assert (result["done"], "is not yes" in result["reason"]) == (False, True)
    assert not request.exists()
    assert probe.ask_to_drop_caches(str(tmp_path / "state"), str(folder), 0.2)["done"] is False


def test_the_answer_to_another_request_of_the_same_second_is_not_taken(tmp_path: Path) -> None:
    folder, state = tmp_path / "probe", tmp_path / "state"
    probe.drop_caches(str(tmp_path / "none"), str(folder))
    (folder / probe.CONF).write_text("allow_drop_caches = yes\n")
    answer = probe.ask_to_drop_caches(str(state), str(folder), 0.3)
    assert answer["reason"] == "the host's probe has not answered within 0 s"


def test_what_systemd_took_back_for_roots_group_is_the_agents_to_read_again(tmp_path: Path) -> None:
    folder, group = tmp_path / "probe", 65534
    probe.drop_caches(str(tmp_path / "none"), str(folder), group)
    for path in (folder, *folder.iterdir()):
        os.chown(path, 0, 0)
    probe.drop_caches(str(tmp_path / "none"), str(folder), group)
    assert {path.stat().st_gid for path in (folder, *folder.iterdir())} == {group}


def test_a_request_that_is_a_link_removes_only_the_link(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text("stays")
    request = tmp_path / probe.REQUEST
    request.symlink_to(foreign)
    probe.drop_caches(str(request), str(tmp_path / "probe"))
    assert foreign.read_text() == "stays"
    assert not request.is_symlink()


def test_a_folder_in_which_others_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "probe").symlink_to(tmp_path)
    with pytest.raises(Mistake, match="nobody else can write"):
        probe.run(str(tmp_path / "probe"))


def test_what_a_person_reads_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "probe"
    assert probe.in_words(str(folder)).startswith("not installed; what only root can read")
    written(folder)
    assert re.fullmatch(r"last run \d{4}-\d\d-\d\d \d\d:\d\d, 1 tools", probe.in_words(str(folder)))
    written(folder, boot_id="another")
    assert "another boot" in probe.in_words(str(folder))


def test_the_agent_says_whether_there_is_a_probe(tmp_path: Path) -> None:
    assert probe.describe(str(tmp_path / "none")) == {"is_there": False, "may_drop_caches": False}
    written(tmp_path / "probe")
    told = probe.describe(str(tmp_path / "probe"))
    assert (told["is_there"], "at" in told) == (True, True)
