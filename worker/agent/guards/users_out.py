"""Nobody is logged in on the host, by the sessions of systemd-logind and the records of utmp.

Both are readable without root. What somebody left behind in the background (tmux, nohup) has no session: the guard "idle host" sees its load.
"""

import os
import struct
from typing import Any, Dict, List, Optional

from ..disk import text_of
from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite

KIND, LABEL = "users_out", "users out"
UTMP, SESSIONS = "/run/utmp", "/run/systemd/sessions"
CLOSED = ("/run/nologin", "/etc/nologin")
BOOT_TIME, USER_PROCESS = 2, 7  # utmp(5): a record that each start writes, and one of somebody who is logged in
RECORD = struct.Struct("=h2xi32s4s32s")  # type, process, terminal, id, user; what follows differs between machines
RECORD_SIZES = (384, 400)  # 64-bit machines that keep 32-bit times, and those that do not
MOST = 20  # terminals that are named


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Count the sessions of people. Who they are is nobody's business here: terminals are named, accounts are not."""
    sources = {"logind": logind_terminals(SESSIONS), "utmp": utmp_terminals(UTMP)}
    known = {name: terminals for name, terminals in sources.items() if terminals is not None}
    if not known:
        text = "neither the sessions of systemd-logind nor utmp can be read on this host"
        return HostFinding(NOT_CHECKED, text, {}, {})
    closed = [path for path in CLOSED if os.path.exists(path)]
    figures: Dict[str, Any] = {f"sessions_{name}": len(terminals) for name, terminals in known.items()}
    figures["logins_closed"] = bool(closed)
    limits = {name: 0 for name in figures if name.startswith("sessions_")}
    where = f"by {' and '.join(known)}"
    if any(known.values()):
        terminals = sorted(set().union(*known.values()))
        text = f"somebody is logged in: {', '.join(terminals[:MOST])}, {where}"
        return HostFinding(FAILED, text, figures, limits)
    logins = f"logins are closed by {closed[0]}" if closed else "logins are not closed (there is no nologin)"
    return HostFinding(PASSED, f"nobody is logged in, {where}; {logins}", figures, limits)


def logind_terminals(folder: str) -> Optional[List[str]]:
    """Return where people are logged in by systemd-logind, or None where it does not run or cannot be read."""
    try:
        names = [name for name in os.listdir(folder) if not name.endswith(".ref")]
    except OSError:
        return None
    terminals = []
    for name in names:
        pairs = dict(line.partition("=")[::2] for line in text_of(os.path.join(folder, name)).splitlines())
        if pairs.get("CLASS", "").startswith("user") and pairs.get("STATE") != "closing":
            terminals.append(pairs.get("TTY") or f"session {name}")
    return terminals


def utmp_terminals(path: str) -> Optional[List[str]]:
    """Return the terminals at which somebody is logged in by utmp; None where nobody writes it, or its format is not known.

    A file in which no start of the machine is noted is written by nobody: containers and small systems have an empty one.
    """
    try:
        with open(path, "rb") as source:
            data = source.read(1 << 20)
    except OSError:
        return None
    whole = [size for size in RECORD_SIZES if len(data) % size == 0]
    records = ([RECORD.unpack_from(data, offset) for offset in range(0, len(data), size)] for size in whole)
    known = next((found for found in records if any(record[0] == BOOT_TIME for record in found)), None)
    if known is None:
        return None
    terminals = []
    for kind, process, terminal, _, _ in known:
        if kind == USER_PROCESS and _lives(process):
            terminals.append(terminal.split(b"\0")[0].decode("ascii", "replace") or "a terminal")
    return terminals


def _lives(process: int) -> bool:
    """Return whether a process is there: a machine that lost its power leaves records of nobody."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return process > 0
