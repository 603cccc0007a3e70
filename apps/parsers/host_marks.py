"""Whose each line is: below a host's name, as Ansible, dshbak, clush -b and parallel-ssh print it; in an output that pdsh or clush put
a host before each line of; or docker compose a container, or kubectl a pod, where several of them take turns.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

_HOST = re.compile(  # but the places of bytes that lspci -x, od and the like print
    r"(?![0-9a-f]{1,7}0:(?: (?:[0-9a-f]{2}){1,2}){4})([A-Za-z0-9][\w.-]{0,62}):(?: |$)"
)
_CONTAINERS = tuple(
    re.compile(form + r"(?: |$)") for form in (r"([A-Za-z0-9][\w.-]{0,99}) {2,64}\|", r"\[pod/([^\]\s]{1,200})\]")
)
_NAME = r"([A-Za-z0-9][\w.,\[\]-]{0,252})"
_HEADS = tuple(
    re.compile(form)
    for form in (
        _NAME + r" \| (?:SUCCESS|CHANGED|FAILED!?)(?: \| rc=\d{1,3})? (?:>>|=>)",  # ansible HOSTS -a COMMAND
        r"(?:ok|changed|failed|fatal): \[([A-Za-z0-9][\w.-]{0,252})(?: -> [^\]\n]{1,200})?\]",  # of a play
        r"\[\d{1,5}\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] ([A-Za-z0-9][\w.-]{0,252})",  # parallel-ssh
    )
)
_ENDS = re.compile(
    r"(?:TASK|PLAY|RUNNING HANDLER)\b.{0,400}\*{3}|[^\s|]{0,80}(?: ~\]?)?[$#] \w|```|</pre>|\[/code\]"
)  # of what a host said
_RULE = re.compile(r"-{15,16}\s*$")  # above and below a name: dshbak, clush -b
_BETWEEN = re.compile(_NAME + r"(?: \(\d{1,6}\))?\s*$")
_MOST_HOSTS = 5000
_FEWEST_OF_ONE = 5  # lines of a container, on average
Found = list[re.Match[str] | None]
Marked = tuple[list[tuple[str, int]], set[str]]


def may_be_in(lines: Iterable[str]) -> bool:
    """Whether any of these lines begins like that."""
    return any(
        _HOST.match(line) or "  |" in line or line.startswith(("[pod/", "---")) or _head(line) is not None
        for line in lines
    )


def marked(lines: Sequence[str]) -> Marked | None:
    """Each line's name and where it begins behind the mark, and all names; "" is what has no mark. None for any other output."""
    if below := _below_heads(lines):
        return below
    found: Found = [_HOST.match(line) for line in lines]
    names = _names(found)
    if _are_nearly_all(found, names, lines) and all(map(_is_host, names)):
        return _places(found), names
    if names := _in_stretches(found, lines):
        return _places(found), names
    for form in _CONTAINERS:
        found = [form.match(line) for line in lines]
        names = _names(found)
        if _are_nearly_all(found, names, lines) and _take_turns([match[1] for match in found if match], names):
            return _places(found), names
    return None


def _head(line: str) -> re.Match[str] | None:
    if not (line[:1] == "[" or " | " in line or ": [" in line):
        return None
    return next((match for form in _HEADS if (match := form.match(line))), None)


def _below_heads(lines: Sequence[str]) -> Marked | None:
    """Of an output in which each host's lines stand below its name; "" is what stands above the first, or below a play's next task
    or somebody's next command.
    """
    heads = {index: match[1] for index, line in enumerate(lines) if (match := _head(line))} or _between_rules(lines)
    if not heads or len(set(heads.values())) > _MOST_HOSTS:
        return None
    places: list[tuple[str, int]] = []
    name = ""
    for index, line in enumerate(lines):
        name = heads.get(index, "" if _ENDS.match(line) else name)
        places.append((name, 0))
    return places, {name for name, _ in places}


def _between_rules(lines: Sequence[str]) -> dict[int, str]:
    """The names that dshbak and clush print between two rules, by the first one's place; a single one may be anybody's heading."""
    found = {}
    for index, line in enumerate(lines[:-2]):
        if line[:3] == "---" and _RULE.match(line) and _RULE.match(lines[index + 2]):
            match = _BETWEEN.match(lines[index + 1])
            if match and _is_host(match[1]):
                found[index] = match[1]
    return found if len(set(found.values())) > 1 else {}


def _names(found: Found) -> set[str]:
    return {match[1] for match in found if match}


def _are_nearly_all(found: Found, names: set[str], lines: Sequence[str]) -> bool:
    """Whether nearly all lines begin with a name."""
    filled = sum(1 for line in lines if line.strip())
    count = sum(1 for match in found if match)
    return count >= 3 and count >= 0.9 * filled and len(names) <= _MOST_HOSTS


def _in_stretches(found: Found, lines: Sequence[str]) -> set[str]:
    """The hosts whose lines take turns with nothing between them, in a file that has prose around; "" is that prose. Of
    other lines `found` forgets their marks.
    """
    stretches = [
        (first, behind)
        for first, behind in _stretches(found, lines)
        if _are_hosts_in_turn([match[1] for match in found[first:behind] if match])
    ]
    if not stretches:
        return set()
    kept: Found = [None] * len(found)
    for first, behind in stretches:
        kept[first:behind] = found[first:behind]
    found[:] = kept
    names = _names(found) | {""}
    return names if len(names) <= _MOST_HOSTS else set()


def _is_host(name: str) -> bool:
    return any(letter.isdigit() for letter in name) or "." in name


def _places(found: Sequence[re.Match[str] | None]) -> list[tuple[str, int]]:
    """Whose each line is, and where it begins behind the mark."""
    return [(match[1], match.end()) if match else ("", 0) for match in found]


def _stretches(found: Sequence[re.Match[str] | None], lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first, behind the last) index of marked lines that have nothing but blank ones between them."""
    stretches, first, last = [], -1, -1
    for index, match in enumerate(found):
        if match and _is_host(match[1]):
            first, last = (index if first < 0 else first), index
        elif first >= 0 and lines[index].strip():
            stretches.append((first, last + 1))
            first = -1
    return [*stretches, (first, last + 1)] if first >= 0 else stretches


def _are_hosts_in_turn(marks: Sequence[str]) -> bool:
    names = set(marks)
    if len(marks) < _FEWEST_OF_ONE * len(names) or len(names) < 2:
        return False
    turns = sum(1 for one, other in pairwise(marks) if one != other)
    return turns >= 2 * len(names) and all(_is_host(name) and name[0].isalpha() for name in names)


def _take_turns(marks: Sequence[str], names: set[str]) -> bool:
    """Whether names come back after others, and often: a table's first column has each but once, or all of one together."""
    turns = sum(1 for one, other in pairwise(marks) if one != other)
    return 1 < len(names) <= turns and len(marks) >= _FEWEST_OF_ONE * len(names) and turns * 2 <= len(marks)
