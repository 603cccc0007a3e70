"""Lives inside an agent under test (`crash_points.build`): at a named point the process dies, or its disk is full for one call.

SPINDLE_FAIL_AT    the point, such as `agent after rename exit.json 1` (role, when, what, name, how often it was reached)
SPINDLE_FAIL_HOW   `kill` (SIGKILL to this process) or `full` (the call raises ENOSPC)
SPINDLE_FAIL_TRACE a file that names every point that was reached
SPINDLE_CLOCK      a file with the seconds by which this process's clock is wrong, read each time that it is looked at

Standard library only, as the agent. It changes functions of the modules `os` and `time` and of the agent's client, and
nothing of the agent's own text.
"""

import builtins
import errno
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

AT = os.environ.get("SPINDLE_FAIL_AT", "")
HOW = os.environ.get("SPINDLE_FAIL_HOW", "kill")
TRACE = os.environ.get("SPINDLE_FAIL_TRACE", "")
CLOCK = os.environ.get("SPINDLE_CLOCK", "")
ROLE = "runner" if sys.argv[1:2] == ["runner"] else "agent"
STATE = sys.argv[2].rpartition("/spool/")[0] if ROLE == "runner" else sys.argv[sys.argv.index("--state") + 1]

_write, _open, _close, _time = os.write, os.open, os.close, time.time
_reached: dict[str, int] = {}


def reach(when: str, what: str, name: str) -> None:
    """Note that this point is reached; die or fail here if it is the one."""
    point = f"{ROLE} {when} {what} {name}"
    _reached[point] = _reached.get(point, 0) + 1
    point = f"{point} {_reached[point]}"
    if TRACE:
        handle = _open(TRACE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        _write(handle, f"{point}\n".encode())
        _close(handle)
    if point != AT:
        return
    if HOW == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif when == "before":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)


def name_of(handle: Any) -> str:
    """Return the file's name below the agent's folder, or '' for anything else."""
    path = os.readlink(f"/proc/self/fd/{handle}") if isinstance(handle, int) else os.path.abspath(os.fspath(handle))
    return os.path.basename(path) if path.startswith(STATE + "/") or path == STATE else ""


def wrap(what: str, call: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    """Return the call with a point before it and one behind it, where its argument at `place` is below the agent's folder."""

    def wrapped(*args: Any, **named: Any) -> Any:
        name = name_of(args[place])
        if not name:
            return call(*args, **named)
        reach("before", what, name)
        result = call(*args, **named)
        reach("after", what, name)
        return result

    return wrapped


def wrap_open(call: Callable[..., Any]) -> Callable[..., Any]:
    """As `wrap`, for `open` of a file that is to be written."""

    def wrapped(path: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        name = name_of(path) if "w" in mode and not isinstance(path, int) else ""
        if name:
            reach("before", "write", name)
        return call(path, mode, *args, **named)

    return wrapped


def wrap_os_open(call: Callable[..., Any]) -> Callable[..., Any]:
    """As `wrap`, for `os.open` that makes a file."""

    def wrapped(path: Any, flags: int, *args: Any, **named: Any) -> Any:
        is_new = flags & os.O_CREAT and "dir_fd" not in named and not os.path.exists(path)
        name = name_of(path) if is_new else ""
        if name:
            reach("before", "make", name)
        made = call(path, flags, *args, **named)
        if name:
            reach("after", "make", name)
        return made

    return wrapped


def wrap_send(call: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(client: Any, method: str, path: str, *args: Any, **named: Any) -> Any:
        client.word = "chunk" if "/chunks/" in path else path.strip("/").rpartition("/")[2]
        reach("before", "send", client.word)
        result = call(client, method, path, *args, **named)
        reach("after", "send", client.word)
        return result

    return wrapped


def wrap_receive(call: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(client: Any, *args: Any, **named: Any) -> Any:
        result = call(client, *args, **named)
        reach("after", "answer", client.word)
        return result

    return wrapped


def wrap_spawn(call: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(path: Any, *args: Any, **named: Any) -> Any:
        reach("before", "spawn", os.path.basename(path))
        result = call(path, *args, **named)
        reach("after", "spawn", os.path.basename(path))
        return result

    return wrapped


def wrong_time() -> float:
    try:
        with builtins.open(CLOCK) as source:
            return _time() + float(source.read() or 0)
    except OSError:
        return _time()


def install() -> None:
    """Put the points in; called before anything of the agent is imported."""
    if CLOCK:
        time.time = wrong_time
    if not (AT or TRACE):
        return
    for name in ("fsync", "fdatasync"):
        setattr(os, name, wrap("fsync", getattr(os, name)))
    os.rename = wrap("rename", os.rename, place=1)
    os.posix_spawn = wrap_spawn(os.posix_spawn)
    if HOW == "full":
        os.write = wrap("write", os.write)
        os.mkdir = wrap("make", os.mkdir)
        os.mkfifo = wrap("make", os.mkfifo)
        builtins.open = wrap_open(builtins.open)
    os.open = wrap_os_open(os.open)
    if ROLE == "agent":
        from agent.client import Client  # type: ignore[import-not-found]

        Client.send, Client.receive = wrap_send(Client.send), wrap_receive(Client.receive)


install()
