"""One question that a lab asks: a factor, its levels, and what is held equal, implied or ignored when it is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

Facts = Mapping[str, str]
Text = str | Promise
Measure = tuple[str, str]  # operation, metric

STREAMS: tuple[Measure, ...] = (("write", "bandwidth"), ("read", "bandwidth"))
RANDOM: tuple[Measure, ...] = (("randread", "iops"), ("randwrite", "iops"))
WRITES_FIRST: tuple[Measure, ...] = (
    ("write", "bandwidth"),
    ("randwrite", "iops"),
    ("read", "bandwidth"),
    ("randread", "iops"),
)
STREAMS_FIRST = (*STREAMS, *RANDOM)
RANDOM_FIRST = (*RANDOM, *STREAMS)
RANDOM_WRITES_FIRST: tuple[Measure, ...] = (("randwrite", "iops"), ("write", "bandwidth"))

# What a host brings along.
HOST_HARDWARE = ("ram", "cpu*", "architecture", "board", "bios*")
HOST_SOFTWARE = ("kernel*", "os", "os_*", "hypervisor*", "environment")
CONTROLLER = ("controller*", "cache_policy", "cache_protection", "write_policy")
DISK = (
    "disk_model",
    "disk_vendor",
    "disk_cache",
    "disk_rpm",
    "disk_firmware",
    "disk_capacity",
    "interface*",
    "generation",
)


def of_fact(name: str) -> Callable[[Facts], str | None]:
    """Return a function for the level of a group whose factor is one fact; a mixture (`SAS + SATA`) is no level."""

    def level(facts: Facts) -> str | None:
        value = facts.get(name)
        return None if value is None or " + " in value else value

    return level


def as_it_is(level: str) -> str:
    """Return the name of a level that needs no other words."""
    return level


def nothing_more(ours: str, theirs: str) -> tuple[str, ...]:
    """Return what two levels imply beyond what the factor implies always."""
    return ()


@dataclass(frozen=True)
class Factor:
    """A factor and its words.

    `name` stands in addresses. `fact` is the fact by which the free comparison shows it; `own` are all facts that the
    levels are made of. `implied` facts come with the factor and may differ (`controller*` stands for all names that
    begin so), `implied_between` adds what only some pairs of levels imply; `ignored` facts never matter to it. All
    others are held equal. Of a mixture of implied facts what both levels have is held equal, except what the factor
    `acts_through`. `always` are facts that must be known, or on one target, even where no run tells them.
    `first` are the levels to hold others against, the preferred one first; `asks` the measures, the first one first.
    `is_of_point`: the levels are of a point, not of a configuration. `one_of` returns what each side of a set has one
    value of, and how much that is preferred where several have as many runs. `jobs_of` returns what of fio's jobs makes
    them of a level, where levels are of the workload.
    """

    name: str
    fact: str
    title: Text
    question: Text
    level_of: Callable[[Facts], str | None]
    asks: tuple[Measure, ...]
    own: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    name_of: Callable[[str], Text] = as_it_is
    implied_between: Callable[[str, str], tuple[str, ...]] = nothing_more
    acts_through: tuple[str, ...] = ()
    is_order_of_time: bool = False  # of levels that follow each other: the older one is held against
    is_of_point: bool = False
    one_of: Callable[[Facts], tuple[str, float]] | None = None
    jobs_of: Callable[[str, Facts], Mapping[str, Any]] | None = None
    texts: Mapping[str, Text] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[str, ...]:
        """Return the facts that the levels are made of."""
        return self.own or (self.fact,)

    @property
    def brings_ram(self) -> bool:
        """Return whether hosts of unlike RAM are compared, whose files may be equal as multiples of it."""
        return "ram" in self.implied

    def level_name(self, level: str) -> str:
        """Return a level's name in the reader's language."""
        return str(self.name_of(level))


def named(names: Mapping[str, Text]) -> Callable[[str], Text]:
    """Return a function for the names of levels that have words of their own."""

    def name_of(level: str) -> Text:
        return names.get(level, level)

    return name_of


YES_NO: Mapping[str, Any] = {"1": _("yes"), "0": _("no")}
NONE_NAME = pgettext_lazy("a level of a factor", "none")
