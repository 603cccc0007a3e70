"""The sums of `--bidir` in the JSON of iperf 3.7 to 3.10, which have the same keys for both directions:

    "end": {…, "sum_sent": {…, "sender": true}, "sum_received": {…}, "sum_sent": {…, "sender": false}, "sum_received": {…}}

Later versions name the second ones `sum_sent_bidir_reverse` (iperf_api.c, `iperf_print_results`); so are these.
"""

import re

_SUM = re.compile(r'"(sum(?:_sent|_received)?)"\s{0,8}:\s{0,8}\{[^{}]*\}')
_BESIDE = re.compile(r"[\s,]*")
_REVERSE = "_bidir_reverse"


def named_apart(body: str) -> str:
    """The text with another name for a sum that stands again beside one of its name; the same where there is none."""
    parts: list[str] = []
    seen: set[str] = set()
    behind = copied = 0
    for match in _SUM.finditer(body):
        if not _BESIDE.fullmatch(body, behind, match.start()):
            seen = set()
        if match[1] in seen:
            parts += [body[copied : match.end(1)], _REVERSE]
            copied = match.end(1)
        seen.add(match[1])
        behind = match.end()
    return "".join([*parts, body[copied:]]) if parts else body
