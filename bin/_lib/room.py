"""Looked at before anything is started: is the data folder free, is there room on the disk, is the port free."""

import errno
import fcntl
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bin._lib.console import Trouble, shown
from bin._lib.layout import DataFolder

LEAST_FREE = 2**30  # bytes


@contextmanager
def held(data: DataFolder) -> Iterator[None]:
    """Hold the lock that allows one `bin/up` for each data folder; it goes with the process, however it ends."""
    try:
        lock = data.lock.open("a+")
    except PermissionError:
        raise Trouble(
            f"The data folder {shown(data.path)} belongs to another account; run as its owner, or name another."
        ) from None
    with lock:
        end = time.monotonic() + 0.5  # ./manage.py looks at the lock for an instant
        while not try_lock(lock.fileno()):
            if time.monotonic() > end:
                lock.seek(0)
                who = lock.read().strip() or "unknown"
                raise Trouble(
                    f"Spindle already runs with the data folder {shown(data.path)} (process {who}); stop that "
                    "one with Ctrl-C, or name another folder with --data DIR and another port with --port."
                )
            time.sleep(0.05)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_disk(folder: Path, least: int = LEAST_FREE) -> None:
    """Refuse a disk with little space left; `folder` need not exist yet."""
    free = shutil.disk_usage(next(place for place in (folder, *folder.parents) if os.path.exists(place))).free
    if free < least:
        raise Trouble(
            f"The disk of {folder} has {free // 2**20} MiB free and Spindle needs {least // 2**20} MiB; make room, "
            "or name a folder on another disk with --data DIR."
        )


def free_port(host: str, port: int, patience: float = 0) -> int:
    """Return the port itself, or a free one for 0.

    `patience`: seconds for the remains of a killed start to go.
    """
    end = time.monotonic() + patience
    while True:
        try:
            return try_bind(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < end:
                time.sleep(0.2)
                continue
            raise Trouble(port_trouble(host, port, error)) from None


def try_bind(host: str, port: int) -> int:
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        return int(probe.getsockname()[1])


def port_trouble(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken by another program; name a free one, for example --port {port + 1}."
    if error.errno == errno.EACCES:
        return f"This account may not use port {port}; name one from 1024 upwards with --port."
    return f"{host} is not an address of this machine ({error.strerror}); name one, for example --host 127.0.0.1."


def outside_address() -> str:
    """Return the address under which other machines of the network see this one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
