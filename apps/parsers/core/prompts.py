"""The host that a shell's prompt names, as in `root@host3:~# ioping .` or `[root@host3 ~]$ sysbench …`."""

import re

_PROMPT = re.compile(r"\s*\[?[\w.-]{1,32}@([\w.-]{1,64})[:\s][^$#%>]{0,200}[$#%>]\s{0,8}")
_LONGEST = 400


def find_prompt_host(line: str, command: int) -> str:
    """Return the host that the prompt before the command names.

    `command` is the index in `line` at which the command begins. "" where no prompt stands before it.
    """
    match = _PROMPT.fullmatch(line, 0, command) if command <= _LONGEST else None
    return match[1] if match else ""
