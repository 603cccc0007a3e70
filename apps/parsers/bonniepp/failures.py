"""Runs of Bonnie and bonnie++ that ended before their table, and the messages with which they did.

Writing intelligently...Can't write block.: No space left on device
Rewriting...Bonnie: drastic I/O error (re write(2)): Input/output error
Create files in sequential order...Can't create file 00000000c6ktFD
Cleaning up test directory after error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BEGINS = re.compile(r"\s*Using uid ?: ?\d{1,10}, gid ?: ?\d{1,10}\.?")
_OF_BONNIE = re.compile(r"\s*(?:Bonnie [\d.]{1,8}[^:]{0,40}: )?File '[^']{1,1000}', size: \d")  # Bonnie 1.x and 2.x
_STEPS = (
    re.compile(r"Writing (?:a byte at a time|with putc\(\))\.\.\."), re.compile(r"Writing intelligently\.\.\."),
    re.compile(r"Rewriting\.\.\."), re.compile(r"Reading (?:a byte at a time|with getc\(\))\.\.\."),
    re.compile(r"Reading intelligently\.\.\."), re.compile(r"start 'em\.\.\."), re.compile(r"Create files in sequential order\.\.\."),
    re.compile(r"Create files in random order\.\.\."),
)  # fmt: skip
_ANY_STEP = re.compile("|".join(step.pattern for step in _STEPS))
_FAILURE = re.compile(
    r"(?:Can'?t (?:write|read|open|create|sync file|stat|delete|make|get|change|set|chdir|lseek|putc|getc)\b"
    r"|Bonnie(?:\+\+)?: drastic I/O error|[Ee]rror in lseek|Cleaning up test directory after error|[Cc]aught signal)[^\n]{0,150}"
)
_SIGNALS = (
    r"(\^C|Terminated|Killed|Segmentation fault(?: \(core dumped\))?|Bus error|Aborted|Interrupted?|Alarm clock|Hangup)"
)
_SIGNAL_BEHIND = re.compile(rf"\.\.\. {{0,8}}{_SIGNALS}$")
_SIGNAL_ALONE = re.compile(rf"(?:\S{{1,40}}: line \d{{1,5}}: {{1,4}}\d{{1,9}} )?{_SIGNALS}\b")
_DRASTIC = "Bonnie: drastic I/O error"
_LONGEST = 1000


@dataclass(slots=True)
class BonnieAttempt:
    """A run that printed what it was doing; `first` and `behind` are indices of lines, `failure` is "" where nothing was told."""

    first: int
    behind: int
    failure: str = ""
    failure_line: int = 0
    is_of_bonnie: bool = False  # of Bonnie 1.x or 2.x, which names its file and writes %CPU over its table
    step: int = -1
    is_sure: bool = False  # has a line that no other program prints


def may_be_in(text: str) -> bool:
    """Return quickly whether a text may have such lines."""
    return "ing intelligently..." in text or "Writing with putc()..." in text or "Using uid" in text or _DRASTIC in text


def find_attempts(lines: Sequence[str]) -> list[BonnieAttempt]:
    """Return every run that printed what it was doing, each up to the next one."""
    attempts: list[BonnieAttempt] = []
    for index, line in enumerate(lines):
        if not line or len(line) > _LONGEST:
            continue
        current = attempts[-1] if attempts else None
        if current and "%CPU" in line:
            current.is_of_bonnie = True  # its table
        is_of_bonnie = "size:" in line and bool(_OF_BONNIE.match(line))
        steps = [place for place, step in enumerate(_STEPS) if "..." in line and step.search(line)]
        is_sure = is_of_bonnie or 1 in steps or 0 in steps or _DRASTIC in line or bool(_BEGINS.match(line))
        is_repeated = bool(steps) and (current is None or steps[0] <= current.step)
        is_further = current is not None and current.step < 0 and not is_of_bonnie and not _BEGINS.match(line)
        is_alone = current is None and _DRASTIC in line
        if is_of_bonnie or _BEGINS.match(line) or is_alone or (is_repeated and not is_further):
            if current:
                current.behind = index
            current = BonnieAttempt(index, len(lines), is_of_bonnie=is_of_bonnie)
            attempts.append(current)
        if current is None:
            continue
        current.step, current.is_sure = (steps[-1] if steps else current.step), current.is_sure or is_sure
        if failure := _find_failure(line, has_steps=current.step >= 0):
            current.failure = current.failure or failure
            current.failure_line = current.failure_line or index
    sure = [attempt for attempt in attempts if attempt.is_sure]
    return [attempt for attempt in sure if attempt.step >= 0 or attempt.failure or attempt.is_of_bonnie]


def _find_failure(line: str, *, has_steps: bool) -> str:
    """Return the message of a failure in a line, "" where there is none."""
    if match := _FAILURE.search(line):
        return match[0].strip()
    line = line.strip()
    signal = (_SIGNAL_BEHIND.search(line) or _SIGNAL_ALONE.match(line)) if has_steps else None
    return signal[1] if signal else ""
