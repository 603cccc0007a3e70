"""Whether the time that a shell prints for a command line is that of a dd and of the sync behind it.

    time sh -c "dd if=/dev/zero of=t bs=8k count=250000 && sync"      time (dd if=/dev/zero of=t bs=1M count=1000; sync)

`time` of bash, ksh, zsh and fish times one pipeline, time(1) and tcsh's one command: a sync behind `;` or `&&` is
timed only inside brackets or in the script of a shell that was timed.
"""

import re
from functools import lru_cache

_TIME = re.compile(r"(?:^|[\s;&|({\"'`$#%>])\\?(?:command\s+)?(?:/\S{0,60}/)?g?time((?:\s+-{1,2}[a-zA-Z]+)*)\s+(?=\S)")
_ELSEWHERE = re.compile(r"[fo]|-format|-output|-append")  # what is printed has another form, or goes into a file
_BEFORE = re.compile(
    r"(?:!|sudo(?:\s+-[A-Za-z]+)*|env|nice(?:\s+-n\s*-?\d+|\s+-\d+)?|ionice(?:\s+-[cn]\s*\d)*|[A-Z_]+=\S*)\s+"
)
_SHELL = re.compile(
    r"(?:\S*/)?(?:busybox\s+)?(?:(?:ba|da|z|k|mk|fi|tc|c|a)?sh(?:\s+-[a-zA-Z]+)*?\s+-[a-zA-Z]*c|su(?:\s+\S+)?\s+-c)\s+"
)
_REDIRECTION = re.compile(r"[012]?>>?\s*&[012-]|&>>?\s*\S+|[012]?>>?\s*[^\s&;|>]+|<\s*[^\s&;|<]+")
_SEPARATOR = re.compile(r";|&&|\n")
_DD = re.compile(r"(?:\S*/)?(?:busybox\s+)?g?dd\s+[a-z]+=")
_SYNC = re.compile(r"(?:\S*/)?(?:busybox\s+)?sync(?:\s+[^\s;&|]+)*$")
_HARMLESS = re.compile(r"(?:cd|echo|printf|true|umask|set|export)\b|:$|$")
_LONGEST = 4000


@lru_cache(maxsize=256)
def is_sync_timed(command: str) -> bool:
    """Return whether the times below a command are those of one dd and the sync behind it, and of nothing else."""
    if "time" not in command or "sync" not in command or len(command) > _LONGEST:
        return False
    matches = [match for match in _TIME.finditer(command) if not _ELSEWHERE.search(match[1])]
    return any(_is_dd_with_sync(body) for match in matches if (body := _find_body(command[match.end() :])))


def _find_body(text: str) -> str:
    """Return the commands that `time` timed, without the brackets or the shell around them; "" for a single command."""
    while match := _BEFORE.match(text):
        text = text[match.end() :]
    if text.startswith("("):
        return _cut_at(text[1:], ")")
    if re.match(r"\{\s", text):
        return _cut_at(text[1:], "}")
    if re.match(r"begin\b", text):
        return re.split(r"[;\n]\s*end\b", text.removeprefix("begin"), maxsplit=1)[0]
    shell = _SHELL.match(text)
    quote = text[shell.end() : shell.end() + 1] if shell else ""
    return _cut_at(text[shell.end() + 1 :], quote) if shell and quote in ("'", '"') else ""


def _cut_at(text: str, end: str) -> str:
    """Return the text before the closing bracket or quote, "" where there is none."""
    body, mark, _ = text.partition(end)
    return body.replace("\\", "") if mark else ""


def _is_dd_with_sync(body: str) -> bool:
    """Return whether the commands are one dd, at least one sync behind it, and nothing that takes time."""
    parts = _SEPARATOR.split(_REDIRECTION.sub("", body).strip())
    kinds = [_find_kind(part.strip()) for part in parts]
    kinds = [kind for kind in kinds if kind != "harmless"]
    return len(kinds) > 1 and kinds[0] == "dd" and all(kind == "sync" for kind in kinds[1:])


def _find_kind(part: str) -> str:
    while match := _BEFORE.match(part):
        part = part[match.end() :]
    if "||" in part or "&" in part:
        return "other"
    if _DD.match(part):
        return "dd"
    return "sync" if _SYNC.match(part) else "harmless" if _HARMLESS.match(part) else "other"
