"""What is fetched from outside: whole, or not at all, and in one sentence when it cannot be had."""

import ast
import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from bin._lib import assets, machine, packages
from bin._lib.console import Console, Step, Trouble, run_logged
from bin._lib.layout import ROOT
from bin._lib.machine import how_to_install, way_out
from bin._lib.packages import NETWORK_WORDS, why_pip_failed
from tests.bin.conftest import lend_environment, make_checkout
from tests.bin.launcher import Launcher

NOWHERE = "http://127.0.0.1:9"
NO_NETWORK = {
    "PIP_INDEX_URL": f"{NOWHERE}/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_CACHE_DIR": "1",
    "PIP_DEFAULT_TIMEOUT": "1",
    "PIP_RETRIES": "0",
    "HTTPS_PROXY": NOWHERE,
    "HTTP_PROXY": NOWHERE,
}


@pytest.mark.slow
def test_no_network_is_one_sentence_and_the_next_start_begins_anew(short_folder: Path) -> None:
    checkout = make_checkout(short_folder / "spindle")
    with Launcher(checkout) as launcher:
        status, said = launcher.ended(launcher.up("--port", "0", env=NO_NETWORK))
    assert status == 1
    assert "The Python packages could not be fetched; check the network" in said
    assert "Traceback" not in said
    assert (checkout / ".venv" / "spindle-making").exists(), "a half-made environment is known as such"
    assert not (checkout / ".venv" / "spindle-stamp.json").exists()


@pytest.mark.slow
def test_ctrl_c_while_packages_are_fetched_leaves_nothing_behind(short_folder: Path) -> None:
    """pip is told to ask an index that takes the call and never answers."""
    checkout, temporary = make_checkout(short_folder / "spindle"), short_folder / "tmp"
    temporary.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent, Launcher(checkout) as launcher:
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        env = {**NO_NETWORK, "PIP_INDEX_URL": index, "PIP_DEFAULT_TIMEOUT": "60", "HTTP_PROXY": "", "HTTPS_PROXY": ""}
        up = launcher.up("--port", "0", env={**env, "TMPDIR": str(temporary)})
        silent.settimeout(60)
        with silent.accept()[0]:
            assert any((checkout / "var" / "setup" / "pip").iterdir()), "pip unpacks where it is tidied up"
            status, said, _ = launcher.stop(up)
    assert (status, said.strip().split("\n")[-1]) == (130, "Stopped before it was ready; run bin/up again to go on.")
    assert not (checkout / "var" / "setup" / "pip").exists()
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_no_npm_is_one_sentence_and_leaves_no_assets(short_folder: Path) -> None:
    checkout = make_checkout(short_folder / "spindle")
    lend_environment(checkout)
    (checkout / "static" / "vendor" / ".stamp").write_text("of an older lock file")
    with Launcher(checkout) as launcher:
        dead = {"npm_config_registry": "http://127.0.0.1:9/", "npm_config_cache": str(short_folder / "empty")}
        status, said = launcher.ended(launcher.up("--port", "0", env=dead))
    assert status == 1
    assert "The browser assets could not be fetched from npm; check the network" in said
    assert "Traceback" not in said
    assert not list((checkout / "static" / "vendor").glob("*.js"))
    assert not (checkout / "static" / "vendor.making").exists()
    assert not (checkout / "var" / "setup" / "npm").exists()


def test_pip_failures_have_their_own_sentences() -> None:
    assert "disk filled up" in why_pip_failed("ERROR: No space left on device")
    assert "differs from the locked one" in why_pip_failed("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES")
    assert all("check the network" in why_pip_failed(word) for word in NETWORK_WORDS)
    assert "pip failed: ERROR: odd" in why_pip_failed("more\nERROR: odd\n")


def test_every_asset_is_there_and_points_to_no_source_map() -> None:
    for name in assets.FILES:
        assert b"sourceMappingURL" not in (assets.VENDOR / name).read_bytes()


def test_the_npm_lock_names_no_address_to_fetch_from() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert all("resolved" not in package for package in lock["packages"].values())
    wanted = json.loads((ROOT / "package.json").read_text())["dependencies"]
    assert {name: lock["packages"][f"node_modules/{name}"]["version"] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("root", "sudo", "lists", "command"),
    [
        (True, True, True, "apt-get install fio"),
        (False, True, True, "sudo apt-get install fio"),
        (False, True, False, "sudo apt-get update && sudo apt-get install fio"),
        (False, False, False, "su - -c 'apt-get update && apt-get install fio'"),
    ],
)
def test_a_missing_system_package_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: bool, sudo: bool, lists: bool, command: str
) -> None:
    monkeypatch.setattr(machine, "is_root", lambda: root)
    monkeypatch.setattr(machine, "manager", lambda: "apt-get")
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/sudo" if sudo and name == "sudo" else None)
    monkeypatch.setattr(machine, "APT_LISTS", tmp_path)
    if lists:
        (tmp_path / "deb.example.org_dists_bookworm_main_binary-amd64_Packages.lz4").touch()
    assert how_to_install("fio") == command
    assert ("installing it failed" in way_out("fio")) == root


def test_a_package_manager_is_not_cut_short(tmp_path: Path) -> None:
    def stopped(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stopped)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            run_logged(["/bin/sh", "-c", f"sleep 1; touch {tmp_path}/whole"], tmp_path / "log", whole=True)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert (tmp_path / "whole").exists()


def test_a_python_without_venv_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(machine, "manager", lambda: "apt-get")
    monkeypatch.setattr(machine, "install", lambda package, step: False)
    with pytest.raises(Trouble, match=r"no venv module; .*apt-get install python3\.\d+-venv.*, then run this again"):
        packages.need_ensurepip(Step(Console(1)))


def test_absent_tools_of_filesystems_are_installed_for_the_long_form(monkeypatch: pytest.MonkeyPatch) -> None:
    there, step = {"mkfs.btrfs"}, Step(Console(1))

    def install(package: str, step: Step) -> bool:
        there.update(name for name, brings in machine.MKFS.items() if brings == package)
        return True

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/sbin/{name}" if name in there else None)
    monkeypatch.setattr(machine, "install", install)
    machine.ensure_mkfs(step)
    assert step.note == "mkfs.xfs, mkfs.btrfs"
    monkeypatch.setattr(machine, "install", lambda package, step: False)
    there.clear()
    machine.ensure_mkfs(step)
    assert step.note == "none"


@pytest.mark.parametrize("name", ["up", "test"])
def test_an_old_python_can_read_the_sentence_about_its_age(name: str) -> None:
    ast.parse((ROOT / "bin" / name).read_text(), feature_version=(3, 4))
    for old in filter(None, map(shutil.which, ("python3.6", "python3.8", "python3.10"))):
        done = subprocess.run([old, str(ROOT / "bin" / name)], capture_output=True, text=True, check=False)
        if "pyenv" not in done.stderr:  # a name that pyenv knows and has not chosen
            assert done.returncode == 1
            assert "needs Python 3.11 or later and this is Python 3." in done.stderr
