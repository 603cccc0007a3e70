"""Lines of lspci that a terminal or a mail program wrapped, and details that a page shows without their tab.

    00:01.0 Host bridge: Example Corporation 9000 Series Dummy Host
    Bridge (rev 02)

lspci prints a device at the beginning of a line and its details behind a tab, so that other lines at the beginning are
the rest of the one before, where that one had no room for their first word. How much room there was, the other lines
show: a line that no other one is as long as was not wrapped as far as anybody can tell, unless what follows is
printed only at the end of a device (`(rev 02)`, `[8086:2922]`) or in its details (`FastB2B- ParErr-`). A terminal
cuts inside words, always at one place.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from apps.parsers.inventory.printed import is_prompt

_NARROWEST, _WIDEST = 40, 132
_TERMINAL = 80
_EARLY = 72
_SURE = 3  # lines of one length were cut, not wrapped
_END = re.compile(r"\(rev [0-9a-f]{2}\)$")
_LAST = re.compile(r"(?:\((?:rev [0-9a-f]{2}|prog-if [0-9a-f]{2}[^()]{0,40})\)|\[[0-9a-f]{4}:[0-9a-f]{4}\])\s*$")
_BITS = re.compile(r"(?:[<>]?[A-Z][A-Za-z0-9]{2,14}[+-](?: |$)){1,20}$")
_TAIL = re.compile(r"\((?:rev [0-9a-f]{2}\)|prog-if [0-9a-f]{2})|\[[0-9a-f]{4}:[0-9a-f]{4}\]")
_NO_PROSE = re.compile(r"[\w\[(][^\n]{0,78}[^\s.:?!,]\s*$")
_DUMP = re.compile(r"[0-9a-f]{2,3}: (?:[0-9a-f]{2} ){3}")  # with `-x`
_DETAIL = re.compile(
    r"(?:Subsystem|Flags|Control|Status|Latency|Interrupt|Region \d|Capabilities|Kernel driver in use|Kernel modules|DeviceName"
    r"|Physical Slot|NUMA node|IOMMU group|Bus|(?:I/O|Memory|Prefetchable memory) behind bridge): |(?:Memory|I/O ports|Expansion ROM) at "
)
_ANY_DETAIL = re.compile(r"[A-Z][\w /]{1,30}:(?: |$)|(?:Memory|I/O ports|Expansion ROM) at ")
Is = Callable[[str], bool]


def widths(lines: Sequence[str], starts: Is) -> tuple[int, int]:
    """The longest two lines of devices and of what is indented below them."""
    longest, second, is_inside = 0, 0, False
    for line in filter(None, lines):
        is_inside = starts(line) or (is_inside and (not line.strip() or line[0] in "\t "))
        if is_inside:
            length = len(line.rstrip())
            longest, second = max(longest, length), max(second, min(longest, length))
    return longest, second


def is_detail(line: str) -> bool:
    return _DETAIL.match(line) is not None


def goes_on(lines: Sequence[str], index: int, longest: tuple[int, int], starts: Is) -> bool:
    """Whether a line is the rest of the one before."""
    before, line = lines[index - 1].rstrip(), lines[index]
    if not before or is_prompt(line):
        return False
    if _TAIL.match(line) or _BITS.match(line):
        return True
    if _END.search(before):
        return False
    if _LAST.search(line[-200:]):
        return True
    if len(before) >= _NARROWEST and lines[index - 1][len(before) :] == " " and _NO_PROSE.match(line):
        return True  # lspci leaves no blank at the end of a line, programs that fold mails do
    if _is_between(lines, index, longest[0], starts):
        return True
    width = longest[1] if len(before) == longest[0] else longest[0]
    if not (_NARROWEST <= len(before) <= width <= _WIDEST):
        return False
    return len(before) + 1 + len(line.split(None, 1)[0]) > width


def _is_between(lines: Sequence[str], index: int, longest: int, starts: Is) -> bool:
    """Whether a mail program that folds only what is too long, but then early, left the line there: another device or detail follows."""
    before, line = lines[index - 1].rstrip(), lines[index]
    following = lines[index + 1] if index + 1 < len(lines) else ""
    if not (following.startswith(("\t", "  ")) or is_detail(following) or _DUMP.match(following) or starts(following)):
        return False
    has_no_room = len(before) + 1 + len(line.split(None, 1)[0]) > _EARLY and len(before) + 1 + len(line) > longest
    return before.endswith(",") or (len(before) <= _TERMINAL and has_no_room)


def joined(lines: Sequence[str], is_own: Is) -> Iterator[str]:
    """The lines of a block as lspci printed them; `is_own` for a line at the beginning that is no rest of another."""
    rests = list(_rests(lines, is_own))
    cut = _cut(lines, rests)
    whole = ""
    before = ""
    for line, is_rest in zip(lines, rests, strict=True):
        if is_rest:
            is_cut = len(before.rstrip()) == cut and before[-1:] != " "
            whole += line.rstrip() if is_cut else f" {line.strip()}"
        elif whole:
            yield whole
        whole = whole if is_rest else line.rstrip()
        before = line
    if whole:
        yield whole


def _rests(lines: Sequence[str], is_own: Is) -> Iterator[bool]:
    before, has_details = "", False
    for line in lines:
        if not line.strip() or is_own(line):
            has_details = False
            yield False
        elif line[0] in "\t ":
            yield line[0] == " " and line[1:2] not in " \t" and len(before) == _TERMINAL
        else:
            has_details = has_details or is_detail(line)
            yield not (has_details and _ANY_DETAIL.match(line))
        before = line


def _cut(lines: Sequence[str], rests: Sequence[bool]) -> int:
    """Where a terminal cut the lines, whatever stood there; 0 where they were wrapped between words.

    Lines that were cut are of one length, but for one that was cut behind a blank, which copying loses. The ports of a card differ
    in nothing but their slots, so that they are of one length wherever they were wrapped.
    """
    before = [lines[index - 1].rstrip() for index, is_rest in enumerate(rests) if is_rest and not rests[index - 1]]
    longest = max(map(len, before), default=0)
    as_long = {line.partition(" ")[2] for line in before if len(line) == longest}
    is_cut = all(len(line) >= longest - 1 for line in before) and (longest == _TERMINAL or len(as_long) >= _SURE)
    return longest if is_cut else 0
