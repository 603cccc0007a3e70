"""IOzone's messages before its figures, and its command line."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

KIB = 1024
_OPTIONS_WITH_VALUE = frozenset("JjkVrtsfFdluUSLHPibXYgnyq")  # of iozone.c's getopt string
_SIZE = re.compile(r"(\d{1,12})([kKmMgG]?)$")
_FACTORS = {"": KIB, "k": KIB, "m": KIB**2, "g": KIB**3}
_NUMBER = r"(\d{1,15})"
_SHELL = re.compile(r"(?:^\s*|[#$%>;&|] ?|`)((?:[\w./~-]*/)?iozone3?\s+-[^|`<>;&]{1,1000})")
_LONGEST_KEPT = 200
_KB = "[kK][bB](?:ytes?)?"

START = "Iozone: Performance Test of File I/O"
_FACTS = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"Version \$Revision: (\S{1,20}) \$", "version"),
        (r"Command line used: *(.*\S)", "command"),
        (r"Output is in (\S{1,20}?)\.?$", "unit"),
        (r"OPS Mode\. Output is in (operations per second)", "unit"),
        (r"Microseconds/op Mode\. Output is in (microseconds per operation)", "unit"),
        (rf"File size set to {_NUMBER} {_KB}$", "file_size"),
        (rf"Record Size {_NUMBER} {_KB}$", "block_size"),
        (rf"Each (?:process|thread) writes a {_NUMBER} {_KB} file in telemetry controlled records", "each"),
        (rf"Each (?:process|thread) writes a {_NUMBER} {_KB} file in {_NUMBER} {_KB} records?", "each"),
        (rf"Throughput test with {_NUMBER} (?:process|thread)", "numjobs"),
        (r"POSIX [aA]sync I/O .*Depth (\d{1,9})", "iodepth"),
        (r"(O_DIRECT(?:IO)? feature enabled|VxFS advanced feature SET_CACHE, VX_DIRECT enabled)", "direct"),
        (r"(SYNC Mode)\.", "sync"), (r">>> (O_DSYNC) mode enabled", "dsync"), (r"Include (fsync) in write timing", "fsync"),
        (r"(No retest option selected)", "noretest"),
        (rf"Using minimum file size of {_NUMBER} kilobytes", "n"), (rf"Using maximum file size of {_NUMBER} kilobytes", "g"),
        (rf"Using Minimum Record Size {_NUMBER} KB", "y"), (rf"Using Maximum Record Size {_NUMBER} KB", "q"),
        (r"Machine = \S+ (\S{1,64})", "host"),
        (r"(Contributors:|Run began:|Auto Mode|Compiled for|Build:|Include close in|Using (?:min|max|Min|Max)imum"
         r"|Excel chart generation|Setting no_unlink|Time Resolution =|Processor cache|File stride size"
         r"|CPU utilization (?:Resolution|Excel)|Stonewall disabled|Using mmap files|Purge Mode On|Verify Mode"
         r"|Offset/latency files|Multi_buffer|Cross over of record)", ""),
    )
)  # fmt: skip
_ANY = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _FACTS)).match
_UNITS = {
    "kbytes/sec": ("bandwidth", 1024.0), "kb/sec": ("bandwidth", 1024.0),
    "ops/sec": ("iops", 1.0), "operations per second": ("iops", 1.0),
    "microseconds per operation": ("latency_mean", 1000.0), "microseconds/op": ("latency_mean", 1000.0),
}  # fmt: skip


@dataclass(slots=True)
class IozoneBanner:
    """Facts as they were read; empty where IOzone's messages are not in the text."""

    first: int | None = None
    last: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    each: tuple[int, int | None] | None = None  # file and record size per process, bytes
    sizes: dict[str, set[int]] = field(default_factory=dict)
    is_started: bool = False  # IOzone's first line was read

    def read(self, line: str, index: int) -> bool:
        """Read a line; return whether it is one of IOzone's banner."""
        stripped = line.strip()
        if stripped.startswith(START):
            self.is_started = True
            return self._note_line(index)
        fact = _match_fact(stripped) if len(stripped) < _LONGEST_KEPT else _match_fact.__wrapped__(stripped)
        if fact is None:
            return False
        self._store(*fact)
        return self._note_line(index)

    def read_shell(self, line: str, index: int) -> bool:
        """Read a command line behind a prompt; return whether there is one."""
        match = _SHELL.search(line) if "iozone" in line else None
        if match is None:
            return False
        self.facts["command"] = match[1].strip()
        return self._note_line(index)

    def _note_line(self, index: int) -> bool:
        self.first = index if self.first is None else self.first
        self.last = index
        return True

    def _store(self, name: str, match: re.Match[str]) -> None:
        if name == "each":
            record = int(match[2]) * KIB if match.lastindex == 2 else None
            self.each = (int(match[1]) * KIB, record)
        elif name in ("file_size", "block_size"):
            self.sizes.setdefault(name, set()).add(int(match[1]) * KIB)
        elif name:
            self.facts[name] = match[1]

    @property
    def version(self) -> str:
        """Return the version as printed."""
        return self.facts.get("version", "")

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Return the options of the command line, as (letter, value)."""
        command = self.facts.get("command", "")
        return _read_known_options(command) if len(command) < _LONGEST_KEPT else tuple(read_options(command))

    def unit(self) -> tuple[str, str, float] | None:
        """Return the printed unit, the metric, and the factor to base units; None where the text does not state it."""
        printed = self.facts.get("unit", "")
        if known := _UNITS.get(printed.lower()):
            return (printed, *known)
        if not self.facts.get("command"):
            return None
        names = {name for name, _ in self.options}
        if "O" in names:
            return ("ops/sec", "iops", 1.0)
        return ("microseconds/op", "latency_mean", 1000.0) if "N" in names else ("kBytes/sec", "bandwidth", 1024.0)

    @property
    def is_without_retest(self) -> bool:
        """Return whether -+n left out the second pass of each test."""
        return "noretest" in self.facts or ("+n", "") in self.options

    def target(self) -> str:
        """Return the paths of -f and -F."""
        return " ".join(value for name, value in self.options if name in "fF" and value)

    def workload(self) -> dict[str, str | int | float]:
        """Return the workload in fio's words."""
        workload: dict[str, str | int | float] = {}
        names = {name for name, _ in self.options} | set(self.facts)
        for name in ("file_size", "block_size"):
            if size := self.size(name):
                workload[name] = size
        if "direct" in names or "I" in names:
            workload |= {"direct": 1, "sync": "direct"}
        if "fsync" in names or "e" in names:
            workload["sync"] = "fsync"
        if "dsync" in names or "+D" in names:
            workload["sync"] = "dsync"
        if "sync" in names or "o" in names:
            workload["sync"] = "sync"
        for name in ("numjobs", "iodepth"):
            if name in self.facts and int(self.facts[name]) < 2**31:
                workload[name] = int(self.facts[name])
        if command := self.facts.get("command"):
            workload["command"] = command
        return workload

    def size(self, name: str) -> int | None:
        """Return the size of the run in bytes; None where there were several, or none is stated."""
        letter = "s" if name == "file_size" else "r"
        sizes = self.sizes.get(name) or {parse_size(value) or 0 for option, value in self.options if option == letter}
        return next(iter(sizes)) or None if len(sizes) == 1 else None

    def limits(self, name: str) -> tuple[int | None, int | None]:
        """Return the least and the greatest size of an automatic run (`-n` and `-g`, `-y` and `-q`); None where it is not stated."""
        if any(option == ("s" if name == "file_size" else "r") for option, _ in self.options) or name in self.sizes:
            return None, None  # the command states sizes instead of a range
        least, greatest = (self._limit(letter) for letter in ("ng" if name == "file_size" else "yq"))
        return least, greatest

    def _limit(self, letter: str) -> int | None:
        text = next((value for option, value in self.options if option == letter), self.facts.get(letter, ""))
        return parse_size(text)


@lru_cache(maxsize=512)  # every run in a log prints the same lines
def _match_fact(stripped: str) -> tuple[str, re.Match[str]] | None:
    if _ANY(stripped) is None:
        return None
    return next(((name, match) for pattern, name in _FACTS if (match := pattern.match(stripped))), None)


def parse_size(text: str) -> int | None:
    """Return the bytes of `4k`, `156M` or `512`; a number alone counts kB (getopt's -s and -r in iozone.c)."""
    match = _SIZE.match(text)
    return int(match[1]) * _FACTORS[match[2].lower()] if match else None


@lru_cache(maxsize=512)
def _read_known_options(command: str) -> tuple[tuple[str, str], ...]:
    return tuple(read_options(command))


def read_options(command: str) -> list[tuple[str, str]]:
    """Return the options of a command line in their order: ("i", "0"), ("I", ""), ("+u", "")."""
    result: list[tuple[str, str]] = []
    words = command.split()
    position = 1
    while position < len(words):
        word = words[position]
        position += 1
        if word.startswith("-+"):
            result.append((word[1:3], word[3:]))
            continue
        if not word.startswith("-"):
            if result and result[-1][0] == "F":
                result.append(("F", word))
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter not in _OPTIONS_WITH_VALUE:
                result.append((letter, ""))
                continue
            value = word[at:]
            if not value and position < len(words):
                value = words[position]
                position += 1
            result.append((letter, value))
            break
    return result
