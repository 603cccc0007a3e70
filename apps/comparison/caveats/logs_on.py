"""A CPU-bound fio run that wrote fio's own logs."""

import re

from apps.comparison.caveats.clock_unknown import is_bound_by_the_cpu, why_bound
from apps.comparison.caveats.rule import Rule
from apps.comparison.readings import Reading

COST = 0.18  # of the IOPS of a null job, with averaged logs too; measured
_ASKED = re.compile(r"--?write_\w+_log\b")


def check(reading: Reading) -> str | None:
    has_logs = reading.evidence.has_fio_logs or _ASKED.search(str(reading.evidence.asked.get("command", "")))
    if not has_logs or not is_bound_by_the_cpu(reading):
        return None
    return f"{why_bound(reading)}, with fio's logs: they cost about {COST:.0%} of CPU-bound IOPS"


RULE = Rule(
    name="logs_on",
    title="fio's logs were on",
    text="Writing a log line for each I/O is work of the same CPU that was the limit.",
    of_reading=check,
)
