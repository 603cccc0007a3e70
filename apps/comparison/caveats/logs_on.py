"""A CPU-bound fio run that wrote fio's own logs."""

import re

from apps.comparison.caveats.clock_unknown import is_bound_by_the_cpu, why_bound, would_be
from apps.comparison.caveats.rule import CaveatRule
from apps.comparison.readings import Reading

COST = 0.18  # of the IOPS of a null job, with averaged logs too; measured
_ASKED = re.compile(r"--?write_\w+_log\b")


def check(reading: Reading) -> str | None:
    has_logs = reading.evidence.has_fio_logs or _ASKED.search(str(reading.evidence.asked.get("command", "")))
    if not has_logs or not is_bound_by_the_cpu(reading):
        return None
    without = would_be(reading, f"÷ (1 − {COST})", 1 / (1 - COST))
    here = f"; without them this may be {without}" if without else ""
    return f"{why_bound(reading)}; {_which(reading)}: measured with a null job, they cost {COST:.0%} of its IOPS{here}"


def _which(reading: Reading) -> str:
    sizes = _ASKED.findall(str(reading.evidence.asked.get("command", "")))
    return f"fio's logs on ({', '.join(dict.fromkeys(sizes))})" if sizes else "fio's logs on (they came with the run)"


RULE = CaveatRule(
    name="logs_on",
    title="fio's logs were on",
    text="Writing a log line for each I/O is work of the same CPU that was the limit.",
    of_reading=check,
)
