"""The directory under test, opened so that neither a link nor another account's folder can lead the agent out of it.

A path is followed from / one name at a time, each opened inside the one before and never through a link. What is made, filled and removed is
then named inside the open folder: whatever the path comes to mean meanwhile, nothing outside of it is touched.
"""

import os
import pwd
import re
import stat
from contextlib import suppress
from typing import List, Optional, Tuple

OWN_FILE = re.compile(r"data\.\d+\.\d+|job\d+\.\d+\.\d+")
LOOK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
USE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
MOST_LINKS = 40
ALLOW = "choose another directory in agent.conf, or allow this one there with shared_directory = yes (at enrolment --shared-directory)"

Place = Tuple[int, int]  # device and inode: a folder's identity under whatever name


class Unsafe(OSError):
    """A sentence for the administrator: the directory is not used."""


def resolve(path: str) -> str:
    """Return the path without links that only root or the agent's account can have placed.

    Opening refuses any other link.
    """
    path = os.path.abspath(path)
    for _ in range(MOST_LINKS):
        followed = _first_link_followed(path)
        if followed == path:
            break
        path = followed
    return path


def _first_link_followed(path: str) -> str:
    above = "/"
    names = [name for name in path.split("/") if name]
    for number, name in enumerate(names):
        here = os.path.join(above, name)
        try:
            status = os.lstat(here)
            _refuse_if_others_can_write(above, os.lstat(above), False)
        except OSError:
            break
        if status.st_uid not in (0, os.geteuid()):
            break
        if stat.S_ISLNK(status.st_mode):
            return os.path.normpath(os.path.join(above, os.readlink(here), *names[number + 1 :]))
        above = here
    return path


def open_directory(path: str, shared: bool = True, trusted: str = "", make: bool = False) -> int:
    """Return a handle on the directory.

    Args:
        trusted: The agent's own folder; permissions are only checked below it, for whoever can change it owns the
        agent.

    Raises:
        Unsafe: A link is in the way or, unless `shared`, another account could place one.
    """
    inside = bool(trusted) and path.startswith(trusted + "/")
    here, handle = "", os.open("/", LOOK)
    try:
        for name in [part for part in path.split("/") if part]:
            here += "/" + name
            handle, above = _inside(handle, name, here, make), handle
            os.close(above)
            if not shared and not (inside and len(here) <= len(trusted)):
                _refuse_if_others_can_write(here, os.fstat(handle), here == path)
        return os.open(".", USE, dir_fd=handle)
    finally:
        os.close(handle)


def _inside(above: int, name: str, path: str, make: bool) -> int:
    try:
        return os.open(name, LOOK, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
        os.mkdir(name, 0o700, dir_fd=above)
        return os.open(name, LOOK, dir_fd=above)
    except NotADirectoryError:
        is_link = stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
        raise Unsafe(f"{path} is {'a link, which is not followed' if is_link else 'no directory'}.") from None


def _refuse_if_others_can_write(path: str, status: os.stat_result, is_last: bool) -> None:
    """Refuse a folder that others can write; above the directory a sticky bit is enough."""
    open_to = stat.S_IWGRP | stat.S_IWOTH
    if status.st_mode & open_to and (is_last or not status.st_mode & stat.S_ISVTX):
        mode = stat.S_IMODE(status.st_mode)
        raise Unsafe(
            f"other accounts can write in {path} (mode {mode:04o}) and could place links there. Say chmod go-w {path}, {ALLOW}."
        )
    if status.st_uid not in (0, os.geteuid()):
        raise Unsafe(f"{path} belongs to {_account(status.st_uid)}, who could place links there: {ALLOW}.")


def _account(uid: int) -> str:
    try:
        return f"the account {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"another account (uid {uid})"


def place_of(folder: int) -> Place:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino


def open_run_dir(directory: int, name: str) -> Optional[int]:
    """Return a handle on an existing folder of a run, or None.

    Raises:
        Unsafe: It is a link or belongs to another account.
    """
    try:
        handle = os.open(name, USE, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unsafe(
            f"{name} in the directory for test files is not a folder of the agent ({error.strerror})."
        ) from None
    uid = os.fstat(handle).st_uid
    if uid == os.geteuid():
        return handle
    os.close(handle)
    raise Unsafe(f"{name} in the directory for test files belongs to {_account(uid)}; it is left alone.")


def make_run_dir(directory: int, name: str) -> int:
    """Create an empty folder that nobody else may enter."""
    try:
        os.mkdir(name, 0o700, dir_fd=directory)
    except FileExistsError:  # of an earlier try that never started
        remove_run_dir(directory, name)
        os.mkdir(name, 0o700, dir_fd=directory)
    handle = open_run_dir(directory, name)
    if handle is not None and not os.fstat(handle).st_mode & 0o077 and not os.listdir(handle):
        return handle
    if handle is not None:
        os.close(handle)
    raise Unsafe(f"{name} in the directory for test files was replaced while it was made.")


def remove_run_dir(directory: int, name: str, folder: Optional[int] = None) -> List[str]:
    """Remove the files that this agent names, directly in this folder; anything else stays and is reported.

    Args:
        folder: A handle on it; its files are removed even if its name was given to another folder, which stays.
    """
    handle = open_run_dir(directory, name) if folder is None else os.dup(folder)
    if handle is None:
        return []
    try:
        for each in os.listdir(handle):
            if OWN_FILE.fullmatch(each):
                _remove(each, handle)
        left = os.listdir(handle)
        if not left and _is_named(directory, name, handle):
            os.rmdir(name, dir_fd=directory)
        return left
    finally:
        os.close(handle)


def _remove(name: str, handle: int) -> None:
    """Remove a file, or an empty folder that the engine dircreate has made."""
    try:
        os.unlink(name, dir_fd=handle)
    except IsADirectoryError:
        with suppress(OSError):  # it is not empty: not of this agent, and reported
            os.rmdir(name, dir_fd=handle)


def _is_named(directory: int, name: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(name, dir_fd=directory, follow_symlinks=False), os.fstat(handle))
    except FileNotFoundError:
        return False


def open_to_others(path: str, status: os.stat_result, owner: int) -> str:
    if stat.S_ISLNK(status.st_mode):
        return f"{path} above the agent's folder is a link."
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        mode = stat.S_IMODE(status.st_mode)
        return f"Other accounts can write in {path} (mode {mode:04o}), above the agent's folder."
    if status.st_uid not in (0, owner):
        return f"{path} above the agent's folder belongs to another account (uid {status.st_uid})."
    return ""
