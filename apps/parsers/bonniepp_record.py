"""One row of bonnie++, as printed, and the samples that it gives. Units and sources: see `bonniepp`.

A row has twelve tests, in the order of `TESTS`, whichever way it was printed; "" stands for a blank.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import MsgspecError, Struct, field, json

from apps.parsers.shape import ParsedSample

TESTS = (
    "char_write", "write", "rewrite", "char_read", "read", "seek",
    "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand",
)  # fmt: skip
METRICS = ("bandwidth",) * 5 + ("rate",) * 7
CHARS, SEEK, FILES = (0, 3), 5, 6  # TESTS[FILES:] are about many small files
KIB = 1024
DEFAULT_CHUNK = 8192
LONGEST_NAME = 255

_SCALE = {"k": KIB, "m": KIB**2, "g": KIB**3}
_SIZE = {"": KIB**2, "M": KIB**2, "G": KIB**3, "T": KIB**4}
_FACTORS = {"us": 1e3, "ms": 1e6}
_FLOATS = json.Decoder(list[float]).decode
_LARGEST = 2**63 - 1

_FAST = "+++++: too fast to time"
_NOT_RUN = "not run (-f)"
_NO_RATE = "the text of bonnie++ 2.00 has the number of files here, not the rate; only its CSV has that"
_SLICE = "on a small part of the file, as bonnie++ does this from 1.9x on (-f gives its size)"


class Record(Struct):
    first: int  # index of its first line, and of its last
    last: int
    version: str = ""
    name: str = ""
    size: str = ""  # as printed, `32G`; "" where no large file was tested
    chunk: str | None = ""  # "" is the default, None not known
    concurrency: str = ""
    seeks: str = ""
    seekers: str = ""
    seed: str = ""
    files: tuple[str, str, str, str] = ("", "", "", "")  # number in 1024s, largest, smallest, directories
    rates: list[str] = field(default_factory=lambda: [""] * 12)
    cpus: list[str] = field(default_factory=lambda: [""] * 12)
    latencies: list[str] = field(default_factory=lambda: [""] * 12)
    lines: tuple[int, int, int, int] = (0, 0, 0, 0)  # of the two rows, and of their latencies
    is_text: bool = False
    has_suffixes: bool = False
    io_unit: str = "K/s"  # of rates that have no suffix
    cut: int | None = None  # how many tests were there before the line was cut off

    @property
    def is_scaled(self) -> bool:
        """Whether its text has k, m and g, which came with 1.98."""
        return self.has_suffixes or self.version.startswith(("1.98", "1.99", "2."))

    @property
    def is_single(self) -> bool:
        """Whether it is of 1.0x: no threads, no latencies, a whole file one character at a time."""
        return self.version.startswith("1.0") or not (self.version or self.is_text)

    @property
    def file_size(self) -> int | None:
        if not self.size:
            return None
        letter = self.size[-1] if self.size[-1].isalpha() else ""
        found = int(self.size.removesuffix(letter)) * _SIZE[letter]
        return found if found <= _LARGEST else None

    @property
    def block_size(self) -> int | None:
        return bytes_of(self.chunk) or DEFAULT_CHUNK if self.chunk is not None and self.size else None

    @property
    def threads(self) -> int | None:
        return int(self.concurrency) if self.concurrency else None

    @property
    def file_count(self) -> int | None:
        return int(self.files[0]) * 1024 if self.files[0] else None

    @property
    def shortest(self) -> float:
        """Seconds below which bonnie++ prints +++++: its MinTime, and 1 s in 1.00 to 1.00e."""
        is_old = self.version in ("1.00", "1.00a", "1.00b", "1.00c", "1.00d", "1.00e")
        return 1.0 if is_old or (not self.version and self.size.isdigit()) else 0.5


def bytes_of(printed: str | None) -> int:
    """`32k` in bytes; 0 for a blank."""
    if not printed:
        return 0
    return int(printed[:-1]) * _SCALE[printed[-1]] if printed[-1] in _SCALE else int(printed)


def samples(record: Record, numbers: Sequence[int]) -> tuple[ParsedSample, ...]:
    """`numbers` are those of `record.lines` in the file."""
    found: list[ParsedSample] = []
    latencies = _nanoseconds(record.latencies)
    if record.size:
        point = record.file_size, record.block_size, record.threads
        _add(found, record, latencies, range(FILES), point, (numbers[0], numbers[2]))
    if record.files[0]:
        _add(found, record, latencies, range(FILES, 12), (None, None, record.threads), (numbers[1], numbers[3]))
    return tuple(found)


def _add(
    found: list[ParsedSample],
    record: Record,
    nanoseconds: Sequence[float | None],
    tests: range,
    point: tuple[int | None, int | None, int | None],
    lines: tuple[int, int],
) -> None:
    size, block, threads = point
    note = _SLICE if record.version.startswith(("1.9", "2.")) else ""
    is_scaled, is_rounded = record.is_text and record.is_scaled, record.is_text and record.is_single
    rates, cpus, latencies, io_unit, (line, latency_line) = (
        record.rates, record.cpus, record.latencies, f" {record.io_unit}", lines
    )  # fmt: skip
    has_latencies, is_large = any(latencies), tests.start < FILES
    scale = 1.0 if not is_large else 1024.0 if io_unit == " K/s" else 1024.0**2
    usual_unit = io_unit if is_large else " /s"
    block_size, workers, about = block, threads, ""
    for test in tests:
        operation, printed, latency = TESTS[test], rates[test], latencies[test]
        if is_large:
            is_of_chars = test in CHARS
            block_size, about = (None, note if printed else "") if is_of_chars else (block, "")
            workers = threads if test != SEEK else int(record.seekers) if record.seekers else None
        if printed.isdecimal() and not is_scaled and test != SEEK:  # as nearly all are
            found.append(ParsedSample(
                operation, METRICS[test], int(printed) * scale, 0, size, block_size, workers, None,
                printed + usual_unit, line, "exact", "", None, None, _cpu(cpus[test]), about,
            ))  # fmt: skip
        else:
            value, unit, quality = _measured(printed, test, io_unit, is_scaled, is_rounded)
            low, reason = (None, "") if value is not None else _missing(record, test, printed)
            found.append(ParsedSample(
                operation, METRICS[test], value, 0, size, block_size, workers, None, printed + unit, line,
                quality if low is None else "lower_bound", reason, low, None, _cpu(cpus[test]), about,
            ))  # fmt: skip
        if has_latencies and (printed or latency):
            found.append(ParsedSample(
                operation, "latency_max", nanoseconds[test], 0, size, block_size, workers, None, latency, latency_line,
                "exact", "" if latency else "not printed", None, None, None, about,
            ))  # fmt: skip


def _measured(printed: str, test: int, unit: str, is_scaled: bool, is_rounded: bool) -> tuple[float | None, str, str]:
    """The value in base units, the unit that was printed with it, and how good it is."""
    if not printed or printed[0] in "+-":
        return None, "", "exact"
    if test >= SEEK:
        if test == SEEK:
            return float(printed), " /s", "rounded" if is_rounded and "." not in printed else "exact"
        return (None, "", "exact") if is_scaled else (float(printed), " /s", "exact")
    if (scale := _SCALE.get(printed[-1])) is not None:
        return float(printed[:-1]) * scale, "/s", "exact" if scale == KIB else "rounded"
    if is_scaled:
        return None, "", "exact"
    return float(printed) * (KIB if unit == " K/s" else KIB**2), unit, "exact"


def _missing(record: Record, test: int, printed: str) -> tuple[float | None, str]:
    """A lower bound where there is one, and why there is no value."""
    if printed.startswith("+"):
        return _bound(record, test), _FAST
    if printed.startswith("-"):
        return None, "negative: the tool's own overflow"
    if printed:
        return None, _NO_RATE if test >= FILES else "no unit is printed with it"
    if record.cut is not None and test >= record.cut:
        return None, "the line is cut off before it"
    return None, _NOT_RUN if test in CHARS else "not printed"


def _bound(record: Record, test: int) -> float | None:
    """What the rate is above, as the whole test took less than the shortest time that bonnie++ trusts."""
    done: int | None
    if test in CHARS and not record.is_single:
        return None
    if test == SEEK:
        done = int(record.seeks) if record.seeks else 8000 if record.shortest == 1.0 else 8192
    else:
        done = record.file_size if test < SEEK else record.file_count
    return done / record.shortest if done else None


@lru_cache(maxsize=1024)
def _cpu(printed: str) -> float | None:
    return int(printed) / 100 if printed.isdigit() else None


def _nanoseconds(printed: Sequence[str]) -> Sequence[float | None]:
    """Of digits with us, ms or s, as both readers made sure; None of a blank."""
    if all(printed):
        try:  # all at once; JSON has no leading zeros
            return _FLOATS(f"[{','.join(printed).replace('us', 'e3').replace('ms', 'e6').replace('s', 'e9')}]")
        except MsgspecError:
            pass
    return [_of_unit(one) if one else None for one in printed]


def _of_unit(printed: str) -> float:
    if (factor := _FACTORS.get(printed[-2:])) is not None:
        return float(printed[:-2]) * factor
    return float(printed[:-1]) * 1e9
