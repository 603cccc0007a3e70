"""What a dd command line asks for: direction, target, block size, and how the data is made safe."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

_DD = re.compile(  # gdd is GNU's on macOS
    r"""dd(?:(?<![^\s;&|(`/+$#>%'"]dd)|(?<=gdd)(?<![^\s;&|(`/+$#>%'"]gdd))(?=\s+[a-z]+=|\s*$)"""
)
_OPERANDS = re.compile(  # from its = back, as a search for one letter is the quickest
    r"=(?:(?<=\b[io]f=)|(?<=\bbs=)|(?<=\b[io]bs=)|(?<=\b[io]flag=)|(?<=\b(?:conv|skip|seek)=)|(?<=\bcount=)|(?<=\bstatus=))"
)
_OPERAND = re.compile(r"([a-z]+)=(.*)", re.DOTALL)
_NAME = re.compile("[a-z]+")
NAMES = frozenset(("if", "of", "bs", "ibs", "obs", "count", "iflag", "oflag", "conv", "skip", "seek", "status"))
_SYNTAX = re.compile(r"""[$"';|&<>()`\\]""")
_PROMPT = re.compile(  # no end of one: "echo 3 > /proc/sys/vm/drop_caches"
    r".*(?:[#$%❯➜]|(?<!echo [0-9] )(?<!echo [0-9])>)\s|\[[^\]]{3,100}\][#$]|\++ ", re.DOTALL
)
_LOOP = re.compile(r"\b(?:for|while|until|seq)\b.*\bdo\b")
_WORD = re.compile(
    r"""(?:\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)|"[^"]*"|'[^']*'|\\.?|[^\s"';|&<>)`\\]|(?<=\S)[)`](?=\S))+|[|;&<>]+"""
)
_PRODUCT = re.compile(r"\$\(\(\s*(\d{1,12}(?:\s*\*\s*\d{1,12})*)\s*\)\)$")
_SIZE = re.compile(r"(\d{1,15})([a-zA-Z]{0,3})$")
_PREFIXES = "kmgtpe"
_SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/frandom", "/dev/arandom", "/dev/full")
_NO_SINKS = ("", "|", "/dev/null", "/dev/zero", "/dev/stdout", "-")
_PASSES_ON = frozenset(("pv", "cat", "buffer", "mbuffer"))
_GREATEST = 2**63
_LONGEST = 4000
_BEHIND = re.compile(r"(?:`|</?br ?/?>)\Z")  # a command, from a post or a page


class Command(Struct):
    """One dd of a command line. `text` is the line as shown, `others` how many dd the same pipe has besides."""

    text: str
    operands: dict[str, str] = {}
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
        source = self.operands.get("if", "")
        from_disk = bool(source) and source not in _SOURCES
        to_disk = self.sink not in _NO_SINKS
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
        told = self.operands.get
        if self.operation == "read":
            is_direct = "direct" in told("iflag", "").split(",")
            return {"command": self.text, "direct": 1, "sync": "direct"} if is_direct else {"command": self.text}
        is_direct, sync = _safety(told("oflag", ""), told("conv", ""))
        if is_direct:
            return {"command": self.text, "direct": 1, "sync": sync}
        return {"command": self.text, "sync": sync}


@lru_cache(maxsize=256)
def _safety(oflag: str, conv: str) -> tuple[bool, str]:
    """Whether a write goes past the cache, and what makes it safe."""
    flags, conversions = oflag.split(","), conv.split(",")
    for name, where in (
        ("sync", flags), ("dsync", flags), ("fsync", conversions), ("fdatasync", conversions), ("direct", flags)
    ):  # fmt: skip
        if name in where:
            return "direct" in flags, name
    return False, "none"


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


def read_command(line: str) -> list[Command]:
    """The dd commands of a line, in their order; in bold, where a page in Markdown has them so."""
    if "**" in line:
        line = line.replace("**", "")
    if "=" not in line or "dd" not in line or _OPERANDS.search(line) is None:
        return []
    return _read(line, starts(line))


def starts(line: str) -> list[int]:
    """Where each dd of a line begins."""
    first = _DD.search(line)
    if first is None:
        return []
    start, end = first.span()
    if line.find("dd", end) < 0:  # nearly always
        return [start]
    return [start, *(match.start() for match in _DD.finditer(line, end))]


def _read(line: str, begun: list[int]) -> list[Command]:
    if not begun or len(line) > _LONGEST:
        return []
    end, is_looped = _prompt(line[: begun[0]])
    shown = line[end:].strip().lstrip("$").lstrip()
    if shown[-1:] == ">" or (shown[-1:] == "`" and shown.count("`") == 1):  # the other one stands before the prompt
        shown = _BEHIND.sub("", shown)
    if len(begun) == 1:
        command = _read_one(line[begun[0] :], shown)
        command.is_looped = is_looped
        command.set_operation()
        return [command] if command.operands else []
    commands = [_read_one(line[start:end], shown) for start, end in pairwise([*begun, len(line)])]
    pipe = 1 + sum(one.sent_to == "|" for one in commands[:-1])
    commands = [one for one in commands if one.operands]
    if len(commands) > 1 and pipe > 1:
        commands = [_joined(commands)]
    for one in commands:
        one.pipe, one.is_looped = pipe, is_looped
        one.set_operation()
    return commands


def _joined(commands: list[Command]) -> Command:
    """A pipe as one copy: from the first one's source to the last one's target."""
    first, last = commands[0], commands[-1]
    operands = {name: value for name, value in first.operands.items() if name in ("if", "iflag", "ibs", "bs", "count")}
    return replace(last, operands={**operands, **last.operands})


@lru_cache(maxsize=256)
def _prompt(before: str) -> tuple[int, bool]:
    """Where the prompt, or a label, ends that stands before a command; and whether a loop begins there."""
    match = _PROMPT.match(before)
    end = match.end() if match else len(before) if ":" in before else 0
    return end, "do" in before and bool(_LOOP.search(before))


def _read_one(text: str, shown: str) -> Command:
    if _SYNTAX.search(text) is None:
        return Command(shown, _operands(text.split()))
    command = Command(shown)
    words = _WORD.findall(text)[1:]
    for position, word in enumerate(words):
        if word == "|":
            command.sent_to = _behind_pipe(words[position + 1 :])
            break
        if word.startswith(("&", ";", "|")):
            break
        if word in (">", ">>") and position + 1 < len(words):
            command.sent_to = words[position + 1]
        elif match := _OPERAND.match(word):
            command.operands[match[1]] = match[2].strip("\"'").replace("\\ ", " ")
    return command


def _behind_pipe(words: Sequence[str]) -> str:
    """Where a pipe ends: a path, where it only passes on what it gets."""
    if words and words[0] in _PASSES_ON and "|" not in words and ">" in words[:-1]:
        return words[words.index(">") + 1]
    return "|"


def _operands(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, mark, value = word.partition("=")
        if mark and (name in NAMES or _NAME.fullmatch(name)):
            found[name] = value
    return found
