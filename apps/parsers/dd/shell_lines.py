"""Commands that were typed above a copy: dd in one line or several, broken by a mail or by a terminal, or in a loop.

root@lab:~# dd if=/dev/zero of=/srv/volumes/first/testfile bs=1M count=1000 ofl
ag=direct

$ for size in 4k 1M
do
  dd if=/dev/sdx of=/dev/null bs=$size count=1000
done
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from apps.parsers.dd.command import NAMES, DdCommand, find_starts, parse_size, read_command

_GOES_ON = re.compile(
    r"\s*(?:(?:[io]f|[io]?bs|cbs|count|[io]?skip|[io]?seek|conv|[io]flag|status|speed)=\S|\|[^|]|&&)"
).match
_MOST_WRAPPED = 3
_NARROWEST = 60  # columns of a terminal; narrower ones would break too many words
_WIDTHS = (80, 100, 120, 132)
_FLAGS = re.compile(
    r"(?:append|direct|directory|d?sync|nonblock|no(?:atime|cache|ctty|follow|trunc|error|creat|ne|xfer)|fullblock|"
    r"(?:count|skip|seek)_bytes|f(?:data)?sync|excl|sparse|swab|[lu]case|(?:un)?block|ascii|ebcdic|ibm|progress)\Z"
).match
_OPERATOR = re.compile(r"[;&|<>()`]|[12]>")
_LOOP_BEGINS = re.compile(r"(?:^|[\s;#$%>])(?:for|while|until)\s")
_LOOP_ENDS = re.compile(r"\s*done\s*(?:$|[;&|<>])").match
_GROUP_BEGINS = re.compile(r"(?:^|[\s;#$%>])time\s+(?:-p\s+)?(?:[({]|begin)\s*(?:$|;)|(?:^|[\s;#$%>])time\s+\(")
_GROUP_ENDS = re.compile(r"\s*(?:[)}]|end)\s*$").match
_LONGEST_LOOP = 12
_PRINTS = re.compile(r"\b(?:echo|printf|date)\b")
_HIDES = re.compile(r"2>\s*/|&>|status=none")
_PROMPT = re.compile(r"\s*(?:\[?[\w.-]{1,32}@[\w.-]{1,64}[:\s][^#$%>]{0,200})?[#$%>]\s")


class TypedCommands(Struct):
    """The commands whose outputs follow. Those of a loop repeat, and the loop may print lines of its own between them."""

    first: int  # index of the line
    text: str
    commands: list[DdCommand]

    @property
    def is_loop(self) -> bool:
        """Return whether they stand in a loop."""
        return bool(self.commands) and self.commands[0].is_looped

    @property
    def is_unclear(self) -> bool:
        """Return whether a dd of a loop has its output hidden, so that outputs can not be assigned to commands."""
        return self.is_loop and _HIDES.search(self.text) is not None

    @property
    def prints(self) -> bool:
        """Return whether the loop prints lines of its own."""
        return self.is_loop and _PRINTS.search(self.text) is not None


def read_typed(lines: Sequence[str], index: int, floor: int) -> TypedCommands:
    """Read what was typed in the lines that end with this one, down from below `floor`; without commands where there was no dd."""
    if _LOOP_ENDS(lines[index]):
        return _read_loop(lines, index, floor) or TypedCommands(index, lines[index], [])
    if _GROUP_ENDS(lines[index]) and (group := _read_group(lines, index, floor)):
        return group
    first = _find_first(lines, index, floor)
    text = _join_lines(lines[first : index + 1]) if first < index else lines[index]
    if commands := read_command(text):
        return TypedCommands(first, text, commands)
    return _read_cut_command(lines, index, floor) or TypedCommands(first, text, [])


def is_printed(lines: Sequence[str]) -> bool:
    """Return whether a loop may have printed these lines: they are few, and none stands behind a prompt."""
    filled = [line for line in lines if line.strip()]
    return len(filled) <= _MOST_WRAPPED and not any(_PROMPT.match(line) or read_command(line) for line in filled)


def find_printed_caption(lines: Sequence[str], index: int, floor: int) -> str:
    """Return what a loop printed last before this line, as a caption."""
    for line in reversed(lines[max(floor + 1, index - _MOST_WRAPPED) : index]):
        if line.strip():
            return line.strip()[:200] if is_printed([line]) and not _LOOP_ENDS(line) else ""
    return ""


def _find_first(lines: Sequence[str], index: int, floor: int) -> int:
    """Return the index, above `floor`, of the line in which the command begins that ends in this one: mails and terminals wrap."""
    first = index
    while first > floor + 1 and index - first < _MOST_WRAPPED and _is_continuation(lines[first], lines[first - 1]):
        first -= 1
    return first


def _is_continuation(line: str, above: str) -> bool:
    """Return whether a line is the rest of the command above it, and not printed by a loop."""
    if _GOES_ON(line) is None or above.rstrip().endswith("done"):
        return False
    return line.lstrip()[0] in "|&" or not find_starts(line)


def _join_lines(lines: Sequence[str]) -> str:
    return " ".join(line.strip().removesuffix("\\") for line in lines)


def _read_cut_command(lines: Sequence[str], index: int, floor: int) -> TypedCommands | None:
    """Read a command that a terminal broke inside a word, at its last column: all lines but the last are equally long."""
    width = len(lines[index - 1]) if index - 1 > floor else 0
    if width < _NARROWEST or len(lines[index]) > width:
        return None
    first = index - 1
    while (
        first - 1 > floor
        and index - first < _MOST_WRAPPED
        and not find_starts(lines[first])
        and len(lines[first - 1]) == width
    ):
        first -= 1
    text = "".join(lines[first : index + 1])
    begun = find_starts(lines[first])
    if not begun or not _is_command(text[begun[-1] :], width * (index - first) - begun[-1], width in _WIDTHS):
        return None
    return TypedCommands(first, text, read_command(text))


def _is_command(text: str, cut: int, is_usual: bool) -> bool:
    """Return whether dd understands every word, and for certain the one that was broken at offset `cut`."""
    place = 2
    for word in text[2:].split():
        if _OPERATOR.match(word):
            break
        place = text.index(word, place)
        name, mark, value = word.partition("=")
        if not mark or name not in NAMES or not value:
            return False
        is_last_cut = place < cut < place + len(word)
        if is_last_cut and name in ("if", "of") and not is_usual and place + len(word) == len(text.rstrip()):
            return False
        if name not in ("if", "of") and not _is_value(name, value.strip("\"'")):
            return False
        place += len(word)
    return True


def _is_value(name: str, value: str) -> bool:
    if name in ("conv", "iflag", "oflag", "status"):
        return all(_FLAGS(flag) for flag in value.split(","))
    return value == "0" or parse_size(value) is not None


def _read_loop(lines: Sequence[str], index: int, floor: int) -> TypedCommands | None:
    """Read a loop over several lines, which ends in this one."""
    for first in range(index - 1, max(floor, index - _LONGEST_LOOP), -1):
        if _LOOP_BEGINS.search(lines[first]):
            text = lines[first].rstrip()
            for line in lines[first + 1 : index + 1]:
                mark = " " if text.endswith(("\\", " do", "\tdo", ";do")) else "; "
                text = text.removesuffix("\\") + mark + line.strip() if line.strip() else text
            commands = read_command(text)
            return TypedCommands(first, text, commands) if commands and commands[0].is_looped else None
    return None


def _read_group(lines: Sequence[str], index: int, floor: int) -> TypedCommands | None:
    """Read commands in brackets over several lines, which were timed together and end in this line."""
    for first in range(index - 1, max(floor, index - _LONGEST_LOOP), -1):
        if _GROUP_BEGINS.search(lines[first]):
            text = lines[first].rstrip()
            for line in lines[first + 1 : index + 1]:
                mark = " " if text.endswith(("\\", "(", "{", ";", "begin", "&&")) or line.strip() == ")" else "; "
                text = text.removesuffix("\\") + mark + line.strip() if line.strip() else text
            return TypedCommands(first, text, read_command(text))
    return None
