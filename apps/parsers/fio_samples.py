"""One job of fio's report → samples and histograms, each with the line and the characters it was read from."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from apps.parsers import fio_bins
from apps.parsers.fio_documents import Direction, Job, Latency, Number
from apps.parsers.fio_doubts import is_figure, unfit_reason
from apps.parsers.fio_lines import NOWHERE, Lines, Moments, Place, same
from apps.parsers.fio_options import LARGEST, Load, directions, operation
from apps.parsers.fio_quantities import product
from apps.parsers.shape import ParsedHistogram, ParsedSample

LARGEST_FLOAT = 1e300
Span = tuple[int, int]
Bins = tuple[tuple[int, int], ...]
Point = tuple[int, int | None, int | None, int | None, int | None]  # section, then as in `ParsedSample`
DIRECTIONS = ("read", "write", "trim")
REPORTED = (*DIRECTIONS, "mixed")  # fio's sum of all directions, where unified_rw_reporting asks for it
PERCENTILES = {"1": 1.0, "50": 50.0, "90": 90.0, "95": 95.0, "99": 99.0, "99_9": 99.9, "99_99": 99.99}
_AFTER = ("read", "write", "trim", "sync", "mixed", "job_runtime", "usr_cpu")
_LATENCIES_AFTER = ("slat_ns", "clat_ns", "lat_ns", "slat", "clat", "lat", "bw_min")
_KEYS = (("min", "min"), ("mean", "mean"), ("max", "max"), ("stddev", "stdev"))
_ROWS = (0, 2, 1, 3)  # how far behind the first of them fio prints each
_SPREADS = (
    ("bandwidth", 1024, "KiB/s", ("bw_min", "bw_max", "bw_mean", "bw_dev"), "bw_samples"),
    ("iops", 1, "IOPS", ("iops_min", "iops_max", "iops_mean", "iops_stddev"), "iops_samples"),
)
_WORDS = ("min", "max", "mean", "stdev")
_SHARES = list(PERCENTILES.values())
_SHARE_KEYS = [f"{share:.6f}" for share in _SHARES]
_KINDS = (("clat", "clat"), ("slat", "slat"), ("lat", "latency"))
_MOMENTS = {metric: [f"{metric}_{word}" for _, word in _KEYS] for _, metric in _KINDS}
_PERCENTILES = {metric: [f"{metric}_p{word}" for word in PERCENTILES] for _, metric in _KINDS}
_NO_METRIC = "latency_p1"
_UNITS = {"B": 1, "KiB": 1024}


def number(value: Number) -> float | None:
    """A value that a double holds, also after a change of unit; nothing infinite, no NaN."""
    return float(value) if value is not None and -LARGEST_FLOAT < value < LARGEST_FLOAT else None


def cpu_of(job: Job, load: Load) -> float | None:
    """Fraction of one core, of all the job's processes together.

    fio prints `usr_cpu` as 100 × user time ÷ total_run_time, and with group_reporting adds up both over the group's
    processes (`sum_thread_stats` in stat.c): the figure is then the mean per process. So a group's is multiplied by how
    many processes it has.
    """
    user, system = number(job.usr_cpu), number(job.sys_cpu)
    if user is None or system is None or min(user, system) < 0 or (not job.job_runtime and not user + system):
        return None
    return (user + system) / 100 * (_processes(job, load) if load.grouped else 1)


def _processes(job: Job, load: Load) -> int:
    """`numjobs`, or more where the group holds several jobs: as many as make up the sum of their run times."""
    longest = max((number(one.runtime) or 0.0 for name in DIRECTIONS if (one := getattr(job, name))), default=0.0)
    summed = round((number(job.job_runtime) or 0.0) / (longest + load.ramp_s * 1000)) if longest else 0
    return max(load.threads or 1, summed)


@dataclass(slots=True)
class Section:
    """One job of the report and where its text is; `lines` is None where the text cannot be told job from job."""

    job: Job
    load: Load
    number: int
    lines: Lines | None
    part: Span
    is_version_2: bool
    has_lat_shares: bool = False  # what stands under `clat_ns` of percentiles and bins is of `lat_ns`
    is_doubtful: bool = False  # another figure stands where one that was read should: the key may be there twice
    _points: dict[str, tuple[str, Point]] = field(default_factory=dict)
    _bins: dict[int, Bins] = field(default_factory=dict)
    _usr_cpu: Place | None = None

    def samples(self) -> list[ParsedSample]:
        cpu = cpu_of(self.job, self.load)
        moved, found = [name for name in REPORTED if self._moved(name)], list[ParsedSample]()
        for name in moved:
            one: Direction = getattr(self.job, name)
            block = self._block(name, self.part, _AFTER)
            found += self._rates(one, name, block, cpu)
            found += self._spreads(one, name, block)
            found += self._latencies(one, name, block)
            if cpu is not None:
                found.append(self._cpu(name, cpu, shared=len(moved) > 1))
        if self.job.sync is not None:
            found += self._latencies(self.job.sync, "sync", self._block("sync", self.part, _AFTER))
        found += self._failed(moved)
        return found

    def histograms(self) -> Iterator[ParsedHistogram]:
        for name in (*REPORTED, "sync"):
            one: Direction | None = getattr(self.job, name)
            if one is None or self.is_version_2:
                continue
            for kind in ("clat", "slat", "lat"):
                latency: Latency | None = getattr(one, f"{kind}_ns")
                if latency and (bins := self._bins_of(latency)):
                    of = "lat" if kind == "clat" and self.has_lat_shares else kind
                    yield ParsedHistogram(self.load.operation(name), of, self.number, bins)

    def strangers(self) -> list[str]:
        """Directions that moved data although the job's own pattern does not: the group holds other jobs too."""
        if self.load.is_shared:
            return []
        return [name for name in DIRECTIONS if not self.load.moves(name) and self._moved(name)]

    def holds_others(self) -> bool:
        """Whether it is a group of jobs that were asked to do different things."""
        return self.load.is_shared or bool(self.strangers())

    def _moved(self, name: str) -> bool:
        """Whether there is anything to report: an I/O that failed moved no byte, and is no measured zero."""
        one: Direction | None = getattr(self.job, name)
        if one is None:
            return False
        return one.io_bytes != 0 if one.io_bytes is not None else any((one.total_ios, one.bw_bytes, one.bw, one.iops))

    def _block(self, name: str, within: Span, until: tuple[str, ...]) -> Span | None:
        return self.lines.block(name, within, until=tuple(key for key in until if key != name)) if self.lines else None

    def _place(self, key: str, block: Span | None, value: float | int | None) -> Place:
        """Only where the characters found there are the value: in a report with its keys in another order they may not
        be.
        """
        printed = self.lines.value(key, block) if self.lines else NOWHERE
        place = same(printed, value)
        self.is_doubtful |= place is NOWHERE and value is not None and is_figure(printed.printed)
        return place

    def _sample(
        self, metric: str, name: str, value: float | None, place: Place = NOWHERE, unit: str = "", **more: Any
    ) -> ParsedSample:
        word, point = self._points.get(name) or self._point(name)
        printed = f"{place.printed} {unit}".strip() if place.printed else ""
        return ParsedSample(word, metric, value, *point, printed, place.line, **more)

    def _point(self, name: str) -> tuple[str, Point]:
        """The operation and the workload point of a direction: the same for all of its samples."""
        load = self.load
        if not load.moves(name):
            self._points[name] = name, (self.number, None, None, None, None)
            return self._points[name]
        point = (self.number, load.file_size, load.block_size(name), load.threads, load.iodepth)
        self._points[name] = operation(load.rw, name), point
        return self._points[name]

    def _bins_of(self, latency: Latency) -> Bins:
        """They are asked for twice: as a histogram, and for the percentiles."""
        if id(latency) not in self._bins:
            self._bins[id(latency)] = bins_of(latency)
        return self._bins[id(latency)]

    def _rates(self, one: Direction, name: str, block: Span | None, cpu: float | None) -> list[ParsedSample]:
        usual = self.lines.rates(name, block) if self.lines and block else None
        if usual is None or not _are([one.io_bytes, one.bw_bytes, one.iops], usual.printed):
            return list(self._searched_rates(one, name, block, cpu))
        word, point = self._points.get(name) or self._point(name)
        (moved, bandwidth, iops), lines = usual.printed, usual.lines
        quality = "rounded" if isinstance(one.iops, int) else "exact"
        unit = "KiB" if self._in_kib(one) else "B"
        return [
            ParsedSample(word, "bandwidth", float(bandwidth), *point, f"{bandwidth} B/s", lines[1], cpu=cpu),
            ParsedSample(word, "iops", float(iops), *point, f"{iops} IOPS", lines[2], quality),
            ParsedSample(word, "io_bytes", float(moved) * _UNITS[unit], *point, f"{moved} {unit}", lines[0]),
        ]

    def _in_kib(self, one: Direction) -> bool:
        return self.is_version_2 and one.io_kbytes is None

    def _searched_rates(
        self, one: Direction, name: str, block: Span | None, cpu: float | None
    ) -> Iterator[ParsedSample]:
        printed = self.lines.value("bw_bytes", block).printed if self.lines else ""
        if one.bw_bytes is not None or is_figure(printed) or (printed and one.bw is None):
            yield from self._figure("bandwidth", name, "bw_bytes", one.bw_bytes, block, 1, "B/s", cpu=cpu)
        else:
            more: dict[str, Any] = {"cpu": cpu, "quality": "rounded"}
            yield from self._figure("bandwidth", name, "bw", one.bw, block, 1024, "KiB/s", **more)
        quality = "rounded" if isinstance(one.iops, int) else "exact"
        yield from self._figure("iops", name, "iops", one.iops, block, 1, "IOPS", quality=quality)
        unit = "KiB" if self._in_kib(one) else "B"
        yield from self._figure("io_bytes", name, "io_bytes", one.io_bytes, block, _UNITS[unit], unit)

    def _figure(
        self, metric: str, name: str, key: str, found: Number, block: Span | None, scale: int, unit: str, **more: Any
    ) -> Iterator[ParsedSample]:
        """A sample, one without a value that says why, or none where nothing is printed."""
        value = number(found)
        if value is not None and value >= 0:
            yield self._sample(metric, name, product(value, scale), self._place(key, block, found), unit, **more)
            return
        place = self.lines.value(key, block) if self.lines else NOWHERE
        if found is not None or place.printed:
            yield self._sample(metric, name, None, place, unit, missing_reason=unfit_reason(found, place.printed))

    def _spreads(self, one: Direction, name: str, block: Span | None) -> Iterator[ParsedSample]:
        """Over the intervals that fio takes bandwidth and IOPS in."""
        for metric, scale, unit, keys, counted in _SPREADS:
            if (count := getattr(one, counted)) == 0:
                continue
            values: list[Number] = [getattr(one, key) for key in keys]
            if count is None and not any(map(number, values)):
                continue
            for word, key, value in zip(_WORDS, keys, values, strict=True):
                if value is not None:
                    yield from self._figure(f"{metric}_{word}", name, key, value, block, scale, unit)

    def _latencies(self, one: Direction, name: str, block: Span | None) -> list[ParsedSample]:
        samples: list[ParsedSample] = []
        for kind, metric in _KINDS:
            latency, scale, unit, printed_name = self._latency(one, kind)
            if latency is None or not self._measured(latency):
                continue
            usual = self._usual(latency, printed_name, block) if scale == 1 else None
            within = None
            if block and (usual is None or (latency.percentile and kind != "slat" and not usual.percentiles)):
                within = self._block(printed_name, block, _LATENCIES_AFTER)
            if usual:
                samples += self._usual_moments(usual, name, metric)
            else:
                samples += self._searched_moments(latency, name, metric, within, scale, unit)
            if kind != "slat" and (latency.percentile or latency.bins):
                places = self._places(latency, usual, within)
                of, bins = self._shares_of(one, kind, latency)
                if of:
                    samples += self._percentiles(latency, bins, name, of, scale, unit, places)
        return samples

    def _shares_of(self, one: Direction, kind: str, latency: Latency) -> tuple[str, Bins]:
        """What the percentiles of this kind are of, nothing where they were read before; and their bins."""
        clat, lat = one.clat_ns, one.lat_ns
        bins = () if self.is_version_2 else self._bins_of(latency)
        if not self.has_lat_shares or clat is None or not (clat.percentile or clat.bins):
            return ("clat" if kind == "clat" else "latency"), bins
        return ("latency" if kind == "clat" else ""), bins or (self._bins_of(lat) if lat else ())

    def _usual(self, latency: Latency, printed_name: str, block: Span | None) -> Moments | None:
        """Where all of it stands as fio prints it, and nothing has to be searched."""
        found = self.lines.moments(printed_name, block) if self.lines and block else None
        if found is None or not _are([latency.min, latency.max, latency.mean, latency.stddev], found.printed):
            return None
        printed = latency.percentile or {}
        if found.percentiles and not _are([printed.get(key) for key in _SHARE_KEYS], found.percentiles):
            return None
        return found

    def _usual_moments(self, usual: Moments, name: str, metric: str) -> list[ParsedSample]:
        word, point = self._points.get(name) or self._point(name)
        line, printed = usual.line, usual.printed
        return [
            ParsedSample(word, words, float(printed[row]), *point, f"{printed[row]} ns", line + row)
            for words, row in zip(_MOMENTS[metric], _ROWS, strict=True)
        ]

    def _searched_moments(
        self, latency: Latency, name: str, metric: str, within: Span | None, scale: int, unit: str
    ) -> Iterator[ParsedSample]:
        for key, word in _KEYS:
            if (found := getattr(latency, key)) is not None:
                yield from self._figure(f"{metric}_{word}", name, key, found, within, scale, unit)

    def _places(self, latency: Latency, usual: Moments | None, within: Span | None) -> Iterable[tuple[int | None, str]]:
        """Of each percentile its line and characters."""
        if usual and usual.percentiles:
            return zip(usual.percentile_lines, usual.percentiles, strict=True)
        printed = latency.percentile or {}
        found = [self._place(key, within, printed.get(key)) for key in _SHARE_KEYS]
        return [(place.line, place.printed) for place in found]

    def _latency(self, one: Direction, kind: str) -> tuple[Latency | None, int, str, str]:
        if (in_ns := getattr(one, f"{kind}_ns")) is not None:
            return in_ns, 1, "ns", f"{kind}_ns"
        return getattr(one, kind), 1000, "us", kind

    @staticmethod
    def _measured(latency: Latency) -> bool:
        """fio prints zeros for what it did not measure (psync has no submission latency of its own)."""
        return bool(latency.N) if latency.N is not None else bool(latency.mean or latency.max)

    def _percentiles(
        self,
        latency: Latency,
        bins: Bins,
        name: str,
        metric: str,
        scale: int,
        unit: str,
        places: Iterable[tuple[int | None, str]],
    ) -> Iterator[ParsedSample]:
        counted = fio_bins.percentiles(bins, _SHARES) if bins else [None] * len(_SHARES)
        printed = latency.percentile or {}
        word, point = self._points.get(name) or self._point(name)
        for words, key, from_bins, (line, text) in zip(_PERCENTILES[metric], _SHARE_KEYS, counted, places, strict=True):
            value = from_bins if from_bins is not None else number(printed.get(key))
            if value is not None and value >= 0 and words != _NO_METRIC:
                shown = f"{text} {unit}" if text else ""
                yield ParsedSample(word, words, product(float(value), scale), *point, shown, line)

    def _cpu(self, name: str, cpu: float, *, shared: bool) -> ParsedSample:
        place = self._usr_cpu or self._place("usr_cpu", self.part, self.job.usr_cpu)
        self._usr_cpu = place  # every direction has it
        user, system = self.job.usr_cpu, self.job.sys_cpu
        note = "all directions of the job together" if shared else ""
        sample = self._sample("cpu", name, cpu, note=note)
        printed = f"usr {user} % + sys {system} %"
        return sample if place is NOWHERE else _with(sample, printed, place.line)

    def _failed(self, moved: list[str]) -> Iterator[ParsedSample]:
        """A job that ended with an error before it moved anything has no figure, and says why."""
        if not self.job.error:
            return
        for name in sorted((directions(self.load.rw) or set()) - set(moved)):
            for metric in ("bandwidth", "iops"):
                yield self._sample(metric, name, None, missing_reason=f"failed: {error_text(self.job.error)}")


def _are(values: Sequence[Number], printed: Sequence[str]) -> bool:
    """Whether these characters are these numbers; whole ones that no double holds are left to `same`."""
    return [float(one) for one in printed] == values


def _with(sample: ParsedSample, printed: str, line: int | None) -> ParsedSample:
    return structs.replace(sample, printed=printed, line=line)


def bins_of(latency: Latency) -> Bins:
    """`{"21632": 1, …}` as pairs in ascending order; what is no bin is no histogram."""
    if not (found := latency.bins):
        return ()
    names = "".join(found)
    if not (names.isascii() and names.isdigit() and all(found) and max(map(len, found)) < 19):
        return ()
    if min(found.values()) <= 0 or sum(found.values()) > LARGEST:
        return ()
    return fio_bins.ascending(zip(map(int, found), found.values(), strict=True))


def error_text(code: int) -> str:
    """`error 28 (No space left on device)`. Only the numbers up to 34 mean the same on all systems fio runs on."""
    words = os.strerror(code) if 0 < code <= 34 else ""
    return f"error {code} ({words})" if words else f"error {code}"
