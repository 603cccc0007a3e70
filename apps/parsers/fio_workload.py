"""What fio was asked to do, in the words of `ParsedRun.workload`: only what its options say, and say alike for all
jobs.
"""

from collections.abc import Callable, Sequence

from apps.parsers.fio_options import Load, bytes_of, directions

Value = str | int | float
SYNC_WORDS = {"0": "none", "none": "none", "1": "sync", "sync": "sync", "dsync": "dsync"}
_SWITCH = {"1": 1, "true": 1, "yes": 1, "": 1, "0": 0, "false": 0, "no": 0}


def workload_of(loads: Sequence[Load], command: str = "") -> dict[str, Value]:
    found: dict[str, Value] = {"command": command} if command else {}
    if not any(load.options for load in loads):
        return found
    for name, read in _READERS.items():
        values = {read(load) for load in loads}
        if len(values) == 1 and (value := values.pop()) is not None:
            found[name] = value
    return found


def _block_size(load: Load) -> int | None:
    if "bs" not in load.options:
        return None
    sizes = {load.block_size(name) for name in directions(load.rw) or ("read", "write")}
    return sizes.pop() if len(sizes) == 1 else None


def _direct(load: Load) -> int | None:
    for name, means in (("direct", 1), ("buffered", 0)):
        if name in load.options:
            is_on = _SWITCH.get(load.options[name].strip().lower())
            return None if is_on is None else means if is_on else 1 - means
    return None


def _sync(load: Load) -> str | None:
    for name in ("fsync", "fdatasync"):
        if (bytes_of(load.options.get(name, "0")) or 0) > 0:
            return name
    return SYNC_WORDS.get(load.options.get("sync", "?").strip().lower())


def _told(word: str) -> str | None:
    """Nothing is known of a shell's variable but its name."""
    return None if "$" in word else word or None


def _given(name: str, read: Callable[[Load], Value | None]) -> Callable[[Load], Value | None]:
    return lambda load: read(load) if name in load.options else None


_READERS: dict[str, Callable[[Load], Value | None]] = {
    "rw": _given("rw", lambda load: _told(load.rw or "")),
    "block_size": _block_size,
    "file_size": lambda load: load.file_size,
    "iodepth": _given("iodepth", lambda load: load.iodepth),
    "numjobs": _given("numjobs", lambda load: load.threads),
    "direct": _direct,
    "sync": _sync,
    "ioengine": _given("ioengine", lambda load: _told(load.options["ioengine"].strip()[:64])),
    "runtime": lambda load: load.runtime_s,
}
