"""Of each option its default and its engines, for the checks that server and hosts have alike."""

from typing import Any

from apps.parsers.fio.job_options.table import BY_NAME
from apps.parsers.fio.job_options.usual import METADATA as METADATA
from apps.parsers.fio.job_options.usual import ONE_AT_A_TIME as ONE_AT_A_TIME

ENGINES_OF = {name: option.engines for name, option in BY_NAME.items() if option.engines}


def value_of(job: dict[str, Any], name: str) -> Any:
    """Return an option of a checked job, which is its default where the job has none."""
    return job.get(name, BY_NAME[name].default)
