"""One row of bonnie++, as printed.

It has twelve tests in the order of `TESTS`, whichever way it was printed; "" stands for a blank. Units and sources are
described in `format.py`.
"""

from msgspec import Struct, field

TESTS = (
    "char_write", "write", "rewrite", "char_read", "read", "seek",
    "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand",
)  # fmt: skip
METRICS = ("bandwidth",) * 5 + ("rate",) * 7
CHARS, SEEK, FILES = (0, 3), 5, 6  # TESTS[FILES:] are about many small files
KIB = 1024
DEFAULT_CHUNK = 8192
LONGEST_NAME = 255

SCALES = {"k": KIB, "m": KIB**2, "g": KIB**3}
_SIZE = {"": KIB**2, "M": KIB**2, "G": KIB**3, "T": KIB**4}
_LARGEST = 2**63 - 1


class BonnieppRecord(Struct):
    """One row of a table, or one CSV line; all fields are texts as printed."""

    first: int  # index of its first line; `last` of its last
    last: int
    version: str = ""
    name: str = ""
    size: str = ""  # as printed, `32G`; "" where no large file was tested
    chunk: str | None = ""  # "" is the default, None is unknown
    concurrency: str = ""
    seeks: str = ""
    seekers: str = ""
    seed: str = ""
    files: tuple[str, str, str, str] = ("", "", "", "")  # number in 1024s, largest, smallest, directories
    rates: list[str] = field(default_factory=lambda: [""] * 12)
    cpus: list[str] = field(default_factory=lambda: [""] * 12)
    latencies: list[str] = field(default_factory=lambda: [""] * 12)
    lines: tuple[int, int, int, int] = (0, 0, 0, 0)  # indices of the two rows, and of their latencies
    is_text: bool = False
    has_suffixes: bool = False
    has_kib: bool = False  # whether its header says that rates are K/sec
    io_unit: str = "K/s"  # unit of rates that have no suffix
    cut: int | None = None  # number of tests before the line was cut off
    has_unread: bool = False  # has a latency that can not be read; set when its samples are made

    @property
    def is_scaled(self) -> bool:
        """Return whether its text has rates with k, m and g, which came with 1.98."""
        return self.has_suffixes or (not self.has_kib and self.version.startswith(("1.98", "1.99", "2.")))

    @property
    def is_single(self) -> bool:
        """Return whether it is of 1.0x: no threads, no latencies, a whole file one character at a time."""
        return self.version.startswith("1.0") or not (self.version or self.is_text)

    @property
    def file_size(self) -> int | None:
        """Return the size of the large file in bytes."""
        if not self.size:
            return None
        letter = self.size[-1] if self.size[-1].isalpha() else ""
        size = int(self.size.removesuffix(letter)) * _SIZE[letter]
        return size if size <= _LARGEST else None

    @property
    def block_size(self) -> int | None:
        """Return the chunk in bytes, None where it is unknown or no large file was tested."""
        return parse_bytes(self.chunk) or DEFAULT_CHUNK if self.chunk is not None and self.size else None

    @property
    def threads(self) -> int | None:
        """Return the concurrency."""
        return int(self.concurrency) if self.concurrency else None

    @property
    def file_count(self) -> int | None:
        """Return the number of small files."""
        return int(self.files[0]) * 1024 if self.files[0] else None

    @property
    def shortest(self) -> float:
        """Return the seconds below which bonnie++ prints +++++: its MinTime, and 1 s in 1.00 to 1.00e."""
        is_old = self.version in ("1.00", "1.00a", "1.00b", "1.00c", "1.00d", "1.00e")
        return 1.0 if is_old or (not self.version and self.size.isdigit()) else 0.5


def parse_bytes(printed: str | None) -> int:
    """Return `32k` in bytes; 0 for a blank."""
    if not printed:
        return 0
    return int(printed[:-1]) * SCALES[printed[-1]] if printed[-1] in SCALES else int(printed)
