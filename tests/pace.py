"""How slow this machine is at this moment. Limits of time are set for a usual one; shared machines of the same kind differ by a factor of two
from day to day, so a limit is held against a floor that is taken beside it.

assert within(time.process_time() - began, 2)
"""

import re
import time

USUAL_S = 0.0013  # what `_work` takes where the limits were set
MOST = 4.0  # slower than this is no machine to test on
_WORDS = re.compile(r"(\d+)\s+([a-z]+)")


def _work() -> int:
    """A little of what the readers do: a loop, small objects, a regular expression."""
    text, found = "123 bytes 4567 records in 8 seconds " * 40, 0
    for _ in range(20):
        parts = {match[2]: int(match[1]) for match in _WORDS.finditer(text)}
        found += sum(len(word) * number for word, number in parts.items())
        found += sum(place * place for place in range(500))
    return found


def slowness() -> float:
    """1 on a usual machine or a quicker one, 2 on one that takes twice as long. The best of five, so a pause is not counted."""
    best = MOST * USUAL_S
    for _ in range(5):
        began = time.process_time()
        _work()
        best = min(best, time.process_time() - began)
    return max(1.0, best / USUAL_S)


def within(seconds: float, usual: float) -> bool:
    """Whether what took so long here takes less than `usual` seconds where the limit was set."""
    return seconds < usual or seconds < usual * slowness()
