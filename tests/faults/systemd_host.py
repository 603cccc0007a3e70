"""A host on which a real systemd runs as the first process, for what only units do: sandboxes, timers, path units.

It has namespaces of its own for processes, mounts, network, names and control groups, and sees this machine's files below
an overlay in memory: nothing that is installed there outlives it. None of this machine's own units is started in it. Its
/srv is a filesystem of its own, in an image.
"""

import os
import shutil
import subprocess
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.faults.namespaces import make_network
from tests.faults.stack import Stack, until

GROUPS = Path("/sys/fs/cgroup")
SYSTEMD = Path("/lib/systemd/systemd")
TOOLS = ("ip", "unshare", "nsenter", "mount", "mkfs.ext4", "pivot_root", "systemctl", "curl", "fio")
# Its network is 10.201.NUMBER.0/30, another one for each worker of a run of tests: the server has .1, the host .2.
NUMBER = 20 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# Of this machine's units only the journal's are started: others would set this machine's kernel, clock or devices.
STARTED = ("systemd-journald",)
OVERLAY = """
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
"""
BOOT = """
set -e
echo $$ > "$GROUP/cgroup.procs"
exec ip netns exec "$NAME" unshare --mount --pid --uts --ipc --cgroup --fork --kill-child sh -ec '
hostname "$NAME"
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$SCRATCH"
mkdir "$SCRATCH/upper" "$SCRATCH/work" "$SCRATCH/root"
mount -t overlay -o "lowerdir=/,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work" overlay "$SCRATCH/root"
truncate -s 128M "$SCRATCH/image"; mkfs.ext4 -q "$SCRATCH/image"
cd "$SCRATCH/root"
mount -o loop "$SCRATCH/image" srv
mount -t proc proc proc
mount --bind proc/sys proc/sys; mount -o remount,bind,ro proc/sys
drop=proc/sys/vm/drop_caches; mount --bind $drop $drop; mount -o remount,bind,rw $drop
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for node in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
    mknod -m 666 "dev/${node% *}" c 1 "${node#* }"
done
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
for folder in dev/shm tmp var/tmp; do mount -t tmpfs -o mode=1777 tmpfs "$folder"; done
for folder in run etc/systemd/system lib/systemd/system-generators; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
for unit in lib/systemd/system/*.target.wants/*; do
    case "${unit##*/}" in $STARTED*|*.target) ;; *) ln -sf /dev/null "etc/systemd/system/${unit##*/}";; esac
done
rm -f etc/machine-id; echo "$MACHINE" > etc/machine-id
mkdir run/before; pivot_root . run/before; cd /; umount -l /run/before; rmdir /run/before
exec env -i container=spindle PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
    /lib/systemd/systemd --unit=multi-user.target --log-target=console --show-status=no
'
"""


def explain_missing() -> str:
    """Return why this machine cannot boot such a host; empty where it can."""
    if os.geteuid() != 0:
        return "only root makes namespaces"
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        return f"not installed: {', '.join(missing)}"
    if not SYSTEMD.exists():
        return f"{SYSTEMD} is not installed"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    groups = find_groups()
    if groups is None or not os.access(groups, os.W_OK):
        return "no cgroup2 is mounted that can be written, which a systemd of its own needs"
    wanted = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork", "sh", "-ec", OVERLAY]
    tried = subprocess.run(wanted, capture_output=True, text=True, check=False)
    return f"namespaces or overlays are not allowed here: {tried.stderr.strip()}" if tried.returncode else ""


def find_groups() -> Path | None:
    """Return where this machine's cgroup2 is mounted: alone, or beside the older kind."""
    return next((place for place in (GROUPS, GROUPS / "unified") if (place / "cgroup.procs").exists()), None)


class ReachableStack(Stack):
    """A stack that knows itself by the address at which the host reaches it."""

    @property
    def url(self) -> str:
        return f"http://10.201.{NUMBER}.1:{self.port}"


@dataclass
class SystemdHost:
    """A host of a stack, booted by `boot` and gone after `remove`."""

    stack: Stack
    name: str = field(default_factory=lambda: f"sp{os.getpid() % 100_000}d")
    machine: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def group(self) -> Path:
        groups = find_groups()
        assert groups
        return groups / f"spindle-{self.name}"

    def boot(self) -> None:
        """Make the network, start systemd, and wait until its units have settled."""
        make_network(self.name, NUMBER)
        self.group.mkdir()
        scratch = self.stack.folder / "host"
        scratch.mkdir()
        log = (self.stack.folder / "systemd.log").open("ab")
        words = {"NAME": self.name, "GROUP": str(self.group), "SCRATCH": str(scratch), "MACHINE": self.machine}
        self.process = subprocess.Popen(
            ["sh", "-c", BOOT], env={**os.environ, **words, "STARTED": STARTED[0]}, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        until(lambda: f"systemd has booted\n{self.stack.logs()}", 60, self.is_up)

    @property
    def first(self) -> int | None:
        """Return the number that this machine knows the host's systemd by."""
        assert self.process
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.process.pid).children()
            return children[0].pid if children and children[0].name() == "systemd" else None
        return None

    def is_up(self) -> bool:
        assert self.process
        assert self.process.poll() is None, f"systemd has ended\n{self.stack.logs()}"
        return self.first is not None and self.run("systemctl is-active multi-user.target").stdout.strip() == "active"

    def run(self, text: str, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
        """Let a shell of the host read a text, as root; nothing of it is on a command line."""
        inside = ["nsenter", "-t", str(self.first), "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"]
        argv = [*inside, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "sh"]
        return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=seconds, check=False)

    def look(self, text: str) -> str:
        done = self.run(text)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}\n{self.journal()}"
        return done.stdout.strip()

    def journal(self, unit: str = "spindle-*") -> str:
        return self.run(f"journalctl --no-pager -o cat -n 80 -u '{unit}'").stdout

    def remove(self) -> None:
        """End the host's systemd, and with it all that runs there; take down what `boot` made."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            self.process.wait(timeout=20)
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", f"{self.name}s"], check=False, capture_output=True)
        with suppress(AssertionError):
            until("its control groups are gone", 20, self.remove_groups)

    def remove_groups(self) -> bool:
        """Remove the host's control groups, which is possible when their processes have ended; return whether they are gone."""
        for group in sorted(self.group.rglob("*/"), key=lambda path: -len(path.parts)):
            with suppress(OSError):
                group.rmdir()
        with suppress(OSError):
            self.group.rmdir()
        return not self.group.exists()
