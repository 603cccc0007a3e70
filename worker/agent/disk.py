"""Writing so that a crash or a full disk leaves either the old or the new, and reading what a crash may have left half written."""

import errno
import json
import os
import time
from typing import Any, Dict, List, Optional

from .conf import MIB, boot_id

RESERVE = 64 * MIB
LOW = 16 * MIB  # free space beyond the reserve below which nothing is started, and fio is stopped
STREAMS = {"result": "result.json", "stderr": "stderr", "job": "job.fio", "journal": "journal.jsonl"}


def reserve(state: str) -> bool:
    """Keep 64 MiB back, so that fio's last document and exit.json still fit on a full disk. False: no room for more work."""
    handle = os.open(os.path.join(state, "reserve"), os.O_RDWR | os.O_CREAT, 0o600)
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
    """Everything of an attempt on disk, then exit.json as the last word. Nothing is added to the folder's streams after it."""
    journal(path, "ended", outcome=outcome, reason=reason, exit_status=status, signal=signal)
    for name in STREAMS.values():
        if os.path.exists(os.path.join(path, name)):
            sync(os.path.join(path, name))
    facts = {
        "outcome": outcome,
        "reason": reason,
        "exit_status": status,
        "signal": signal,
        "boot_id": boot_id(),
        "started_at": started_at(path),
        "ended_at": time.time(),
    }
    write_durably(
        os.path.join(path, "exit.json"), json.dumps(facts), release_reserve=os.path.dirname(os.path.dirname(path))
    )


def started_at(path: str) -> Optional[float]:
    """The process that becomes fio makes this file as its last act before that."""
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
    """Whole lines only: a power cut may have left half a last one, which is taken away so that the next does not join it."""
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
    """A disk that becomes full takes a part before it says so."""
    while data:
        data = data[os.write(handle, data) :]


def open_or_empty(path: str) -> Any:
    return open(path if os.path.exists(path) else os.devnull, "rb")


def write_durably(path: str, text: str, release_reserve: Optional[str] = None) -> None:
    """All or nothing, whatever fails: temporary file, fsync, rename, fsync of the folder."""
    try:
        with open(path + ".new", "w") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        if error.errno != errno.ENOSPC or release_reserve is None:
            raise
        release(release_reserve)
        write_durably(path, text)
    else:
        os.rename(path + ".new", path)
        sync(os.path.dirname(path))


def sync(path: str, only_data: bool = False) -> None:
    """A file's bytes, or a folder's names. `only_data`: and what is needed to find them, not its times."""
    handle = os.open(path, os.O_RDONLY)
    try:
        (os.fdatasync if only_data else os.fsync)(handle)
    finally:
        os.close(handle)
