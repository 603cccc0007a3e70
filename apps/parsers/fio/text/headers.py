"""The line above each job of fio's normal report: `rand: (groupid=1, jobs=2): err= 0: pid=30699: Sat Nov 21 16:35:21 2026`.

If one of its numbers is damaged, the job's figures must not be added to the job above: the line is read all the same,
and what is no number in it is taken from an earlier report of the same job, or unknown.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from apps.parsers.core.models import Broken

HeaderKey = tuple[str, int, str, str]  # name, group, process, host
_HEADER = re.compile(
    r"\s*(?:<(?P<host>[^<>\s]{1,255})> )?(?P<name>.{0,255}?): \(groupid=(?P<group>[^,)\s]{1,12})(?:, jobs=(?P<jobs>[^,)\s]{1,12}))?\): "
    r"err=\s*(?P<error>[^\s:(]{1,12})(?: \([^)]{0,300}\))?:(?: pid=(?P<pid>[^\s:]{1,14}))?"
)
_OLDEST = re.compile(
    r"\s*(?P<name>[^\s(].{0,254}?):? \(g=(?P<group>\d{1,9})\): err=\s*(?P<error>\d{1,9}):?\s*$"
)  # as in fio's HOWTO up to 2.x
_LONGEST = {"group": 9, "jobs": 9, "error": 9, "pid": 12}


@dataclass(frozen=True, slots=True)
class JobHeader:
    """The parsed line. `unread` names its numbers that can not be read."""

    name: str
    host: str
    group: int | None
    jobs: int | None
    error: int | None
    pid: str
    unread: tuple[str, ...] = ()

    def key(self, host: str, known: Iterable[HeaderKey]) -> HeaderKey:
        """Return the key by which the same job is recognised in the next status report."""
        if self.unread:
            for name, group, pid, of in known:
                is_group = self.group is None or group == self.group
                if (name, of) == (self.name, host) and is_group and ("pid" in self.unread or pid == self.pid):
                    return name, group, pid, of
        return self.name, self.group or 0, self.pid, host

    def fault(self, line: int, text: str) -> Broken:
        """Return the message for numbers that can not be read."""
        message = f"{', '.join(self.unread)} of a job cannot be read"
        return Broken(message, line, text.strip()[:120], "(groupid=n, jobs=n): err= n: pid=n")


def read_header(line: str) -> JobHeader | None:
    """Read the line above a job, None where it is none."""
    match = _HEADER.match(line)
    if match is None:
        return _read_oldest(line)
    words = {name: match[name] for name in _LONGEST}
    unread = tuple(
        name
        for name, word in words.items()
        if word and not (_is_error(word) if name == "error" else _is_number(word, _LONGEST[name]))
    )
    numbers = {name: int(word) if word and name not in unread else None for name, word in words.items()}
    if len(unread) > 2 or (len(unread) == 2 and not match["pid"]):
        return None  # prose about fio
    return JobHeader(
        match["name"].strip(), match["host"] or "", numbers["group"], numbers["jobs"], numbers["error"],
        words["pid"] or "", unread,
    )  # fmt: skip


def _read_oldest(line: str) -> JobHeader | None:
    match = _OLDEST.match(line) if "(g=" in line else None
    return JobHeader(match["name"].strip(), "", int(match["group"]), None, int(match["error"]), "") if match else None


def _is_number(word: str, longest: int) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= longest


def _is_error(word: str) -> bool:
    """Return whether a word is an error number; the kernel's own numbers have a sign: `err=-17024`."""
    return _is_number(word.removeprefix("-"), _LONGEST["error"])
