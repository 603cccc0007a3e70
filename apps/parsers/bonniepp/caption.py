"""Search for the words above a result that distinguish it from the next one, and for the command line; for Bonnie and bonnie++."""

import re
from collections.abc import Sequence

_MOST_LINES = 24
_LONGEST = 200
_LONGEST_LINE = 400
_COMMAND = re.compile(  # follows a prompt or a path, or is followed by options
    r"(?:[$#%>] ?(?:\S{0,80}/)?|^\S{0,80}/)([Bb]onnie(?:\+\+)?)$|\b([Bb]onnie(?:\+\+)? +-[^`;|&>()]*)"
)
_NOISE = re.compile(
    r"[Bb]onnie(?:\+\+)?(?: Benchmark results)?:?$|Timing (?:O_DIRECT|buffer|cached)|/dev/\S{1,80}:$|\[?\.\.\.\]?$|"
    r"Writing |Rewriting|Reading |Seeker |start 'em|Create files|Stat files|Delete files|"
    r"Using uid|done|Delaying|(?:Bonnie [0-9.]+: )?File '|Size of |format_version,|name,file_size|```|Memory = |"
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? |[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:|real\b|user\b|sys\b|"
    r"[\s#=*^_~+-]*$|\s*(?:> ?)+$|[0-9]{1,18}\+[0-9]{1,18} records |[0-9]{1,20} bytes (?:\([^()]{1,40}\) copied|transferred)"
)
_AROUND = " \t#=*:-_>|`"


def find_caption(lines: Sequence[str], first: int, floor: int) -> tuple[str, str]:
    """Return (caption, command) from the lines above `first`, down from line `floor`; "" for each that is missing."""
    command = ""
    for at in range(first - 1, max(floor, first - _MOST_LINES) - 1, -1):
        line = lines[at].strip()[:_LONGEST_LINE]
        match = _COMMAND.search(line) if "onnie" in line else None
        if not match and _NOISE.match(line):
            continue
        if match and not command:
            command = (match[1] or match[2]).strip()[:_LONGEST]
            continue
        return line.strip(_AROUND)[:_LONGEST], command
    return "", command
