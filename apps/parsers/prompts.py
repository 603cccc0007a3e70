"""The host that a shell's prompt names: `root@host3:~# ioping .`, `[root@host3 ~]$ sysbench …`."""

import re

_PROMPT = re.compile(r"\s*\[?[\w.-]{1,32}@([\w.-]{1,64})[:\s][^$#%>]{0,200}[$#%>]\s{0,8}")
_LONGEST = 400


def host_before(line: str, command: int) -> str:
    """Where the command begins at that place; "" where no prompt stands before it."""
    match = _PROMPT.fullmatch(line, 0, command) if command <= _LONGEST else None
    return match[1] if match else ""
