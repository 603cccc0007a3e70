"""The command line of dd: what it copies, from where, to where, with which block size, and how the data is made safe."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

_DD = re.compile(  # gdd is GNU's on macOS
    r"""dd(?:(?<![^\s;&|(`/+$#>%'"]dd)|(?<=gdd)(?<![^\s;&|(`/+$#>%'"]gdd))(?=\s+[a-z]+=|\s*$)"""
)
_OPERANDS = re.compile(  # begins at the = and looks back, because a search for one character is the quickest
    r"=(?:(?<=\b[io]f=)|(?<=\bbs=)|(?<=\b[io]bs=)|(?<=\b[io]flag=)|(?<=\b(?:conv|skip|seek)=)|(?<=\bcount=)|(?<=\bstatus=))"
)
_OPERAND = re.compile(r"([a-z]+)=(.*)", re.DOTALL)
_NAME = re.compile("[a-z]+")
NAMES = frozenset(("if", "of", "bs", "ibs", "obs", "count", "iflag", "oflag", "conv", "skip", "seek", "status"))
_SYNTAX = re.compile(r"""[$"';|&<>()`\\]""")
_PROMPT = re.compile(  # the `>` of "echo 3 > /proc/sys/vm/drop_caches" ends no prompt
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
_BEHIND = re.compile(r"(?:`|</?br ?/?>)\Z")  # markup of a post or page behind a command


class DdCommand(Struct):
    """One dd of a command line; `text` is the line as shown."""

    text: str
    operands: dict[str, str] = {}
    is_looped: bool = False
    pipe: int = 1  # number of dd that the line pipes into each other
    sent_to: str = ""  # where standard output goes: a path, or "|"
    operation: str = "copy"

    @property
    def source(self) -> str:
        """Return the path of `if=`, "" for standard input."""
        return self.operands.get("if", "")

    @property
    def sink(self) -> str:
        """Return the path that is written to, "|" for a pipe, "" for standard output."""
        return self.operands.get("of") or self.sent_to

    def set_operation(self) -> None:
        """Set `operation`: `write` where only the target can be a disk, `read` where only the source can, `copy` for both or neither."""
        source = self.operands.get("if", "")
        from_disk = bool(source) and source not in _SOURCES
        to_disk = self.sink not in _NO_SINKS
        if from_disk != to_disk:
            self.operation = "write" if to_disk else "read"

    @property
    def target(self) -> str:
        """Return the path that was measured."""
        path = self.source if self.operation == "read" else self.sink
        return "" if path in ("|", "/dev/null") else path

    def make_note(self) -> str:
        """Return a note for a copy of which neither side is a disk, "" otherwise."""
        if self.operation != "copy":
            return ""
        return (
            "" if self.source and self.source not in _SOURCES else "the command names no disk that was written or read"
        )

    def get_block_size(self) -> int | None:
        """Return bytes of `bs`, or of the size on the measured side; 512 where none is given, as in POSIX; None where it is unreadable."""
        side = "ibs" if self.operation == "read" else "obs"
        size_text = self.operands.get("bs") or self.operands.get(side)
        if size_text is None:
            return 512
        return parse_size(size_text)

    def get_announced_size(self) -> int | None:
        """Return how many bytes the command writes from an endless source; None where it does not say, or the number is impossible."""
        is_endless = self.operation == "write" and self.source in _SOURCES and not self.is_looped
        return self.get_largest_size() if is_endless else None

    def get_largest_size(self) -> int | None:
        """Return how many bytes the command copies at most; None where it does not say, or the number is impossible.

        `count` is in input blocks. One that ends in `B` is in blocks for older versions of dd, and in bytes for newer
        ones.
        """
        count_text, get = self.operands.get("count", ""), self.operands.get
        count, size = parse_size(count_text), parse_size(get("bs") or get("ibs") or "512")
        if count is None or size is None or count_text.strip("\"'").endswith("B"):
            return None
        largest = count if "count_bytes" in get("iflag", "").split(",") else count * size
        return largest if largest < _GREATEST else None

    def make_workload(self) -> dict[str, str | int | float]:
        """Return the workload in fio's words, without the block size."""
        get = self.operands.get
        if self.operation == "read":
            is_direct = "direct" in get("iflag", "").split(",")
            return {"command": self.text, "direct": 1, "sync": "direct"} if is_direct else {"command": self.text}
        is_direct, sync = _find_safety(get("oflag", ""), get("conv", ""))
        if is_direct:
            return {"command": self.text, "direct": 1, "sync": sync}
        return {"command": self.text, "sync": sync}


@lru_cache(maxsize=256)
def _find_safety(oflag: str, conv: str) -> tuple[bool, str]:
    """Return whether a write bypasses the page cache, and what makes it safe: sync, dsync, fsync, fdatasync, direct or none."""
    flags, conversions = oflag.split(","), conv.split(",")
    for name, where in (
        ("sync", flags), ("dsync", flags), ("fsync", conversions), ("fdatasync", conversions), ("direct", flags)
    ):  # fmt: skip
        if name in where:
            return "direct" in flags, name
    return False, "none"


@lru_cache(maxsize=256)
def parse_size(text: str) -> int | None:
    """Return the bytes of an operand: `1M`, `64k`, `1m` (BSD), `1kB`, `2x512`, `$((1024*1024))`; None where it is no number."""
    text = text.strip("\"'")
    if product := _PRODUCT.match(text):
        return _multiply([int(factor) for factor in product[1].split("*")])
    factors = [_parse_factor(part) for part in text.split("x")]
    return None if None in factors else _multiply([factor for factor in factors if factor is not None])


def _multiply(factors: list[int]) -> int | None:
    size = 1
    for factor in factors[:8]:
        size *= factor
    return size if 0 < size < _GREATEST else None


def _parse_factor(text: str) -> int | None:
    """Return a number with its suffix: GNU's (K = KiB = 1024, kB = 1000), BSD's (lower case too) or busybox's (kD = 1000)."""
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


def read_command(line: str) -> list[DdCommand]:
    """Return the dd commands of a line, in their order. Bold text of Markdown is read as well."""
    if "**" in line:
        line = line.replace("**", "")
    if "=" not in line or "dd" not in line or _OPERANDS.search(line) is None:
        return []
    return _read_commands(line, find_starts(line))


def find_starts(line: str) -> list[int]:
    """Return the index at which each dd of a line begins."""
    first = _DD.search(line)
    if first is None:
        return []
    start, end = first.span()
    if line.find("dd", end) < 0:  # the usual case
        return [start]
    return [start, *(match.start() for match in _DD.finditer(line, end))]


def _read_commands(line: str, begun: list[int]) -> list[DdCommand]:
    if not begun or len(line) > _LONGEST:
        return []
    end, is_looped = _find_prompt_end(line[: begun[0]])
    command_text = line[end:].strip().lstrip("$").lstrip()
    if command_text[-1:] == ">" or (
        command_text[-1:] == "`" and command_text.count("`") == 1
    ):  # the opening backquote stands before the prompt
        command_text = _BEHIND.sub("", command_text)
    if len(begun) == 1:
        command = _read_operands_of(line[begun[0] :], command_text)
        command.is_looped = is_looped
        command.set_operation()
        return [command] if command.operands else []
    commands = [_read_operands_of(line[start:end], command_text) for start, end in pairwise([*begun, len(line)])]
    pipe = 1 + sum(command.sent_to == "|" for command in commands[:-1])
    commands = [command for command in commands if command.operands]
    if len(commands) > 1 and pipe > 1:
        commands = [_join_pipe(commands)]
    for command in commands:
        command.pipe, command.is_looped = pipe, is_looped
        command.set_operation()
    return commands


def _join_pipe(commands: list[DdCommand]) -> DdCommand:
    """Return a pipe as one copy, from the source of the first to the target of the last."""
    first, last = commands[0], commands[-1]
    operands = {name: value for name, value in first.operands.items() if name in ("if", "iflag", "ibs", "bs", "count")}
    return replace(last, operands={**operands, **last.operands})


@lru_cache(maxsize=256)
def _find_prompt_end(before: str) -> tuple[int, bool]:
    """Return where the prompt or label before a command ends, and whether a loop begins there."""
    match = _PROMPT.match(before)
    end = match.end() if match else len(before) if ":" in before else 0
    return end, "do" in before and bool(_LOOP.search(before))


def _read_operands_of(text: str, command_text: str) -> DdCommand:
    if _SYNTAX.search(text) is None:
        return DdCommand(command_text, _split_operands(text.split()))
    command = DdCommand(command_text)
    words = _WORD.findall(text)[1:]
    for position, word in enumerate(words):
        if word == "|":
            command.sent_to = _find_pipe_end(words[position + 1 :])
            break
        if word.startswith(("&", ";", "|")):
            break
        if word in (">", ">>") and position + 1 < len(words):
            command.sent_to = words[position + 1]
        elif match := _OPERAND.match(word):
            command.operands[match[1]] = match[2].strip("\"'").replace("\\ ", " ")
    return command


def _find_pipe_end(words: Sequence[str]) -> str:
    """Return where the data of a pipe ends: a path if the next command only passes it on to a file, else "|"."""
    if words and words[0] in _PASSES_ON and "|" not in words and ">" in words[:-1]:
        return words[words.index(">") + 1]
    return "|"


def _split_operands(words: Sequence[str]) -> dict[str, str]:
    operands = {}
    for word in words:
        name, mark, value = word.partition("=")
        if mark and (name in NAMES or _NAME.fullmatch(name)):
            operands[name] = value
    return operands
