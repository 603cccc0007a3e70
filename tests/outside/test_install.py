"""The line of *Add a host*, pasted on a host: `/etc`, `/opt`, `/var/lib` and `/srv` are copies that only this host's processes see, and
`systemctl` only writes down what it was told.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.outside.hosts import install_line
from tests.outside.product import Client, Product

pytestmark = [
    pytest.mark.outside,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="a host of its own needs mounts"),
]
SCRATCH = """
set -e
cp -a /etc "$1/etc"; mkdir "$1/opt" "$1/lib" "$1/srv" "$1/run" "$1/run/systemd" "$1/run/systemd/system" 2>/dev/null
mount --make-rprivate /
mount --bind "$1/etc" /etc; mount --bind "$1/opt" /opt; mount --bind "$1/lib" /var/lib; mount --bind "$1/srv" /srv; mount --bind "$1/run" /run
"""
PLAIN = "/usr/sbin:/usr/bin:/sbin:/bin"


class Machine:
    """A mount namespace with a shell in it; what is done there stays there."""

    def __init__(self, folder: Path, *without: str) -> None:
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        for name in without:  # it is there, and as good as absent
            (tools / name).write_text("#!/bin/sh\nexit 127\n")
        (tools / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {folder}/systemctl\n')
        for one in tools.iterdir():
            one.chmod(0o755)
        root = folder / "root"
        root.mkdir()
        script = (
            SCRATCH
            + f'head -c 16 /dev/urandom | od -An -tx1 | tr -d " \\n" > /etc/machine-id; touch {folder}/ready; exec sleep 600'
        )
        self.process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "-", str(root)])
        self.path = f"{tools}:{PLAIN}"
        end = time.monotonic() + 30
        while not (folder / "ready").exists() and time.monotonic() < end:
            time.sleep(0.05)

    def sh(self, text: str, **env: str) -> subprocess.CompletedProcess[str]:
        """The text is typed, not given on a command line."""
        argv = ["nsenter", "-m", "-t", str(self.process.pid), "env", "-i", f"PATH={self.path}", "HOME=/srv/home", "sh"]
        return subprocess.run(
            argv, input=text, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **env}
        )

    def look(self, text: str) -> str:
        done = self.sh(text)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def told(self) -> list[str]:
        path = self.folder / "systemctl"
        return path.read_text().splitlines() if path.exists() else []

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    tmp_path.chmod(0o755)
    one = Machine(tmp_path)
    yield one
    one.close()


def _with(line: str, *words: str) -> str:
    return f"{line} -s -- {' '.join(words)}"


def test_the_line_installs_enrols_and_says_how_it_goes_on(machine: Machine, owner: Client) -> None:
    line, token = install_line(owner)
    seen: list[str] = []
    done = threading.Event()

    def look_at_command_lines() -> None:
        while not done.is_set():
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if token.encode() in entry.read_bytes():
                        seen.append(str(entry))
                except OSError:
                    pass

    watcher = threading.Thread(target=look_at_command_lines)
    watcher.start()
    try:
        said = machine.sh(line)
    finally:
        done.set()
        watcher.join()
    assert said.returncode == 0, said.stdout + said.stderr
    assert not seen
    assert "Enrolled as" in said.stderr
    assert "has to approve it" in said.stderr
    assert machine.told == ["daemon-reload", "enable spindle-agent.service", "restart spindle-agent.service"]
    assert machine.look(
        "stat -c '%U %a' /var/lib/spindle-agent /var/lib/spindle-agent/files /opt/spindle/agent.pyz"
    ) == ("spindle-agent 700\nspindle-agent 700\nroot 755")
    assert machine.look("stat -c %a /var/lib/spindle-agent/identity.json") == "600"

    again = machine.sh(install_line(owner)[0])
    assert again.returncode == 0, again.stderr
    assert "enrolled already" in again.stdout
    assert machine.told[-1] == "restart spindle-agent.service"


@pytest.mark.parametrize("without", [("curl",), ("curl", "wget")])
def test_curl_and_wget_may_be_absent(tmp_path: Path, owner: Client, without: tuple[str, ...]) -> None:
    tmp_path.chmod(0o755)
    machine = Machine(tmp_path, *without)
    try:
        said = machine.sh(install_line(owner)[0])
        assert said.returncode == 0, said.stdout + said.stderr
        assert "Enrolled as" in said.stderr
    finally:
        machine.close()


def test_what_was_there_keeps_its_owner_and_mode(machine: Machine, owner: Client) -> None:
    look = "stat -c '%n %U %G %a' /srv/pool /srv/pool/old /srv /opt /var/lib"
    machine.look("mkdir -m 750 /srv/pool; echo x > /srv/pool/old; chmod 755 /srv/pool; chgrp daemon /srv/pool")
    before = machine.look(look)
    said = machine.sh(_with(install_line(owner)[0], "/srv/pool"))
    assert said.returncode == 0, said.stdout + said.stderr
    assert machine.look(look) == before
    assert "Test files go to /srv/pool/spindle-agent" in said.stdout
    assert machine.look("stat -c '%U %a' /srv/pool/spindle-agent") == "spindle-agent 700"
    assert "directory = /srv/pool/spindle-agent" in machine.look("cat /var/lib/spindle-agent/agent.conf")
    assert "/srv/pool/spindle-agent" in machine.look("cat /etc/systemd/system/spindle-agent.service.d/files.conf")


def test_a_new_directory_is_the_agents(machine: Machine, owner: Client) -> None:
    said = machine.sh(_with(install_line(owner)[0], "/srv/new/deep"))
    assert said.returncode == 0, said.stdout + said.stderr
    assert machine.look("stat -c '%U %a' /srv/new /srv/new/deep") == "root 755\nspindle-agent 700"


def test_somebody_elses_directory_is_refused_and_stays_his(machine: Machine, owner: Client) -> None:
    machine.look("mkdir /srv/his; chown nobody /srv/his")
    said = machine.sh(_with(install_line(owner)[0], "/srv/his"))
    assert said.returncode != 0
    assert "/srv/his belongs to the account nobody" in said.stderr
    assert machine.look("stat -c %U /srv/his") == "nobody"
    assert machine.told == []


@pytest.mark.parametrize("place", ["/var/lib/spindle-agent", "/opt/spindle"])
def test_folders_of_the_agents_name_that_are_somebody_elses_end_it(machine: Machine, owner: Client, place: str) -> None:
    machine.look(f"mkdir -m 711 {place}; chown nobody {place}; ln -s /etc/passwd {place}/agent.pyz.new")
    said = machine.sh(install_line(owner)[0])
    assert said.returncode != 0
    assert f"{place} is there and belongs to nobody" in said.stderr
    assert machine.look(f"stat -c '%U %a' {place}") == "nobody 711"
    assert machine.look("head -c 5 /etc/passwd") == "root:"


@pytest.mark.parametrize("place", ["relative", "/srv/a b", "/srv/../etc", "/home/me/files", "/tmp/files", "/srv/x%n"])
def test_a_directory_that_cannot_work_is_refused_in_words(machine: Machine, owner: Client, place: str) -> None:
    said = machine.sh(_with(install_line(owner)[0], f"'{place}'"))
    assert said.returncode != 0
    assert place in said.stderr
    assert machine.told == []


def test_without_a_token_it_says_so(machine: Machine, product: Product) -> None:
    said = machine.sh(f"curl -fsS {product.url}agent/install.sh | sh")
    assert said.returncode != 0
    assert "SPINDLE_ENROL_TOKEN" in said.stderr


def test_without_systemd_everything_is_below_the_home_folder(machine: Machine, owner: Client) -> None:
    machine.look("rmdir /run/systemd/system; mkdir -p /srv/home")
    said = machine.sh(install_line(owner)[0])
    assert said.returncode == 0, said.stdout + said.stderr
    assert "Start it with:  python3 /srv/home/.local/share/spindle/agent.pyz run" in said.stdout
    assert machine.told == []
    assert machine.look("ls /opt; ls /var/lib") == ""


def test_half_a_script_does_nothing(machine: Machine, product: Product) -> None:
    """A download that was cut."""
    whole = product.client().get("/agent/install.sh").text
    for part in (len(whole) // 4, len(whole) // 2, len(whole) - 12):
        machine.sh(whole[:part])
    assert machine.look("ls /opt; ls /var/lib") == ""
    assert machine.told == []


def test_several_directories_and_one_more_later(machine: Machine, owner: Client, product: Product) -> None:
    line = install_line(owner)[0]
    said = machine.sh(_with(line, "/srv/first", "/srv/second/deep"))
    assert said.returncode == 0, said.stdout + said.stderr
    conf = "cat /var/lib/spindle-agent/agent.conf"
    assert "directories = /srv/first, /srv/second/deep" in machine.look(conf)
    later = machine.sh(f"curl -fsS {product.url}agent/install.sh | sh -s -- /srv/third")
    assert later.returncode == 0, later.stdout + later.stderr
    assert "directories = /srv/first, /srv/second/deep, /srv/third" in machine.look(conf)
    assert machine.look("stat -c '%U %a' /var/lib/spindle-agent/agent.conf /srv/third") == (
        "spindle-agent 600\nspindle-agent 700"
    )
    writable = machine.look("cat /etc/systemd/system/spindle-agent.service.d/files.conf").splitlines()
    assert writable == ["[Service]", *(f'ReadWritePaths="-/srv/{name}"' for name in ("first", "second/deep", "third"))]
    assert machine.told[-1] == "restart spindle-agent.service"
