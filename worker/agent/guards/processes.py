"""The names of the processes of this machine, as far as this account may see them."""

import os
from typing import Dict, List, Optional

from ..disk import text_of

PROC = "/proc"
HIDDEN = "the processes of other accounts are hidden from this one (hidepid)"


def names(proc: str = "") -> Optional[Dict[str, List[int]]]:
    """Return the process ids of each program name (/proc/PID/comm), or None where those of other accounts are hidden."""
    folder = proc or PROC
    if not text_of(f"{folder}/1/comm"):
        return None
    found: Dict[str, List[int]] = {}
    for name in os.listdir(folder):
        program = text_of(f"{folder}/{name}/comm") if name.isdigit() else ""
        if program:
            found.setdefault(program, []).append(int(name))
    return found
