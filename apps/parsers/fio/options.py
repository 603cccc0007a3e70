"""fio's job options as fio reads them: sizes, times, and which operations a job does.

`job options` and `global options` of the report hold the text of the job file. A name that stands in neither has fio's
default, if the report prints options at all.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

_NUMBER = re.compile(r"(\s*+)([+-]?(?:0[xX][0-9a-fA-F]++|\d++))(\s*+)([A-Za-z%]*+)\s*\Z", re.ASCII)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SECONDS = {"": 1.0, "us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
ALIASES = {
    "blocksize": "bs", "readwrite": "rw", "timeout": "runtime", "io_limit": "io_size", "blocksize_range": "bsrange",
}  # fmt: skip
LARGEST = 2**63 - 1
_SHORT = 16
_FLAGS_OFF = {"0", "false", "no"}


def parse_size(text: str, kb_base: int = 1024) -> int | None:
    """Return the bytes of `4k` (4096), `1g`, `65536` or `0x1000`.

    None for a share (`20%`), a range, an expression, what is no size, or where a blank costs the unit (`loses_unit`).
    With `kb_base` 1024, fio's default, `k` and `kb` are 1024 and `kib` is 1000: fio keeps old scripts working, against
    the names.
    """
    return _parse_known_size(text, kb_base) if len(text) <= _SHORT else _parse_size(text, kb_base)


def _parse_size(text: str, kb_base: int) -> int | None:
    match = _NUMBER.match(text)
    if match is None or _loses_unit(match):
        return None
    digits, unit = match[2], match[4].lower()
    count = int(digits, 16 if "x" in digits.lower() else 10) if len(digits) < 20 else LARGEST + 1
    factor = _get_factor(unit, kb_base)
    if factor is None or not 0 <= count * factor <= LARGEST:
        return None
    return count * factor


_parse_known_size = lru_cache(1024)(_parse_size)  # a file repeats the same few sizes


def _get_factor(unit: str, kb_base: int) -> int | None:
    if not unit or unit == "b":
        return 1
    power = _POWERS.get(unit[0])
    if power is None or unit[1:] not in ("", "b", "ib", "i"):
        return None
    base = kb_base
    if unit[1:] == "ib":
        base = 1000 if kb_base == 1024 else 1024
    return int(base**power)


def loses_unit(text: str) -> bool:
    """Return whether a blank stands before the unit, as in `bs = 4k`.

    fio then sees no unit and does I/Os of 4 bytes, for 5 s where `runtime = 5m` stands (`get_mult_bytes` and
    `get_mult_time` in parse.c).
    """
    match = _NUMBER.match(text)
    return match is not None and _loses_unit(match)


def _loses_unit(match: re.Match[str]) -> bool:
    return bool(match[4] and (match[1] or match[3]))


def parse_seconds(text: str) -> float | None:
    """Return the seconds of `30`, `500ms` or `2m`, None for anything else: fio reads a bare number as seconds."""
    match = _NUMBER.match(text)
    if match is None or len(match[2]) > 15 or match[4].lower() not in _SECONDS or _loses_unit(match):
        return None
    return int(match[2], 0 if "x" in match[2].lower() else 10) * _SECONDS[match[4].lower()]


def merge_options(
    global_options: Mapping[str, object] | None, job_options: Mapping[str, object] | None
) -> dict[str, str]:
    """Return a job's own options over the global ones, under fio's main names, in the order in which fio reads them."""
    both: dict[str, str] = {}
    for given, value in chain((global_options or {}).items(), (job_options or {}).items()):
        name = ALIASES.get(given, given)
        both.pop(name, None)
        both[name] = "" if value is None else str(value)
    return both


def is_switched_on(options: dict[str, str], name: str) -> bool:
    """Return whether a switch is on, as far as the report says: fio does not print one that was given without a value."""
    return name in options and options[name].strip().lower() not in _FLAGS_OFF


def has_lat_percentiles(options: dict[str, str]) -> bool:
    """Return whether the percentiles are of lat and not of clat: up to fio 3.17 they exclude each other (`fixup_options` in init.c)."""
    is_off = "clat_percentiles" in options and not is_switched_on(options, "clat_percentiles")
    return is_switched_on(options, "lat_percentiles") or (is_off and "lat_percentiles" not in options)


def choose_operation(rw: str | None, direction: str) -> str:
    """Return `randread` for `randrw` and `read`; the plain direction for a job without a pattern."""
    pattern = (rw or "").split(":")[0].strip().lower()
    if direction not in ("read", "write"):
        return direction
    return f"rand{direction}" if pattern.startswith("rand") and get_directions(pattern) else direction


_DOES = {
    "read": {"read"}, "write": {"write"}, "trim": {"trim"},
    "rw": {"read", "write"}, "readwrite": {"read", "write"}, "trimwrite": {"trim", "write"},
}  # fmt: skip


def get_directions(rw: str | None) -> set[str] | None:
    """Return what a pattern moves: {read, write} for `randrw`. None for a word that fio does not have."""
    pattern = (rw or "").split(":")[0].strip().lower()
    return _DOES.get(pattern.removeprefix("rand"))


@dataclass(frozen=True, slots=True)
class Load:
    """What one job was asked to do. None where the options do not say it, or state a range."""

    rw: str | None
    file_size: int | None
    threads: int | None
    iodepth: int | None
    runtime_s: float | None
    ramp_s: float
    time_based: bool
    grouped: bool
    loops: int
    io_size: int | None
    options: dict[str, str]
    kb_base: int  # 1024 or 1000, for the k of `bs`
    is_shared: bool = False  # the figures are those of a group whose other jobs had other options

    def moves(self, direction: str) -> bool:
        """Return whether its own pattern moves data in this direction, as far as it is known.

        What `verify` reads back belongs to the job, too. Where it is False, group_reporting added other jobs, about
        which these options say nothing.
        """
        own = get_directions(self.rw)
        if self.is_shared or own is None or direction not in ("read", "write", "trim"):
            return not self.is_shared
        reads_back = "write" in own and self.options.get("verify", "0") not in ("0", "none")
        return direction in own or (reads_back and direction == "read")

    def operation(self, direction: str) -> str:
        """Return the operation of a direction."""
        return choose_operation(self.rw, direction) if self.moves(direction) else direction

    def block_size(self, direction: str) -> int | None:
        """Return the bytes of one I/O in this direction, None where they are unknown or not the same for all.

        `bs=4k,64k` is for reads and for writes, a third part for trims; the last one given stands for the rest.
        """
        if not self.options or "bsrange" in self.options or "bssplit" in self.options or direction == "sync":
            return None
        if direction == "mixed":
            sizes = {self.block_size(name) for name in get_directions(self.rw) or ("read", "write")}
            return sizes.pop() if len(sizes) == 1 else None
        parts = self.options.get("bs", "4096").split(",")
        place: int | None = ("read", "write", "trim").index(direction)
        if len(parts) > 1 and is_switched_on(self.options, "bs_is_seq_rand"):
            place = self._place_by_pattern()
        if place is None:
            return None
        place = min(place, len(parts) - 1)
        # `bs=,8k` leaves reads at the default
        return parse_size(parts[place], self.kb_base) if parts[place].strip() else 4096

    def _place_by_pattern(self) -> int | None:
        """Return 0 for sequential and 1 for random I/O, as bs_is_seq_rand sorts sizes; None where a job does both."""
        if "percentage_random" in self.options or ":" in (self.rw or ""):
            return None
        return int((self.rw or "").strip().lower().startswith("rand"))


def make_load(options: dict[str, str], copies: int = 1) -> Load:
    """Return the load of a job with these options.

    `copies` is how often the report lists a job of this name. fio prints no switch that was given without a value, but
    a numjobs above the copies shows that they were reported as a group.
    """

    def size(*names: str) -> int | None:
        sizes = (parse_size(options[name], _get_kb_base(options, name)) for name in names if name in options)
        return next((value for value in sizes if value), None)

    def count(name: str) -> int | None:
        value = parse_size(options.get(name, "1"), _get_kb_base(options, name)) if options else None
        return value if value is None or value < 2**31 else None

    threads = count("numjobs")
    return Load(
        rw=options.get("rw", "read" if options else None),
        file_size=size("size", "filesize"),
        threads=threads,
        iodepth=count("iodepth"),
        runtime_s=parse_seconds(options.get("runtime", "")) or None,
        ramp_s=parse_seconds(options.get("ramp_time", "0")) or 0.0,
        time_based=is_switched_on(options, "time_based"),
        grouped=is_switched_on(options, "group_reporting") or (threads or 1) > copies,
        loops=count("loops") or 1,
        io_size=size("io_size"),
        options=options,
        kb_base=_get_kb_base(options, "bs"),
    )


def _get_kb_base(options: dict[str, str], name: str) -> int:
    """Return what the k of an option is. fio reads options in their order: `bs=4k` before `kb_base=1000` is 4096."""
    if options.get("kb_base", "").strip() != "1000":
        return 1024
    names = list(options)
    return 1024 if name in options and names.index(name) < names.index("kb_base") else 1000


UNKNOWN_LOAD = make_load({})  # for reports without options
