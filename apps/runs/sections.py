"""The parts of a tool's output that have figures of their own: fio's jobs or groups, iperf's streams and clients.

A sample, series or histogram has the number of its section. What a run keeps of them, by number:

    {"0": {"name": "randread-4k", "options": {"rw": "randread", "bs": "4k"}}, "1": {"name": "SUM"}}
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from apps.parsers.shape import ParsedRun, ParsedSection
from apps.runs.metrics import DISK

Sections = Mapping[str, Mapping[str, Any]]
MOST_SHOWN = 8  # values of one option
MOST_WITH_OPTIONS = 64  # sections of one run
LONGEST = 200


def sections_of(run: ParsedRun) -> dict[str, dict[str, Any]]:
    """What a run keeps of those that were read."""
    return {str(one.number): _section(one, place < MOST_WITH_OPTIONS) for place, one in enumerate(run.sections)}


def _section(one: ParsedSection, has_options: bool) -> dict[str, Any]:
    named: dict[str, Any] = {"name": one.name[:LONGEST]} if one.name else {}
    if has_options and one.options:
        named["options"] = {name[:60]: value[:LONGEST] for name, value in one.options.items()}
    return named


def name_in(sections: Sections, section: int) -> str:
    return str(sections.get(str(section), {}).get("name", ""))


def names_of(sections: Sections, jobs: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Number → name: what an uploaded output calls them, or else the jobs of the workload."""
    if sections:
        return {int(number): one["name"] for number, one in sections.items() if "name" in one}
    return {number: str(job["name"]) for number, job in enumerate(jobs)}


def name_of(names: Mapping[int, str], operation: str, section: int) -> str:
    """Of a sample's section. That of a disk counts disks, and its note names it."""
    return "" if operation == DISK else names.get(section, "")


def jobs_of(tool: str, sections: Sections) -> list[str]:
    """Names that people gave, which tell what was done: fio's. Those of streams are numbers."""
    return list(names_of(sections, ()).values()) if tool == "fio" else []


def options_of(sections: Sections) -> list[tuple[str, list[str]]]:
    """Each option that the output shows, with its value; with `job: value` for some of the jobs where it is not the same for all."""
    names = told_apart(names_of(sections, ()))
    options = dict.fromkeys(option for one in sections.values() for option in one.get("options", {}))
    return [(option, _values(option, sections, names)) for option in options]


def _values(option: str, sections: Sections, names: Mapping[int, str]) -> list[str]:
    found = {int(number): one.get("options", {}).get(option) for number, one in sections.items()}
    if len(set(found.values())) == 1:
        return [next(iter(found.values())) or "set"]
    said = [
        f"{names.get(number) or number + 1}: {value or 'set'}" for number, value in found.items() if value is not None
    ]
    return said if len(said) <= MOST_SHOWN else [*said[: MOST_SHOWN - 1], f"and {len(said) - MOST_SHOWN + 1} more"]


def is_sum(tool: str, name: str) -> bool:
    """Whether a section sums the others up. A job of fio that somebody called so does not."""
    return tool.startswith(("iperf", "vdbench")) and name.rpartition(" ")[2].lower() in ("sum", "total")


def told_apart(names: Mapping[int, str]) -> dict[int, str]:
    """What a page calls each of several; those of one name are counted. Nothing where there is but one."""
    if len(names) < 2:
        return {}
    often, seen = Counter(names.values()), Counter[str]()
    told = {}
    for number in sorted(names):
        name = names[number]
        seen[name] += 1
        told[number] = f"{name}, {seen[name]} of {often[name]}" if often[name] > 1 else name
    return told
