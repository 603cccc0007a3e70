"""The table of options, by the names of workloads and by those of fio."""

from typing import Any

from apps.parsers.fio.job_options.option import FioOption, FormSection, OptionGroup
from apps.parsers.fio.job_options.rare import RARE
from apps.parsers.fio.job_options.usual import USUAL

OPTIONS = USUAL + RARE
BY_NAME = {option.name: option for option in OPTIONS}
# Options of a job file that are read in another way than by their row are in `apps/parsers/fio/job_file.py`.
BY_FIO_NAME = {
    name: option
    for option in reversed(OPTIONS)  # the first row of a name is the one that is read: `bs` is the block size
    for name in (option.key, *option.aliases)
}


def options_in(section: FormSection) -> list[FioOption]:
    """Return the options that a section of the form has."""
    return [option for option in OPTIONS if option.section is section]


def options_of(group: OptionGroup) -> list[FioOption]:
    """Return the options of a group."""
    return [option for option in OPTIONS if option.group is group]


DEFAULT = "default"


def spell_value(name: str, value: Any) -> str:
    """Return a value of an option as fio spells it, `default` for none."""
    return DEFAULT if value is None else str(BY_NAME[name].kind.spell(value))
