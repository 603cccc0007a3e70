"""What fio was asked to do, in the words of `ParsedRun.workload`: only what its options state, and alike for all jobs."""

from collections.abc import Callable, Sequence

from apps.parsers.fio.options import Load, get_directions, parse_size

Value = str | int | float
SYNC_WORDS = {"0": "none", "none": "none", "1": "sync", "sync": "sync", "dsync": "dsync"}
_SWITCH = {"1": 1, "true": 1, "yes": 1, "": 1, "0": 0, "false": 0, "no": 0}


def make_workload(loads: Sequence[Load], command: str = "") -> dict[str, Value]:
    """Return the workload that all these loads have in common."""
    workload: dict[str, Value] = {"command": command} if command else {}
    if not any(load.options for load in loads):
        return workload
    for name, read in _READERS.items():
        values = {read(load) for load in loads}
        if len(values) == 1 and (value := values.pop()) is not None:
            workload[name] = value
    return workload


def _read_block_size(load: Load) -> int | None:
    if "bs" not in load.options:
        return None
    sizes = {load.block_size(name) for name in get_directions(load.rw) or ("read", "write")}
    return sizes.pop() if len(sizes) == 1 else None


def _read_direct(load: Load) -> int | None:
    for name, means in (("direct", 1), ("buffered", 0)):
        if name in load.options:
            is_on = _SWITCH.get(load.options[name].strip().lower())
            return None if is_on is None else means if is_on else 1 - means
    return None


def _read_sync(load: Load) -> str | None:
    for name in ("fsync", "fdatasync"):
        if (parse_size(load.options.get(name, "0")) or 0) > 0:
            return name
    return SYNC_WORDS.get(load.options.get("sync", "?").strip().lower())


def _get_known_word(word: str) -> str | None:
    """Return the word, None for a variable of a shell, whose value is unknown."""
    return None if "$" in word else word or None


def _read_if_given(name: str, read: Callable[[Load], Value | None]) -> Callable[[Load], Value | None]:
    return lambda load: read(load) if name in load.options else None


_READERS: dict[str, Callable[[Load], Value | None]] = {
    "rw": _read_if_given("rw", lambda load: _get_known_word(load.rw or "")),
    "block_size": _read_block_size,
    "file_size": lambda load: load.file_size,
    "iodepth": _read_if_given("iodepth", lambda load: load.iodepth),
    "numjobs": _read_if_given("numjobs", lambda load: load.threads),
    "direct": _read_direct,
    "sync": _read_sync,
    "ioengine": _read_if_given("ioengine", lambda load: _get_known_word(load.options["ioengine"].strip()[:64])),
    "runtime": lambda load: load.runtime_s,
}
