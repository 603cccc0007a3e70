"""Which facts say something of a configuration, and which only of the one run that has them.

Facts come from inventories, tools and people's labels, so their names have no end: those that are known stand here, and
the forms of names that numbers, seeds, times and free text usually have.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from apps.runs.activity import ACTIVITY

# What labels say of the figures and not of the machine; caveats read them.
ABOUT_FIGURES = frozenset({
    "transcribed", "quality", "header_file_size", "header_block_size", "header_filesystem", "part_of", "chain",
    "cpu_at_least", "percentile",
})  # fmt: skip
# Facts of one run and of no configuration: they may differ from one repetition to the next.
OF_ONE_RUN = frozenset({
    "run", "runs", "repetition", "rep", "iteration",
    "id", "uuid", "pid", "job", "rd", "upload", "date", "day", "time", "timestamp", "started",
    "finished", "operator", "user", "author", "owner", "comment", "comments", "note", "notes", "remark", "remarks",
    "description", "title", "command", "command_line", "cmdline", "log", "logfile", "output", "source", "filename",
    "hash", "sha256", "checksum", "real", "sys", "elapsed", "wall", "wall_clock",
})  # fmt: skip
# Those that are a configuration's where their value is a word (`round: ext3`), and a counter where it is a number.
COUNTERS = frozenset({"round", "attempt", "trial", "pass", "loop", "index", "batch", "set", "sequence", "number", "no"})
_COUNT = re.compile(r"\W*\d+(\W*(of|/)\W*\d+)?\W*", re.IGNORECASE)
_OF_ONE_RUN = re.compile(
    r"(^|[_.-])(rand(om)?|job)?[_.-]?seeds?([_.-]|$)"
    r"|(^|[_.-])(pid|uuid|guid|timestamp|date|datetime|repetition|iteration|comments?|notes?|remarks?|sha256|checksum)$"
    r"|_at$|(^|[_.-])(start|end|begin|stop|finish|wall|clock)[_.-]?time$"
    r"|(^|[_.-])(run|job|test|task|attempt|trial|batch|round|process|session|upload)[_.-]?"
    r"(id|no|nr|num|number|name|index|count|label)$"
    r"|(^|[_.-])(file|log|logfile|output|report|result|results|temp|tmp)[_.-]?(file)?[_.-]?name$"
)
# Of a workload that was asked for, what names files and not what is done with them.
_NOT_ASKED = frozenset({
    "file_size", "block_size", "threads", "iodepth", "tool", "jobs", "name", "filename", "directory", "path", "file",
    "target", "command", "numjobs", "unlink", "group_reporting", "description",
})  # fmt: skip


@lru_cache(maxsize=4096)
def is_of_one_run(name: str) -> bool:
    """Return whether a fact of this name says nothing of the configuration that was measured."""
    written = name.lower().replace("-", "_").replace(" ", "_")
    if written in OF_ONE_RUN or written in ABOUT_FIGURES or name in ACTIVITY:
        return True
    return _OF_ONE_RUN.search(written) is not None


def is_count(name: str, value: str) -> bool:
    """Return whether this value of this fact only counts runs: `round: 3 of 5`."""
    return name.lower() in COUNTERS and _COUNT.fullmatch(value) is not None


@lru_cache(maxsize=1024)
def _is_requested(name: str) -> bool:
    return name not in _NOT_ASKED and not is_of_one_run(name)


def workload_facts(request: Mapping[str, Any]) -> dict[str, str]:
    """Return what a workload says beside its point: for how long, which mix of reads and writes, which pattern."""
    if not request:
        return {}
    jobs = [job for job in request.get("jobs") or () if isinstance(job, Mapping)] or [request]
    names = dict.fromkeys(name for job in jobs for name in job)
    facts_found = {}
    for name in names:
        if _is_requested(name):
            values = [plain(job.get(name)) for job in jobs if isinstance(job.get(name), str | int | float)]
            if values:
                facts_found[name] = " + ".join(dict.fromkeys(values))
    return facts_found


def plain(value: Any) -> str:
    """Return a value so that 5, 5.0 and "5" are one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
