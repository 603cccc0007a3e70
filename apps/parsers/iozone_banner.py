"""What IOzone says about itself before its figures, and what its command line asks for."""

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
class Banner:
    """Facts as they were read; empty where IOzone's words are not in the text."""

    first: int | None = None
    last: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    each: tuple[int, int | None] | None = None  # file and record size per process, bytes
    sizes: dict[str, set[int]] = field(default_factory=dict)

    def read(self, line: str, index: int) -> bool:
        """Take what the line says; False where it is no line of IOzone's banner."""
        stripped = line.strip()
        if stripped.startswith(START):
            return self._note(index)
        found = _fact(stripped) if len(stripped) < _LONGEST_KEPT else _fact.__wrapped__(stripped)
        if found is None:
            return False
        self._keep(*found)
        return self._note(index)

    def read_shell(self, line: str, index: int) -> bool:
        """Take a command line that stands behind a prompt."""
        match = _SHELL.search(line) if "iozone" in line else None
        if match is None:
            return False
        self.facts["command"] = match[1].strip()
        return self._note(index)

    def _note(self, index: int) -> bool:
        self.first = index if self.first is None else self.first
        self.last = index
        return True

    def _keep(self, name: str, match: re.Match[str]) -> None:
        if name == "each":
            record = int(match[2]) * KIB if match.lastindex == 2 else None
            self.each = (int(match[1]) * KIB, record)
        elif name in ("file_size", "block_size"):
            self.sizes.setdefault(name, set()).add(int(match[1]) * KIB)
        elif name:
            self.facts[name] = match[1]

    @property
    def version(self) -> str:
        return self.facts.get("version", "")

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        command = self.facts.get("command", "")
        return _kept_options(command) if len(command) < _LONGEST_KEPT else tuple(options(command))

    def unit(self) -> tuple[str, str, float] | None:
        """The printed unit, the metric, and how much one is in base units; None where the text does not say."""
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
        return "noretest" in self.facts or ("+n", "") in self.options

    def target(self) -> str:
        return " ".join(value for name, value in self.options if name in "fF" and value)

    def workload(self) -> dict[str, str | int | float]:
        asked: dict[str, str | int | float] = {}
        names = {name for name, _ in self.options} | set(self.facts)
        for name in ("file_size", "block_size"):
            if size := self.size(name):
                asked[name] = size
        if "direct" in names or "I" in names:
            asked |= {"direct": 1, "sync": "direct"}
        if "fsync" in names or "e" in names:
            asked["sync"] = "fsync"
        if "dsync" in names or "+D" in names:
            asked["sync"] = "dsync"
        if "sync" in names or "o" in names:
            asked["sync"] = "sync"
        for name in ("numjobs", "iodepth"):
            if name in self.facts and int(self.facts[name]) < 2**31:
                asked[name] = int(self.facts[name])
        if command := self.facts.get("command"):
            asked["command"] = command
        return asked

    def size(self, name: str) -> int | None:
        """The one size that the run had; None where there were several, or none is said."""
        letter = "s" if name == "file_size" else "r"
        told = self.sizes.get(name) or {size_of(value) or 0 for option, value in self.options if option == letter}
        return next(iter(told)) or None if len(told) == 1 else None


@lru_cache(maxsize=512)  # every run of a log prints the same lines
def _fact(stripped: str) -> tuple[str, re.Match[str]] | None:
    if _ANY(stripped) is None:
        return None
    return next(((name, match) for pattern, name in _FACTS if (match := pattern.match(stripped))), None)


def size_of(text: str) -> int | None:
    """`4k`, `156M`, `512`: bytes; a number alone counts kB (getopt's -s and -r in iozone.c)."""
    match = _SIZE.match(text)
    return int(match[1]) * _FACTORS[match[2].lower()] if match else None


@lru_cache(maxsize=512)
def _kept_options(command: str) -> tuple[tuple[str, str], ...]:
    return tuple(options(command))


def options(command: str) -> list[tuple[str, str]]:
    """The options of a command line in their order: ("i", "0"), ("I", ""), ("+u", "")."""
    found: list[tuple[str, str]] = []
    words = command.split()
    position = 1
    while position < len(words):
        word = words[position]
        position += 1
        if word.startswith("-+"):
            found.append((word[1:3], word[3:]))
            continue
        if not word.startswith("-"):
            if found and found[-1][0] == "F":
                found.append(("F", word))
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter not in _OPTIONS_WITH_VALUE:
                found.append((letter, ""))
                continue
            value = word[at:]
            if not value and position < len(words):
                value = words[position]
                position += 1
            found.append((letter, value))
            break
    return found
