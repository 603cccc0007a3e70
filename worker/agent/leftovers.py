"""fio's processes and fio's files: found, ended and removed without ever trusting a process id or a name that is not ours."""

import os
import re
import signal
import time
from typing import List

OWN_FILE = re.compile(r"data\.\d+\.\d+")


def kill_all(run_dir: str) -> None:
    """fio's processes leave their parent's group and session and outlive it. They are known by their working directory and by
    the environment that only we give; an administrator's shell in the same folder has another one."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = processes_of(run_dir)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not found:
            return
        time.sleep(0.01)


def processes_of(run_dir: str) -> List[int]:
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{name}/cwd") in (run_dir, run_dir + " (deleted)"):
                with open(f"/proc/{name}/environ", "rb") as source:
                    if b"PATH=/nonexistent" in source.read().split(b"\0"):
                        found.append(int(name))
        except OSError:
            pass  # ended meanwhile, or somebody else's
    return found


def remove_run_dir(run_dir: str) -> List[str]:
    """Only files that we name this way, only directly in this folder. What else is there stays, and is reported."""
    try:
        names = os.listdir(run_dir)
    except FileNotFoundError:
        return []
    for name in names:
        if OWN_FILE.fullmatch(name):
            os.unlink(os.path.join(run_dir, name))
    left = os.listdir(run_dir)
    if not left:
        os.rmdir(run_dir)
    return left
