"""The parts of a tool's output that have figures of their own: fio's jobs or groups, iperf's streams and clients.

A sample, series or histogram has the number of its section. What a run keeps of them, by number:

    {"0": {"name": "randread-4k", "options": {"rw": "randread", "bs": "4k"}}, "1": {"name": "SUM"}}

and fio's group of each, where there are several.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from apps.parsers.core.models import ParsedRun, ParsedSection
from apps.runs.metrics import DISK

Sections = Mapping[str, Mapping[str, Any]]
MOST_SHOWN = 8  # values of one option
MOST_WITH_OPTIONS = 64  # sections of one run
LONGEST = 200


def sections_of(run: ParsedRun) -> dict[str, dict[str, Any]]:
    """Return the sections of a parsed run as `Run.sections` stores them."""
    has_groups = len({section.group for section in run.sections}) > 1 or (
        len(run.sections) > 1 and not any(section.options for section in run.sections)
    )
    return {
        str(section.number): _section(section, place < MOST_WITH_OPTIONS, has_groups)
        for place, section in enumerate(run.sections)
    }


def _section(section: ParsedSection, has_options: bool, has_groups: bool) -> dict[str, Any]:
    named: dict[str, Any] = {"name": section.name[:LONGEST]} if section.name else {}
    if has_groups and section.group is not None:
        named["group"] = section.group
    if has_options and section.options:
        named["options"] = {name[:60]: value[:LONGEST] for name, value in section.options.items()}
    return named


def name_in(sections: Sections, section: int) -> str:
    return str(sections.get(str(section), {}).get("name", ""))


def engine_in(sections: Sections, section: int) -> str:
    """Return the I/O engine of one of fio's jobs, empty where it is unknown."""
    return str(sections.get(str(section), {}).get("options", {}).get("ioengine", ""))


def names_of(sections: Sections, jobs: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return number → name: what an uploaded output calls them, or else the jobs of the workload."""
    if sections:
        return {int(number): section["name"] for number, section in sections.items() if "name" in section}
    return {number: str(job["name"]) for number, job in enumerate(jobs)}


def name_of(names: Mapping[int, str], operation: str, section: int) -> str:
    """Return the name of a sample's section; empty for a disk's sample, whose note names the disk."""
    return "" if operation == DISK else names.get(section, "")


def jobs_of(tool: str, sections: Sections) -> list[str]:
    """Return the job names that people chose (fio); names of streams are numbers and are left out."""
    return list(names_of(sections, ()).values()) if tool == "fio" else []


def options_of(sections: Sections) -> list[tuple[str, list[str]]]:
    """Return each option of the output with its value, or with `job: value` where jobs differ."""
    names = told_apart(names_of(sections, ()))
    options = dict.fromkeys(option for section in sections.values() for option in section.get("options", {}))
    return [(option, _values(option, sections, names)) for option in options]


def _values(option: str, sections: Sections, names: Mapping[int, str]) -> list[str]:
    values = {int(number): section.get("options", {}).get(option) for number, section in sections.items()}
    if len(set(values.values())) == 1:
        return [next(iter(values.values())) or "set"]
    sentences = [
        f"{names.get(number) or number + 1}: {value or 'set'}" for number, value in values.items() if value is not None
    ]
    return (
        sentences
        if len(sentences) <= MOST_SHOWN
        else [*sentences[: MOST_SHOWN - 1], f"and {len(sentences) - MOST_SHOWN + 1} more"]
    )


def is_sum(tool: str, name: str) -> bool:
    """Return whether a section is the sum of the others; a fio job that somebody named so is none."""
    return tool.startswith(("iperf", "vdbench")) and name.rpartition(" ")[2].lower() in ("sum", "total")


def turns_of(sections: Sections) -> dict[int, int]:
    """Return section → its turn: fio's jobs of one turn run at the same time, those of the next when they have ended.

    A job begins a turn with `stonewall`; its own processes, which have its name, do not. Where no options are printed
    another group is another turn, and jobs of other names are taken to follow each other.
    """
    turns: dict[int, int] = {}
    now: dict[str, int] = {}  # by client: each goes through its jobs by itself
    before: dict[str, Mapping[str, Any]] = {}
    for number in sorted(map(int, sections)):
        section = sections[str(number)]
        client = str(section.get("options", {}).get("hostname", ""))
        last = before.get(client)
        now[client] = now.get(client, 0) + (last is not None and _begins_a_turn(section, last))
        before[client] = section
        turns[number] = now[client]
    return turns


def _begins_a_turn(section: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    options = section.get("options", {})
    if section.get("name") == last.get("name") and section.get("group") == last.get("group"):
        return False
    if "stonewall" in options or "wait_for_previous" in options:
        return bool(options.get("stonewall", "1") != "0")
    if section.get("group") != last.get("group"):
        return "new_group" not in options
    return not options and "group" not in section


def told_apart(names: Mapping[int, str]) -> dict[int, str]:
    """Return unique names of several sections, equal ones counted; empty for a single section."""
    if len(names) < 2:
        return {}
    often, seen = Counter(names.values()), Counter[str]()
    unique = {}
    for number in sorted(names):
        name = names[number]
        seen[name] += 1
        unique[number] = f"{name}, {seen[name]} of {often[name]}" if often[name] > 1 else name
    return unique
