"""What a dd command line asks for: direction, target, block size, and how the data is made safe."""

import re
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

_DD = re.compile(r"""dd(?<![^\s;&|(`/+$#>%'"]dd)(?=\s+[a-z]+=|\s*$)""")
_OPERANDS = re.compile(r"\b(if|of|bs|ibs|obs|count|conv|oflag|iflag|status|skip|seek)=")
_OPERAND = re.compile(r"([a-z]+)=(.*)", re.DOTALL)
_PLAIN_OPERAND = re.compile(r"(?<!\S)([a-z]+)=(\S*)")
_SYNTAX = re.compile(r"""[$"';|&<>()`]""")
_PROMPT = re.compile(r".*[#$%>]\s|\+ ", re.DOTALL)
_LOOP = re.compile(r"\b(?:for|while|until|seq)\b.*\bdo\b")
_DD_ABOVE = re.compile(r"\bdd\s*$")
_WORD = re.compile(
    r"""(?:\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)|"[^"]*"|'[^']*'|[^\s"';|&<>)`]|(?<=\S)[)`](?=\S))+|[|;&<>]+"""
)
_PRODUCT = re.compile(r"\$\(\(\s*(\d{1,12}(?:\s*\*\s*\d{1,12})*)\s*\)\)$")
_SIZE = re.compile(r"(\d{1,15})([a-zA-Z]{0,3})$")
_PREFIXES = "kmgtpe"
_SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/frandom", "/dev/arandom", "/dev/full")
_DEVICES = {"null": "/dev/null", "stdout": "/dev/stdout"}
_GREATEST = 2**63
_LONGEST = 4000


class Command(Struct):
    """One dd of a command line. `text` is the line as shown, `others` how many dd the same pipe has besides."""

    text: str
    operands: dict[str, str] = {}
    is_whole_line: bool = True  # it does not begin on the line above
    is_looped: bool = False
    pipe: int = 1  # how many dd the line pipes into each other
    sent_to: str = ""  # where standard output goes: a path, or "|"
    operation: str = "copy"

    @property
    def source(self) -> str:
        return self.operands.get("if", "")

    @property
    def sink(self) -> str:
        return self.operands.get("of") or self.sent_to

    def set_operation(self) -> None:
        """`write` where only the target can be a disk, `read` where only the source can, `copy` for both or neither."""
        from_disk = bool(self.source) and self.source not in _SOURCES
        to_disk = self.sink not in ("", "|", "/dev/null", "/dev/stdout", "-")
        if from_disk != to_disk:
            self.operation = "write" if to_disk else "read"

    @property
    def target(self) -> str:
        path = self.source if self.operation == "read" else self.sink
        return "" if path in ("|", "/dev/null") else path

    def note(self) -> str:
        if self.operation != "copy":
            return ""
        return (
            "" if self.source and self.source not in _SOURCES else "the command names no disk that was written or read"
        )

    def block_size(self) -> int | None:
        """`bs`, or the size on the side that counts; 512 where none is given, as POSIX has it."""
        side = "ibs" if self.operation == "read" else "obs"
        told = self.operands.get("bs") or self.operands.get(side)
        if told is None:
            return 512
        return size_of(told)

    def workload(self) -> dict[str, str | int | float]:
        """Without the block size."""
        asked: dict[str, str | int | float] = {"command": self.text}
        is_read = self.operation == "read"
        flags = self._words("iflag" if is_read else "oflag")
        is_direct = "direct" in flags
        if is_direct:
            asked["direct"] = 1
        if not is_read:
            asked["sync"] = self._sync(flags)
        elif is_direct:
            asked["sync"] = "direct"
        return asked

    def _words(self, name: str) -> list[str]:
        return self.operands[name].split(",") if name in self.operands else []

    def _sync(self, flags: list[str]) -> str:
        conversions = self._words("conv")
        for name, where in (
            ("sync", flags), ("dsync", flags), ("fsync", conversions), ("fdatasync", conversions), ("direct", flags)
        ):  # fmt: skip
            if name in where:
                return name
        return "none"


@lru_cache(maxsize=256)
def size_of(text: str) -> int | None:
    """Bytes of an operand: `1M`, `64k`, `1m` (BSD), `1kB`, `2x512`, `$((1024*1024))`; None where it is no number."""
    text = text.strip("\"'")
    if product := _PRODUCT.match(text):
        return _multiply([int(factor) for factor in product[1].split("*")])
    factors = [_factor(part) for part in text.split("x")]
    return None if None in factors else _multiply([factor for factor in factors if factor is not None])


def _multiply(factors: list[int]) -> int | None:
    size = 1
    for factor in factors[:8]:
        size *= factor
    return size if 0 < size < _GREATEST else None


def _factor(text: str) -> int | None:
    """GNU's suffixes (K = KiB = 1024, kB = 1000), BSD's (lower case too) and busybox's (kD = 1000)."""
    match = _SIZE.match(text)
    if match is None:
        return None
    number, suffix = int(match[1]), match[2]
    if suffix in ("", "c"):
        return number
    if suffix in ("b", "w"):
        return number * (512 if suffix == "b" else 2)
    power = _PREFIXES.find(suffix[0].lower()) + 1
    if not power or suffix[1:] not in ("", "B", "D", "iB"):
        return None
    base: int = 1000 if suffix[1:] in ("B", "D") else 1024
    return number * int(base**power)


def read_command(line: str, before: str) -> list[Command]:
    """The dd commands of a line, in their order. `before` is the line above it: mails and terminals wrap."""
    if "=" not in line or _OPERANDS.search(line) is None:
        return []
    if "dd" in line and (starts := [match.start() for match in _DD.finditer(line)]):
        return _read(line, starts, True)
    if not _DD_ABOVE.search(before):
        return []
    whole = f"{before.rstrip()} {line.lstrip()}"
    return _read(whole, [match.start() for match in _DD.finditer(whole)], False)


def _read(line: str, starts: list[int], is_whole_line: bool) -> list[Command]:
    if not starts or len(line) > _LONGEST:
        return []
    shown = _shown(line, starts[0])
    is_looped = "do" in line[: starts[0]] and bool(_LOOP.search(line[: starts[0]]))
    commands = [_read_one(line[start:end], shown) for start, end in pairwise([*starts, len(line)])]
    pipe = 1 + sum(one.sent_to == "|" for one in commands[:-1])
    commands = [one for one in commands if one.operands]
    if len(commands) > 1 and pipe > 1:
        commands = [_joined(commands)]
    for one in commands:
        one.pipe, one.is_looped, one.is_whole_line = pipe, is_looped, is_whole_line
        one.set_operation()
    return commands


def _joined(commands: list[Command]) -> Command:
    """A pipe as one copy: from the first one's source to the last one's target."""
    first, last = commands[0], commands[-1]
    operands = {name: value for name, value in first.operands.items() if name in ("if", "iflag", "ibs", "bs", "count")}
    return replace(last, operands={**operands, **last.operands})


def _shown(line: str, start: int) -> str:
    """The line without what stands before the command: the prompt, or a label."""
    match = _PROMPT.match(line, 0, start)
    prompt = match.end() if match else start if ":" in line[:start] else 0
    return line[prompt:].strip().lstrip("$").lstrip()


def _read_one(text: str, shown: str) -> Command:
    if _SYNTAX.search(text) is None:
        return Command(shown, dict(_PLAIN_OPERAND.findall(text)))
    command = Command(shown)
    words = _WORD.findall(text)[1:]
    for position, word in enumerate(words):
        if word == "|":
            command.sent_to = "|"
            break
        if word.startswith(("&", ";", "|")):
            break
        if word == ">" and position + 1 < len(words):
            command.sent_to = words[position + 1]
        elif match := _OPERAND.match(word):
            command.operands[match[1]] = match[2].strip("\"'")
    return command
