"""What fio was asked to do, in the words of `ParsedRun.workload`: only what its options state, and alike for all jobs."""

from collections.abc import Callable, Mapping, Sequence

from apps.parsers.fio.options import Load, get_directions, is_switched_on, make_load, parse_size

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


def read_job_facts(options: Mapping[str, str]) -> dict[str, Value]:
    """Return `rw`, `ioengine`, `direct` (0 or 1) and `sync` of a job with all its options, own and global ones.

    What is not among them has fio's default: fio prints every option that has a value, and those that count here cannot
    do without one. `sync` is direct for O_DIRECT and fsync for one at the end, where nothing else is said. What is said
    in words that are not known (`$RW`) is left out; the engine too where it is not said, for its default is the
    system's.
    """
    load = make_load(dict(options))
    rw = _get_known_word((load.rw or "").strip().lower().partition(":")[0])
    engine = _get_known_word(options.get("ioengine", "").strip()[:64])
    is_stated = any(name in options for name in ("direct", "buffered"))
    direct = _read_direct(load) if is_stated else 0
    facts = {"rw": rw, "ioengine": engine, "direct": direct, "sync": _read_sync_or_default(load, direct)}
    return {name: value for name, value in facts.items() if value is not None}


def _read_sync_or_default(load: Load, direct: int | None) -> str | None:
    told = _read_sync(load)
    if told not in (None, "none") or (told is None and "sync" in load.options):
        return told
    if direct is None or direct:
        return None if direct is None else "direct"
    at_end = any(is_switched_on(load.options, name) for name in ("end_fsync", "fsync_on_close"))
    return "fsync" if at_end else "none"


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
