"""Whether a test's files fit into a memory on their way to the disk, and the sizes in words."""

from functools import lru_cache

from apps.comparison.readings import Reading
from apps.core.quantities import Form, quantity
from apps.core.units import exact
from apps.studies.plans.guards import CacheRule

_NAMES_ONLY = (
    "create_seq",
    "stat_seq",
    "delete_seq",
    "create_rand",
    "stat_rand",
    "delete_rand",
    "create",
    "stat",
    "delete",
)
NO_FILE_DATA = (*_NAMES_ONLY, "net_send", "net_receive", "net_request")


def fitting(reading: Reading, memory: float | None, name: str) -> str | None:
    """Return `file size 1 000 MiB ≤ RAM 1 GiB (…; 0.98 × RAM)`, or None where it does not fit or a size is not known."""
    touched = reading.bytes_touched
    if not touched or not memory or touched > memory or reading.operation in NO_FILE_DATA:
        return None
    return _sentence(touched, reading.threads or 1, memory, name)


def short_of(reading: Reading, rule: CacheRule) -> str | None:
    """Return `file size 4 000 MiB < 4 × RAM 2 GiB …: may be partly memory` where a file is smaller than its plan asks for.

    None where it is as large as the plan asks, fits into RAM altogether, or a size is not known.
    """
    touched, ram = reading.bytes_touched, reading.ram
    if not touched or not ram or not ram < touched < rule.least * ram or reading.operation in NO_FILE_DATA:
        return None
    return _short_sentence(touched, reading.threads or 1, ram, rule)


@lru_cache(maxsize=1024)
def _short_sentence(touched: int, threads: int, ram: float, rule: CacheRule) -> str:
    within = f" within {rule.tolerance:.0%}" if rule.tolerance else ""
    sizes = f"{exact(touched, 'B')} < {exact(round(rule.least * ram), 'B')}; {touched / ram:.2f} × RAM"
    small = f"{_files(touched, threads)} < {rule.factor:g} × RAM {_size(ram)}{within} ({sizes})"
    return f"{small}: may be partly memory, the plan asks for at least {rule.factor:g} × RAM"


@lru_cache(maxsize=1024)  # the same sizes come back in thousands of readings
def _sentence(touched: int, threads: int, memory: float, name: str) -> str:
    sizes = f"{exact(touched, 'B')} ≤ {exact(int(memory), 'B')}; {touched / memory:.2f} × {name}"
    return f"{_files(touched, threads)} ≤ {name} {_size(memory)} ({sizes})"


def _files(touched: int, threads: int) -> str:
    several = f" of {threads} threads together" if threads > 1 else ""
    return f"file size{several} {_size(touched)}"


def _size(value: float) -> str:
    return quantity(value, "B", Form.SIZE)
