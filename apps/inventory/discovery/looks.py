"""What a tool's output looked at: the whole host, or only what its command line asked for.

Only what a command would have listed can be missing from its output. `lsblk /dev/sda` says nothing about sdb, `findmnt -t xfs`
nothing about ext4. The command line tells it, where one is known: the agent's own, or the one above an uploaded output.
Without a command line an output is a whole look only where it shows so itself.

Options that choose columns, units or forms do not narrow a look, all others do: an option that is not known here makes a look
a partial one, which marks nothing as gone.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

DISKS, ARRAYS, FILESYSTEMS = "disks", "arrays", "filesystems"
_KINDS = frozenset({DISKS, ARRAYS, FILESYSTEMS})
_NAMES_OF_MAJORS = {
    "1": "ram",
    "2": "fd",
    "7": "loop",
    "11": "sr",
}  # the kernel's devices.txt; none is a disk with a medium
_PSEUDO = frozenset(
    {"tmpfs", "ramfs", "overlay", "fuse", "virtiofs", "vboxsf"}
)  # of libmount's list: those that are kept
_COMPLETE_FILTERS = {"cat", "tee", "less", "more", "sort", "nl"}  # behind a pipe, they leave no line out
_PIPES, _ENDS = {"|", "|&"}, {";", "&&", "||", "&"}


@dataclass(frozen=True)
class ToolLook:
    """Kinds of parts (`DISKS` …) of which an output lists each one that the host has.

    `omitted` are beginnings of device names, or of types of filesystems, that were left out (`loop`, `tmpfs`).
    """

    kinds: frozenset[str] = _KINDS
    omitted: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_whole(self) -> bool:
        """Return whether the output lists all that the tool can list."""
        return self.kinds == _KINDS

    def lists(self, kind: str, name: str = "") -> bool:
        """Return whether a part of this kind with this device name or type would be listed if the host had it."""
        return kind in self.kinds and not name.removeprefix("/dev/").startswith(tuple(self.omitted))


WHOLE = ToolLook()
PARTIAL = ToolLook(frozenset())


@dataclass(frozen=True)
class CommandOptions:
    """The options of a tool that do not narrow what it lists: short ones and long ones, each with and without a value."""

    flags: str
    with_value: str
    long_flags: str = ""
    long_with_value: str = ""

    def narrowing(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the words that narrow the look: an option with its value, or ("", operand)."""
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            if word.startswith("--"):
                yield from self._long(word[2:], waiting)
            elif word.startswith("-"):
                yield from self._short(word[1:], waiting)
            else:
                yield "", word

    def _long(self, word: str, waiting: list[str]) -> Iterator[tuple[str, str]]:
        name, mark, value = word.partition("=")
        if name in self.long_with_value.split():
            del waiting[: not mark]
        elif name == "exclude":
            yield name, value if mark or not waiting else waiting.pop(0)
        elif name and name not in self.long_flags.split():
            yield name, value

    def _short(self, letters: str, waiting: list[str]) -> Iterator[tuple[str, str]]:
        for place, letter in enumerate(letters):
            rest = letters[place + 1 :]
            if letter in self.with_value:
                del waiting[: not rest]
                return
            if letter == "e" and letter not in self.flags:
                yield letter, (rest or (waiting.pop(0) if waiting else "")).removeprefix("=")
                return
            if letter not in self.flags:
                yield letter, rest
            if rest.startswith("="):
                return


_OPTIONS = {
    "lsblk": CommandOptions(
        "aAbfiJlmMnOpPrstTyzD", "oxEw",
        "all ascii bytes discard fs inverse json list merge noempty noheadings output-all pairs paths perms raw shell topology tree "
        "zoned", "output sort dedup width",
    ),
    "findmnt": CommandOptions(
        "AabcCDeJklmnPrRuUvy", "o",
        "all ascii bytes canonicalize df evaluate json kernel list mtab nocanonicalize noheadings nofsroot notruncate output-all "
        "pairs raw real shell tree uniq vfs-all", "output",
    ),
    "lspci": CommandOptions("bDkmnPqQtvx", "AiOp"),
    "zpool": CommandOptions("cdDegijLpPstv", "T", "json json-int power json-flat-vdevs json-pool-key-guid"),
}  # fmt: skip
_MDSTAT = "/proc/mdstat"
_MOUNT_POINT = re.compile(r"(?<![\w/.-])/(proc|sys|)(?=[\s\",])")
_LEFT_OUT = re.compile(
    r"^\s{0,40}(?:\.{3}|…|\[(?:\.{3}|…|snip)\]|<snip>)\s*$", re.MULTILINE
)  # somebody's mark in a copy


def look_of(tool: str, argv: Sequence[str], printed: str) -> ToolLook:
    """Return what an output of a tool looked at; `argv` is its command line, empty where it is not known."""
    if not argv:
        return WHOLE if _shows_all(tool, printed) else PARTIAL
    if _LEFT_OUT.search(printed):
        return PARTIAL
    if tool == "mdstat":
        return _look_at_mdstat(argv)
    options = _OPTIONS.get(tool)
    commands = [words for words in _commands(argv) if words and words[0].rpartition("/")[2] == tool]
    if options is None or not commands:
        return WHOLE
    looks = [_look(tool, options, words[1 + (words[1:2] == ["status"]) :]) for words in commands]
    kinds = frozenset.intersection(*(look.kinds for look in looks))
    return ToolLook(kinds, frozenset[str]().union(*(look.omitted for look in looks)))


def _look_at_mdstat(argv: Sequence[str]) -> ToolLook:
    commands = [words for words in _commands(argv) if _MDSTAT in words]
    is_whole = all(words[:-1] in ([], ["cat"], ["less"], ["more"]) for words in commands)
    return WHOLE if is_whole and not _is_cut(argv) else PARTIAL


def _look(tool: str, options: CommandOptions, words: Sequence[str]) -> ToolLook:
    kinds, omitted = _KINDS, frozenset[str]()
    if _is_cut(words):
        return PARTIAL
    for option, value in options.narrowing(list(takewhile(lambda word: word not in _PIPES, words))):
        majors = value.split(",")
        if tool == "lsblk" and option in ("d", "nodeps"):
            kinds &= {DISKS}
        elif tool == "lsblk" and option in ("e", "exclude") and set(majors) <= _NAMES_OF_MAJORS.keys():
            omitted |= {_NAMES_OF_MAJORS[major] for major in majors}
        else:
            return PARTIAL
    if tool == "findmnt" and not {"--real", "--df", "-D"}.isdisjoint(words):
        omitted |= _PSEUDO
    return ToolLook(kinds, omitted)


def _is_cut(words: Sequence[str]) -> bool:
    """Return whether a filter such as `grep` or `head` stands behind a pipe, so that lines may be missing."""
    behind = [after for word, after in pairwise([*words, ""]) if word in _PIPES]
    return any(program not in _COMPLETE_FILTERS for program in behind)


def _commands(argv: Sequence[str]) -> Iterator[list[str]]:
    """Yield each command of a command line with what stands behind its pipes."""
    command: list[str] = []
    for word in argv:
        if word in _ENDS:
            yield command
            command = []
        else:
            command.append(word)
    yield command


def _shows_all(tool: str, printed: str) -> bool:
    """Return whether an output itself shows that it is a whole one.

    mdstat has a first and a last line of its own; a list of mounts that has the root and the kernel's own filesystems is that of
    nobody who asked for some of them.
    """
    if tool == "mdstat":
        return printed.lstrip().startswith("Personalities") and "\nunused devices" in printed
    if tool == "findmnt":
        return set(_MOUNT_POINT.findall(printed)) == {"", "proc", "sys"}
    return False


_REDIRECTION = re.compile(r"(?:(?<=\s)[012&])?(?:>>?|<)&?\s{0,5}[^\s|;&]{0,200}")
_PROMPT = re.compile(
    r"(?:^|[$#%>+❯➜:»]|^➜ .{1,80}|\b(?:sudo|doas|time|nice|then|do|ssh \S{1,80})|\b[A-Z_]{2,30}=\S{0,40}|[;&|(])\s*$"
)
_CONSTRUCTED = re.compile(r"\b(?:xargs|for|while|parallel)\b|\$[\w{(]|`")
_LONGEST_COMMAND = 1000
_MOST_WORDS = 90
_NEAR = 3  # lines: a blank line or a message may stand between a command and what it printed


def command_above(lines: Sequence[str], first: int, tool: str) -> list[str]:
    """Return the words of the command line right above an output, pipes among them; [] where none is there.

    `first` is the index of the output's first line. A word that a shell had still to replace (`$disk`) stands as it is.
    """
    pattern = _program(tool)
    for line in reversed(lines[max(0, first - _NEAR) : first]):
        line = line[:_LONGEST_COMMAND].strip()
        if (match := pattern.search(line)) and _PROMPT.search(line[: match.start()]):
            made = ["xargs"] if _CONSTRUCTED.search(line[: match.start()]) else []
            return [*_split(line[match.start() :]), *made][:_MOST_WORDS]
        if re.search(r"[#$>%] ", line):
            break  # another command
    return []


def _program(tool: str) -> re.Pattern[str]:
    if tool == "mdstat":
        return re.compile(rf"(?:\w+ (?:-\S+ )*(?:\S+ )?)?{_MDSTAT}(?!\S)")
    return re.compile(rf"(?<![\w.-])(?:/[\w/]{{1,60}}/)?{re.escape(tool)}(?![\w.:/=-])")


def _split(command: str) -> list[str]:
    plain = _REDIRECTION.sub(" ", command)
    try:
        lexer = shlex.shlex(plain, posix=True, punctuation_chars="|&;")
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)
    except ValueError:  # a quotation mark without its other one
        return plain.split()
