"""Attribution of lines to hosts in the output of tools that run a command on many hosts.

Ansible, dshbak, `clush -b` and parallel-ssh print a host's name above its lines; pdsh and clush print it before each
line, docker compose a container and kubectl a pod, where several of them take turns.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

_HOST = re.compile(  # except offsets of hex dumps, as lspci -x and od print them
    r"(?![0-9a-f]{1,7}0:(?: (?:[0-9a-f]{2}){1,2}){4})([A-Za-z0-9][\w.-]{0,62}):(?: |$)"
)
_CONTAINERS = tuple(
    re.compile(form + r"(?: |$)") for form in (r"([A-Za-z0-9][\w.-]{0,99}) {2,64}\|", r"\[pod/([^\]\s]{1,200})\]")
)
_NAME = r"([A-Za-z0-9][\w.,\[\]-]{0,252})"
_HEADINGS = tuple(
    re.compile(form)
    for form in (
        _NAME + r" \| (?:SUCCESS|CHANGED|FAILED!?)(?: \| rc=\d{1,3})? (?:>>|=>)",  # ansible HOSTS -a COMMAND
        r"(?:ok|changed|failed|fatal): \[([A-Za-z0-9][\w.-]{0,252})(?: -> [^\]\n]{1,200})?\]",  # of a play
        r"\[\d{1,5}\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] ([A-Za-z0-9][\w.-]{0,252})",  # parallel-ssh
    )
)
_END_OF_OUTPUT = re.compile(
    r"(?:TASK|PLAY|RUNNING HANDLER)\b.{0,400}\*{3}|[^\s|]{0,80}(?: ~\]?)?[$#] \w|```|</pre>|\[/code\]"
)  # a playbook's next task, a shell prompt or the end of a code block
_RULE = re.compile(r"-{15,16}\s*$")  # above and below a name: dshbak, clush -b
_RULED_NAME = re.compile(_NAME + r"(?: \(\d{1,6}\))?\s*$")
_MOST_HOSTS = 5000
_FEWEST_OF_ONE = 5  # lines that each container has on average
Matches = list[re.Match[str] | None]
MarkedLines = tuple[list[tuple[str, int]], set[str]]


def may_be_in(lines: Iterable[str]) -> bool:
    """Return whether any of these lines begins with a mark."""
    return any(
        _HOST.match(line) or "  |" in line or line.startswith(("[pod/", "---")) or _match_heading(line) is not None
        for line in lines
    )


def mark_lines(lines: Sequence[str]) -> MarkedLines | None:
    """Return which host each line belongs to; None where the text is no such output.

    The result holds, for each line, the host's name and the index at which the line begins behind the mark, and the set
    of all names. The name "" stands for lines without a mark.
    """
    if below := _mark_below_headings(lines):
        return below
    matches: Matches = [_HOST.match(line) for line in lines]
    names = _collect_names(matches)
    if _are_nearly_all(matches, names, lines) and all(map(_is_host, names)):
        return _make_places(matches), names
    if names := _keep_stretches(matches, lines):
        return _make_places(matches), names
    for form in _CONTAINERS:
        matches = [form.match(line) for line in lines]
        names = _collect_names(matches)
        if _are_nearly_all(matches, names, lines) and _take_turns([match[1] for match in matches if match], names):
            return _make_places(matches), names
    return None


def _match_heading(line: str) -> re.Match[str] | None:
    """Return the match of a heading line that names a host."""
    if not (line[:1] == "[" or " | " in line or ": [" in line):
        return None
    return next((match for form in _HEADINGS if (match := form.match(line))), None)


def _mark_below_headings(lines: Sequence[str]) -> MarkedLines | None:
    """Return the marks of an output in which each host's lines stand below its name.

    Lines above the first name, below a play's next task or below a user's next command get the name "".
    """
    heads = {
        index: match[1] for index, line in enumerate(lines) if (match := _match_heading(line))
    } or _find_ruled_names(lines)
    if not heads or len(set(heads.values())) > _MOST_HOSTS:
        return None
    places: list[tuple[str, int]] = []
    name = ""
    for index, line in enumerate(lines):
        name = heads.get(index, "" if _END_OF_OUTPUT.match(line) else name)
        places.append((name, 0))
    return places, {name for name, _ in places}


def _find_ruled_names(lines: Sequence[str]) -> dict[int, str]:
    """Return the names that dshbak and clush print between two rules, by the index of the first rule.

    A single one is not enough: it may be anybody's heading.
    """
    names = {}
    for index, line in enumerate(lines[:-2]):
        if line[:3] == "---" and _RULE.match(line) and _RULE.match(lines[index + 2]):
            match = _RULED_NAME.match(lines[index + 1])
            if match and _is_host(match[1]):
                names[index] = match[1]
    return names if len(set(names.values())) > 1 else {}


def _collect_names(matches: Matches) -> set[str]:
    return {match[1] for match in matches if match}


def _are_nearly_all(matches: Matches, names: set[str], lines: Sequence[str]) -> bool:
    """Return whether nearly all lines begin with a name."""
    filled = sum(1 for line in lines if line.strip())
    count = sum(1 for match in matches if match)
    return count >= 3 and count >= 0.9 * filled and len(names) <= _MOST_HOSTS


def _keep_stretches(matches: Matches, lines: Sequence[str]) -> set[str]:
    """Return the names in stretches in which hosts take turns, inside a text that has prose around them.

    `matches` is changed: lines outside these stretches lose their match. The names include "" for the prose.
    """
    stretches = [
        (first, behind)
        for first, behind in _find_stretches(matches, lines)
        if _are_hosts_in_turn([match[1] for match in matches[first:behind] if match])
    ]
    if not stretches:
        return set()
    in_stretches: Matches = [None] * len(matches)
    for first, behind in stretches:
        in_stretches[first:behind] = matches[first:behind]
    matches[:] = in_stretches
    names = _collect_names(matches) | {""}
    return names if len(names) <= _MOST_HOSTS else set()


def _is_host(name: str) -> bool:
    return any(letter.isdigit() for letter in name) or "." in name


def _make_places(matches: Sequence[re.Match[str] | None]) -> list[tuple[str, int]]:
    """Return each line's name, and the index at which the line begins behind the mark."""
    return [(match[1], match.end()) if match else ("", 0) for match in matches]


def _find_stretches(matches: Sequence[re.Match[str] | None], lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return (first, behind the last) index of marked lines that have only blank lines between them."""
    stretches, first, last = [], -1, -1
    for index, match in enumerate(matches):
        if match and _is_host(match[1]):
            first, last = (index if first < 0 else first), index
        elif first >= 0 and lines[index].strip():
            stretches.append((first, last + 1))
            first = -1
    return [*stretches, (first, last + 1)] if first >= 0 else stretches


def _are_hosts_in_turn(marks: Sequence[str]) -> bool:
    """Return whether the names are those of several hosts that take turns."""
    names = set(marks)
    if len(marks) < _FEWEST_OF_ONE * len(names) or len(names) < 2:
        return False
    turns = sum(1 for name_before, name_after in pairwise(marks) if name_before != name_after)
    return turns >= 2 * len(names) and all(_is_host(name) and name[0].isalpha() for name in names)


def _take_turns(marks: Sequence[str], names: set[str]) -> bool:
    """Return whether names come back after others, and often.

    The first column of a table has each name once, or all rows of one name together.
    """
    turns = sum(1 for name_before, name_after in pairwise(marks) if name_before != name_after)
    return 1 < len(names) <= turns and len(marks) >= _FEWEST_OF_ONE * len(names) and turns * 2 <= len(marks)
