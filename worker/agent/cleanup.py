"""fio's processes and fio's files: found, ended and removed without ever trusting a process id or a name that is not ours."""

import os
import signal
import time
from typing import Iterable, List, Optional

from . import directory
from .conf import log
from .directory import Place


def kill_all(run_dir: str, place: Optional[Place] = None) -> None:
    """Kill fio's processes, which leave their parent's group and session and outlive it.

    They are found by their working directory (its path, or its identity if it was renamed) and by an environment
    variable
    that only this agent sets; an administrator's shell in the directory has none.
    """
    until = time.monotonic() + 10
    while time.monotonic() < until:
        result = processes_of(run_dir, place)
        for pid in result:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not result:
            return
        time.sleep(0.01)


def processes_of(run_dir: str, place: Optional[Place] = None) -> List[int]:
    result = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if _works_in(f"/proc/{name}/cwd", run_dir, place):
                with open(f"/proc/{name}/environ", "rb") as source:
                    if b"PATH=/nonexistent" in source.read().split(b"\0"):
                        result.append(int(name))
        except OSError:
            pass  # ended meanwhile, or somebody else's
    return result


def _works_in(cwd: str, run_dir: str, place: Optional[Place]) -> bool:
    if os.readlink(cwd) in (run_dir, run_dir + " (deleted)"):
        return True
    if place is None:
        return False
    at = os.stat(cwd)
    return (at.st_dev, at.st_ino) == place


def place_in(started: str) -> Optional[Place]:
    """Return where fio worked, as the runner noted before starting it, or None."""
    try:
        with open(started) as source:
            device, inode = source.read().split()
        return int(device), int(inode)
    except (OSError, ValueError):
        return None


def remove_run_dir(run_dir: str) -> List[str]:
    """Remove what is left of a run whose runner is gone; foreign files and everything behind a link stay."""
    try:
        above = directory.open_directory(os.path.dirname(run_dir))
    except FileNotFoundError:
        return []
    except OSError as problem:
        log(f"{run_dir} is not tidied: {problem}")
        return []
    try:
        return directory.remove_run_dir(above, os.path.basename(run_dir))
    except OSError as problem:
        log(f"{run_dir} is not tidied: {problem}")
        return [os.path.basename(run_dir)]
    finally:
        os.close(above)


def remove_strays(files: str, stored: Iterable[str]) -> None:
    """Remove, when the agent starts, the folders of runs that it does not know."""
    try:
        above = directory.open_directory(files)
    except OSError as problem:
        log(f"The test directory {files} cannot be used, and runs are refused until it can: {problem}.")
        return
    names = os.listdir(above)
    os.close(above)
    for name in names:
        path = os.path.join(files, name)
        if name.startswith("attempt-") and name[8:].isdigit() and path not in stored:
            kill_all(path)
            remove_run_dir(path)
