"""The options of fio that may be asked for: one table, from which the check, the form and the job file come.

A new option is a row of `OPTIONS` here, a row of `worker/agent/options.py` (which each host checks again), and a line of
docs/reference/agent-protocol.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4


class OptionKind(Protocol):
    """What values an option takes. `expected` is for the sentence about another value."""

    @property
    def expected(self) -> str: ...

    def accepts(self, value: object) -> bool: ...


@dataclass(frozen=True)
class WholeNumber:
    """A whole number from `low` to `high`; None too where the option may be left out."""

    low: int
    high: int
    multiple_of: int = 1
    is_optional: bool = False

    @property
    def expected(self) -> str:
        step = f", a multiple of {self.multiple_of}" if self.multiple_of > 1 else ""
        return f"a whole number from {self.low} to {self.high}{step}"

    def accepts(self, value: object) -> bool:
        if value is None:
            return self.is_optional
        return type(value) is int and self.low <= value <= self.high and not value % self.multiple_of


@dataclass(frozen=True)
class ByteSize(WholeNumber):
    """A whole number of bytes, which people type as `4k` or `1 GiB`."""


@dataclass(frozen=True)
class OneOf:
    """One of a few words, each with its label."""

    words: Mapping[str, str]

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)}"

    def accepts(self, value: object) -> bool:
        return type(value) is str and value in self.words


@dataclass(frozen=True)
class YesOrNo:
    """True or false."""

    @property
    def expected(self) -> str:
        return "true or false"

    def accepts(self, value: object) -> bool:
        return type(value) is bool


class FormSection(Enum):
    """Where the form has the option."""

    MAIN = "main"
    CHECKS = "checks"
    MORE = "more"


class Written(Enum):
    """When the job file has a line of the option."""

    ALWAYS = "always"
    IF_CHANGED = "if changed"  # from its default
    IF_TRUE = "if true"
    LAST = "last, if true"
    WITH_SYNC = "with sync"  # `sync` and `fsync_every` make a line together


REQUIRED = ...


@dataclass(frozen=True)
class FioOption:
    """An option of a job.

    Attributes:
        name: In workloads, in the form and in REST.
        kind: The values that it takes.
        default: The value where none is given; `REQUIRED` where one must be.
        written: When the job file has it.
        fio_name: Its name in fio, where that is another.
        section: The place in the form; None for options that the form leaves at their defaults.
        label: For people.
        help: The hint below the input.
        initial: The value that the form proposes, as a person types it; without one the default.
    """

    name: str
    kind: OptionKind
    default: object
    written: Written
    fio_name: str = ""
    section: FormSection | None = None
    label: str = ""
    help: str = ""
    initial: object = None

    @property
    def key(self) -> str:
        """Return the name in a job file."""
        return self.fio_name or self.name


PATTERNS = {
    "read": "sequential read", "write": "sequential write", "randread": "random read", "randwrite": "random write",
    "rw": "sequential mix", "randrw": "random mix",
}  # fmt: skip
ENGINES = ("psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null")
SYNCS = {
    "none": "none", "fsync": "fsync after writes", "fdatasync": "fdatasync after writes", "dsync": "O_DSYNC",
    "sync": "O_SYNC",
}  # fmt: skip
MAIN, CHECKS, MORE = FormSection.MAIN, FormSection.CHECKS, FormSection.MORE

# In the order of the form and of the job file.
OPTIONS = (
    FioOption("rw", OneOf(PATTERNS), REQUIRED, Written.ALWAYS, "", MAIN, "Pattern", initial="randread"),
    FioOption(
        "block_size", ByteSize(512, 16 * MIB, 512), REQUIRED, Written.ALWAYS, "bs", MAIN, "Block size",
        "bytes per I/O, 4k = 4096", "4k",
    ),
    FioOption(
        "file_size", ByteSize(4 * KIB, 64 * TIB), REQUIRED, Written.ALWAYS, "size", MAIN, "File size",
        "larger than RAM, or use direct I/O", "1g",
    ),
    FioOption(
        "runtime", WholeNumber(1, 86400, is_optional=True), None, Written.IF_CHANGED, "", MAIN, "Runtime, s",
        "empty: one pass over the file", 30,
    ),
    FioOption(
        "ioengine", OneOf({word: word for word in ENGINES}), "psync", Written.ALWAYS, "", MAIN, "Engine", initial="psync"
    ),
    FioOption(
        "iodepth", WholeNumber(1, 4096), 1, Written.ALWAYS, "", MAIN, "I/O depth", "above 1: asynchronous engine", 1
    ),
    FioOption("numjobs", WholeNumber(1, 256), 1, Written.ALWAYS, "", MAIN, "Jobs (numjobs)", initial=1),
    FioOption("sync", OneOf(SYNCS), "none", Written.WITH_SYNC, "", MAIN, "Sync", initial="none"),
    FioOption("direct", YesOrNo(), True, Written.ALWAYS, "", CHECKS, "direct I/O (bypass page cache)", initial=True),
    FioOption("time_based", YesOrNo(), False, Written.IF_TRUE, "", CHECKS, "time-based", initial=True),
    FioOption("end_fsync", YesOrNo(), False, Written.IF_TRUE, "", CHECKS, "fsync at the end"),
    FioOption("ramp_time", WholeNumber(0, 3600), 0, Written.IF_CHANGED, "", MORE, "Ramp time, s", "not counted", 0),
    FioOption(
        "rwmixread", WholeNumber(0, 100, is_optional=True), None, Written.IF_CHANGED, "", MORE, "Reads in the mix, %"
    ),
    FioOption(
        "fsync_every", WholeNumber(0, 1_000_000), 0, Written.WITH_SYNC, "", MORE, "Sync after n writes",
        "fsync and fdatasync only", 0,
    ),
    FioOption(
        "randseed", WholeNumber(1, 2**31 - 1, is_optional=True), None, Written.IF_CHANGED, "", MORE, "Random seed",
        "empty: fio's own",
    ),
    FioOption("group_reporting", YesOrNo(), True, Written.IF_TRUE),
    FioOption("stonewall", YesOrNo(), True, Written.LAST),
)  # fmt: skip
BY_NAME = {option.name: option for option in OPTIONS}


def options_in(section: FormSection) -> list[FioOption]:
    """Return the options that a section of the form has."""
    return [option for option in OPTIONS if option.section is section]
