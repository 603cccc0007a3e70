"""A host whose filesystems a test mounts, in a mount namespace of its own: image files on loop devices, tmpfs, bind mounts.

Everything is gone with the namespace, also where the test is killed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil

from apps.agents.models import Enrolment
from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from tests.faults.stack import ROOT, Stack

IMAGE_BYTES = 400 << 20  # XFS takes no less than 300 MB
MAKE = {
    "ext4": ("mkfs.ext4", "-q", "-F"),
    "ext2": ("mkfs.ext2", "-q", "-F"),
    "xfs": ("mkfs.xfs", "-q", "-f"),
    "btrfs": ("mkfs.btrfs", "-q", "-f"),
}


def can_mount(*kinds: str) -> bool:
    """Return whether this machine makes mount namespaces and has what these filesystems need."""
    known = Path("/proc/filesystems").read_text(encoding="utf-8").split()
    programs = ["unshare", "nsenter", "mount", *(MAKE[kind][0] for kind in kinds if kind in MAKE)]
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        return False
    return all(kind in known for kind in kinds) and all(shutil.which(program) for program in programs)


class MountingHost:
    """The agent of a stack, in a mount namespace where a test mounts what it likes below `folder`."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.folder = stack, stack.folder / "data"
        self.folder.mkdir()
        argv = ["unshare", "--mount", "--propagation", "private", "sleep", "infinity"]
        self.holder = subprocess.Popen(argv, start_new_session=True)
        self.numbers = iter(range(1, 100))

    def call(self, *argv: str, text: str | None = None) -> str:
        """Run a command inside the namespace; return what it prints."""
        command = ["nsenter", "--target", str(self.holder.pid), "--mount", f"--wd={ROOT}", "--", *argv]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, input=text, timeout=120)
        assert done.returncode == 0, f"{argv}: {done.stdout} {done.stderr}"
        return done.stdout

    def path(self, name: str) -> Path:
        return self.folder / name

    def mount(self, kind: str, name: str, options: str = "") -> Path:
        """Make a filesystem and mount it at `name`; return its image, which `mount_image` mounts again."""
        if kind == "tmpfs":
            self._mount(name, "-t", "tmpfs", *(["-o", options] if options else []), "tmpfs")
            return self.path(name)
        image = self.stack.folder / f"image-{next(self.numbers)}"
        with image.open("wb") as file:
            file.truncate(IMAGE_BYTES)
        subprocess.run([*MAKE[kind], str(image)], check=True, capture_output=True)
        self.mount_image(image, name, options)
        return image

    def mount_image(self, image: Path, name: str, options: str = "") -> None:
        self._mount(name, "-o", ",".join(filter(None, ["loop", options])), str(image))

    def bind(self, source: str, name: str) -> None:
        self._mount(name, "--bind", str(self.path(source)))

    def _mount(self, name: str, *words: str) -> None:
        self.path(name).mkdir(parents=True, exist_ok=True)
        self.call("mount", *words, str(self.path(name)))

    def unmount(self, name: str) -> None:
        self.call("umount", str(self.path(name)))

    def enrol(self, *names: str) -> None:
        with lab_scope(self.stack.lab.pk):
            _, token = Enrolment.objects.issue(self.stack.lab, "test", trusted=True)
        first, *others = [str(self.path(name)) for name in names]
        state = ["--state", str(self.stack.state)]
        agent = [sys.executable, "-m", "worker.agent"]
        self.call(
            *agent, "enrol", "--server", self.stack.url, "--token-file", "-", "--directory", first, *state, text=token
        )
        for directory in others:
            self.call(*agent, "allow", *state, "--directory", directory)

    def start_agent(self) -> None:
        argv = [
            "nsenter",
            "--target",
            str(self.holder.pid),
            "--mount",
            f"--wd={ROOT}",
            "--",
            sys.executable,
            "-m",
            "worker.agent",
            "run",
        ]
        log = (self.stack.folder / "agent.log").open("ab")
        self.stack.processes["agent"] = subprocess.Popen(
            [*argv, "--state", str(self.stack.state)], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
        )

    def targets(self) -> dict[str, Target]:
        """Return the targets that take runs now, by the last name of their path."""
        with lab_scope(self.stack.lab.pk):
            found = Target.objects.filter(is_agents_own=True).select_related("host", "filesystem")
            return {Path(target.path).name: target for target in found}

    def loop_device(self, name: str) -> str:
        """Return the numbers of the device that is mounted at `name`: `7:3`."""
        return self.call("findmnt", "-n", "-o", "MAJ:MIN", str(self.path(name))).strip()

    def remove(self) -> None:
        for process in psutil.process_iter(["name", "cwd"]):
            if process.info["name"] == "fio" and str(process.info["cwd"] or "").startswith(str(self.folder)):
                process.kill()
        self.holder.kill()
        self.holder.wait(timeout=20)
