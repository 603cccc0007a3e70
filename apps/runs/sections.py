"""The parts of a tool's output that have figures of their own: fio's jobs or groups, iperf's streams and clients.

A sample, series or histogram has the number of its section; the name is the run's.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def names_of(sections: Mapping[str, str], jobs: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Number → name: what an uploaded output calls them, or else the jobs of the workload."""
    if sections:
        return {int(number): name for number, name in sections.items()}
    return {number: str(job["name"]) for number, job in enumerate(jobs)}


def jobs_of(tool: str, sections: Mapping[str, str]) -> list[str]:
    """Names that people gave, which tell what was done: fio's. Those of streams are numbers."""
    return list(sections.values()) if tool == "fio" else []


def is_sum(tool: str, name: str) -> bool:
    """Whether a section sums the others up. A job of fio that somebody called so does not."""
    return tool.startswith(("iperf", "vdbench")) and name.rpartition(" ")[2].lower() in ("sum", "total")


def told_apart(names: Mapping[int, str], section: int) -> str:
    """What a page calls one of several; those of one name are counted. Nothing where there is but one."""
    name = names.get(section, "") if len(names) > 1 else ""
    same = sorted(number for number in names if names[number] == name)
    return f"{name}, {same.index(section) + 1} of {len(same)}" if name and len(same) > 1 else name
