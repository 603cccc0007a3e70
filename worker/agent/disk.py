"""Writes that survive crashes and full disks, and reads of what a crash may have left half written."""

import errno
import json
import os
import time
from typing import Any, Dict, List, Optional

from .conf import MIB, boot_id, log

RESERVE = 64 * MIB
LOW = 16 * MIB  # free space beyond the reserve below which nothing is started, and fio is stopped
LONGEST_TEXT = 3 * MIB  # of what is read at once
STREAMS = {"result": "result.json", "stderr": "stderr", "job": "job.fio", "journal": "journal.jsonl"}


def reserve(state: str) -> bool:
    """Keep 64 MiB back, so that fio's last document and exit.json still fit on a full disk. False: no room for more work."""
    above = os.open(state, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        handle = os.open("reserve", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=above)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        log(f"{state}/reserve is a link, which is not followed; until it is removed every run is refused.")
        return False
    finally:
        os.close(above)
    try:
        if os.fstat(handle).st_blocks * 512 < RESERVE:
            os.posix_fallocate(handle, 0, RESERVE)
        return not is_low(state)
    except OSError:
        release(state)
        return False
    finally:
        os.close(handle)


def is_low(path: str) -> bool:
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize < LOW


def release(state: str) -> None:
    try:
        os.unlink(os.path.join(state, "reserve"))
    except FileNotFoundError:
        pass


def conclude(path: str, outcome: str, reason: str, status: Optional[int] = None, signal: Optional[int] = None) -> None:
    """Write everything of an attempt to disk, then exit.json as the last word.

    Nothing is added to its streams afterwards.
    """
    journal(path, "ended", outcome=outcome, reason=reason, exit_status=status, signal=signal)
    state = os.path.dirname(os.path.dirname(path))
    for name in STREAMS.values():
        if os.path.exists(os.path.join(path, name)):
            _sync_with_reserve(os.path.join(path, name), state)
    facts = {
        "outcome": outcome,
        "reason": reason,
        "exit_status": status,
        "signal": signal,
        "boot_id": boot_id(),
        "started_at": started_at(path),
        "ended_at": time.time(),
    }
    write_durably(os.path.join(path, "exit.json"), json.dumps(facts), release_reserve=state)


def _sync_with_reserve(path: str, state: str) -> None:
    """Flush a file; a disk that has no room for what it took already gets the reserve."""
    try:
        sync(path)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        release(state)
        sync(path)


def started_at(path: str) -> Optional[float]:
    """Return when fio started, from the file that its process creates as its last act before."""
    try:
        return os.stat(os.path.join(path, "started")).st_mtime
    except FileNotFoundError:
        return None


def journal(path: str, event: str, **facts: Any) -> None:
    try:
        append(
            os.path.join(path, "journal.jsonl"),
            [dict(facts, at=time.time(), clock=time.monotonic(), event=event)],
            durable=False,
        )
    except OSError as error:
        if error.errno != errno.ENOSPC:  # a run is worth more than its diary
            raise


def append(path: str, records: List[Dict[str, Any]], durable: bool) -> None:
    if not records:
        return
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, "".join(json.dumps(record) + "\n" for record in records).encode())
        if durable:
            os.fsync(handle)
    finally:
        os.close(handle)


def read_lines(path: str) -> List[str]:
    """Return whole lines only, and cut off half a last line that a power cut left, so that the next does not join it."""
    text = read_or_nothing(path)
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.truncate(path, len(whole))
    return whole.decode().splitlines()


def read_or_nothing(path: str) -> bytes:
    try:
        with open(path, "rb") as source:
            return source.read()
    except FileNotFoundError:
        return b""


def write_whole(handle: int, data: bytes) -> None:
    """Write all bytes; a disk that becomes full accepts a part before it fails."""
    while data:
        data = data[os.write(handle, data) :]


def open_or_empty(path: str) -> Any:
    return open(path if os.path.exists(path) else os.devnull, "rb")


def write_durably(path: str, text: str, release_reserve: Optional[str] = None) -> None:
    """Write all or nothing: temporary file, fsync, rename, fsync of the folder."""
    try:
        with open(path + ".new", "w") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
        os.rename(path + ".new", path)
    except OSError as error:
        if error.errno != errno.ENOSPC or release_reserve is None:
            raise
        release(release_reserve)
        write_durably(path, text)
    else:
        sync(os.path.dirname(path))


def sync(path: str, only_data: bool = False) -> None:
    """Flush a file's bytes or a folder's names to disk; `only_data` leaves out the times."""
    handle = os.open(path, os.O_RDONLY)
    try:
        (os.fdatasync if only_data else os.fsync)(handle)
    finally:
        os.close(handle)


def text_of(path: str) -> str:
    """Return the text of a small file, most of them the kernel's, or '' where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read(LONGEST_TEXT).strip()
    except OSError:
        return ""
