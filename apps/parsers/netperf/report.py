"""One netperf test as it is read: the operation that it measures, its figures, and its run."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedRun, ParsedSample, ParsedSeries
from apps.parsers.core.numbers import INT8, read_epoch, read_non_negative, read_whole

NO_WAY = "nothing says whether this host sent or received"
UNIT = r"(10\^[0369]bits|[KMG]?Bytes|Trans)"
_FACTORS = {"10^0bits": 1 / 8, "10^3bits": 1e3 / 8, "10^6bits": 1e6 / 8, "10^9bits": 1e9 / 8,
            "Bytes": 1.0, "KBytes": 1024.0, "MBytes": 1024.0**2, "GBytes": 1024.0**3, "Trans": 1.0}  # fmt: skip


def parse_rate(word: str, unit: str) -> float | None:
    """Return bytes, or transactions, per second; None where the word or the unit is unknown."""
    value = read_non_negative(word)
    return None if value is None or unit not in _FACTORS else round(value * _FACTORS[unit], 6)


@dataclass(slots=True)
class NetperfTest:
    """A test in the making."""

    kind: str  # the banner's words: "TCP STREAM"
    command: str
    lines: list[tuple[int, str]] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)  # cells of bare CSV, by the names in the command
    keys: set[str] = field(default_factory=set)  # keys of KEY=VALUE that were read so far
    host: str = ""
    target: str = ""
    block_size: int | None = None
    iodepth: int | None = None  # requests in flight of a burst
    workload: dict[str, str | int | float] = field(default_factory=dict)
    samples: list[ParsedSample] = field(default_factory=list)
    problem: str = ""
    broken: Broken | None = None  # why its figures can not be read
    last: int = 0
    has_banner: bool = True
    note: str = ""
    caption: str = ""
    row: str = ""  # the first row without the words that -B put behind it
    of_interim: str = ""  # the operation of the interim results, where it differs from that of the first figure
    _points: list[tuple[float, float]] = field(default_factory=list)
    _began: float | None = None
    _unit: str = ""

    def set_cpu(self, percents: Sequence[str]) -> None:
        """Set the note about the CPU, in percent of all CPUs of a host; -1 is not measured."""
        measured = [percent for percent in percents if (read_non_negative(percent) or 0) > 0]
        self.note = f"CPU {' and '.join(measured)} % of all cores" if measured else ""

    @property
    def operation(self) -> str:
        """Return the operation that the banner names, "" where it does not (omni without direction)."""
        kind = self.kind.upper()
        if (
            "SEND|RECV" in kind
            or "REQUEST" in kind
            or "/RR" in kind
            or "CONNECT" in kind
            or kind.endswith((" RR", " CRR", " CC"))
        ):
            return "net_request"
        if "MAERTS" in kind or kind.startswith("OMNI RECEIVE"):
            return "net_receive"
        return "net_send" if "STREAM" in kind or "SEND" in kind else ""

    def set_burst(self, burst: int | None) -> None:
        """Set how many requests were sent at first; one more is in flight (nettest_omni.c, rtt_latency). 0 is no burst."""
        if burst:
            self.workload["burst"] = burst
            self.iodepth = self.workload["iodepth"] = burst + 1

    def add_interim(self, rate: float, over: float, ending: float | None, line: int) -> None:
        """Add an interim result."""
        before = self._points[-1][0] if self._points else 0.0
        if ending is not None and self._began is None:
            self._began = read_epoch(ending - over)
        at = ending - self._began if ending is not None and self._began is not None else before + over
        at = round(at, 3)
        self._points.append((at, rate))
        self.last = line

    def add(
        self, operation: str, metric: str, value: float | None, printed: str, line: int, *, reason: str = ""
    ) -> None:
        """Add a sample."""
        self.last = max(self.last, line)
        self.samples.append(ParsedSample(
            operation, metric, value, block_size=self.block_size, iodepth=self.iodepth, printed=printed[:80], line=line,
            missing_reason=reason, note=self.note,
        ))  # fmt: skip

    @property
    def has_interim(self) -> bool:
        """Return whether an interim result was read."""
        return bool(self._points)

    def read_size(self, name: str, word: str) -> int | None:
        """Return a size in bytes and add it to the workload; -1 is a size that was left to the system."""
        value = read_whole(word, INT8)
        if value:
            self.workload[name] = value
        return value or None

    def make_run(self) -> ParsedRun:
        """Return the finished run."""
        if protocol := next((word for word in ("tcp", "udp", "sctp") if word in self.kind.lower()), ""):
            self.workload.setdefault("protocol", protocol)
        if self.kind:
            self.workload["test"] = self.kind
        if self.command:
            self.workload["command"] = self.command[:1000]
        if self.block_size:
            self.workload["block_size"] = self.block_size
        return ParsedRun(
            tool="netperf", tool_version="", samples=tuple(self.samples), series=self._make_series(),
            started_at=self._began, workload=self.workload, host=self.host, target=self.target, problem=self.problem, caption=self.caption,
            line=self.lines[0][0], last_line=self.last or self.lines[0][0],
        )  # fmt: skip

    def _make_series(self) -> tuple[ParsedSeries, ...]:
        if not self._points or not self.samples:
            return ()
        first = self.samples[0]
        metric = "rate" if first.metric == "rate" else "bandwidth"
        times, values = zip(*self._points, strict=True)
        return (ParsedSeries(self.of_interim or first.operation, metric, 0, "report", times, values),)
