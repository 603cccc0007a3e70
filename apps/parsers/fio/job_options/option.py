"""What the table says of an option: its values, its default, where the form has it and when the job file does."""

from dataclasses import dataclass
from enum import Enum

from apps.parsers.fio.job_options.kinds import OptionKind


class FormSection(Enum):
    """Where the form has the option."""

    MAIN = "main"
    CHECKS = "checks"
    MORE = "more"
    RARE = "rare"  # behind a search, by group


class OptionGroup(Enum):
    """What a rare option is about; the value is the heading in the form."""

    FILES = "Files and layout"
    BLOCKS = "Block sizes and offsets"
    RANDOM = "Random order"
    QUEUE = "Queue"
    RATES = "Rates, waiting and latency targets"
    TIME = "Start, end and order of jobs"
    DATA = "Data in the buffers"
    VERIFY = "Verification"
    HOST = "CPUs and memory"
    ERRORS = "Errors"
    ENGINE = "Options of one engine"


class Written(Enum):
    """When the job file has a line of the option."""

    ALWAYS = "always"
    IF_CHANGED = "if changed"  # from its default
    IF_TRUE = "if true"
    LAST = "last, if true"
    WITH_SYNC = "with sync"  # `sync` and `fsync_every` make a line together
    WITH_BLOCK_SIZE = "with the block size"  # behind a comma
    WITH_PATTERN = "with the pattern"  # behind a colon


REQUIRED = ...


@dataclass(frozen=True)
class FioOption:
    """An option of a job.

    Attributes:
        name: In workloads, in the form and in REST.
        kind: The values that it takes.
        default: The value where none is given; `REQUIRED` where one must be. None: fio's own, whatever that is.
        written: When the job file has it.
        fio_name: Its name in fio, where that is another.
        section: The place in the form; None for options that the form leaves at their defaults.
        label: For people.
        help: The hint below the input.
        initial: The value that the form proposes, as a person types it; without one the default.
        group: Of a rare option.
        engines: The engines that have it; empty for all.
        aliases: fio's other names for it.
        is_rare: Whether a workload has it only where it is not at its default.
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
    group: OptionGroup | None = None
    engines: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    is_rare: bool = False

    @property
    def key(self) -> str:
        """Return the name in a job file."""
        return self.fio_name or self.name


def rare(
    group: OptionGroup, name: str, kind: OptionKind, label: str, help: str = "", *, default: object = None,
    written: Written = Written.IF_CHANGED, fio_name: str = "", engines: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> FioOption:  # fmt: skip
    """Return an option that the form has behind the search, and that a workload leaves out at its default."""
    return FioOption(
        name, kind, default, written, fio_name, FormSection.RARE, label, help, None, group, engines, aliases, True
    )
