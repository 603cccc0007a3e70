"""Samples and histograms of one job in fio's JSON report, each with the line and the characters it was read from."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from msgspec import structs

from apps.parsers.core.models import ParsedHistogram, ParsedSample
from apps.parsers.fio import bins as fio_bins
from apps.parsers.fio.json.documents import JsonDirection, JsonJob, JsonLatency, Number
from apps.parsers.fio.json.doubts import explain_unfit, is_figure
from apps.parsers.fio.json.lines import NOWHERE, FioLines, FioPlace, PrintedMoments, match_place
from apps.parsers.fio.options import LARGEST, Load, choose_operation, get_directions
from apps.parsers.fio.quantities import multiply

LARGEST_FLOAT = 1e300
Span = tuple[int, int]
Bins = tuple[tuple[int, int], ...]
# Section, file size, block size, threads and iodepth, in the order of `ParsedSample`.
WorkloadPoint = tuple[int, int | None, int | None, int | None, int | None]
DIRECTIONS = ("read", "write", "trim")
REPORTED = (*DIRECTIONS, "mixed")  # "mixed" is fio's sum of all directions with unified_rw_reporting
PERCENTILES = {"1": 1.0, "50": 50.0, "90": 90.0, "95": 95.0, "99": 99.0, "99_9": 99.9, "99_99": 99.99}
_AFTER = ("read", "write", "trim", "sync", "mixed", "job_runtime", "usr_cpu")
_LATENCIES_AFTER = ("slat_ns", "clat_ns", "lat_ns", "slat", "clat", "lat", "bw_min")
_KEYS = (("min", "min"), ("mean", "mean"), ("max", "max"), ("stddev", "stdev"))
_ROWS = (0, 2, 1, 3)  # lines from `min` to each of them in fio's output
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


def get_number(value: Number) -> float | None:
    """Return a finite value that a double still holds after a change of unit, None for anything else."""
    return float(value) if value is not None and -LARGEST_FLOAT < value < LARGEST_FLOAT else None


def compute_cpu(job: JsonJob, load: Load) -> float | None:
    """Return the CPU of all the job's processes together, as a fraction of one core; None where it was not measured.

    fio prints `usr_cpu` as 100 × user time ÷ total_run_time, and with group_reporting adds up both over the group's
    processes (`sum_thread_stats` in stat.c): the figure is then the mean of the processes. So a group's is multiplied
    by the number of its processes.
    """
    user, system = get_number(job.usr_cpu), get_number(job.sys_cpu)
    if user is None or system is None or min(user, system) < 0 or (not job.job_runtime and not user + system):
        return None
    return (user + system) / 100 * (_count_processes(job, load) if load.grouped else 1)


def _count_processes(job: JsonJob, load: Load) -> int:
    """Return `numjobs`, or more where the group holds several jobs: as many as make up the sum of their run times."""
    longest = max(
        (get_number(direction.runtime) or 0.0 for name in DIRECTIONS if (direction := getattr(job, name))), default=0.0
    )
    summed = round((get_number(job.job_runtime) or 0.0) / (longest + load.ramp_s * 1000)) if longest else 0
    return max(load.threads or 1, summed)


class _SampleFields(TypedDict, total=False):
    """The fields of a sample that only some have; `cpu` in cores."""

    quality: str
    missing_reason: str
    cpu: float | None
    note: str


@dataclass(slots=True)
class JobSection:
    """One job of the report and where its text is; `lines` is None where the text can not be divided into jobs."""

    job: JsonJob
    load: Load
    number: int
    lines: FioLines | None
    part: Span
    is_version_2: bool
    has_lat_shares: bool = False  # percentiles and bins under `clat_ns` are those of `lat_ns`
    is_doubtful: bool = False  # the text has another figure than was read: a key may stand there twice
    _points: dict[str, tuple[str, WorkloadPoint]] = field(default_factory=dict)
    _bins: dict[int, Bins] = field(default_factory=dict)
    _usr_cpu: FioPlace | None = None

    def samples(self) -> list[ParsedSample]:
        """Return all samples of the job."""
        cpu = compute_cpu(self.job, self.load)
        moved, samples = [name for name in REPORTED if self._has_moved(name)], list[ParsedSample]()
        for name in moved:
            direction: JsonDirection = getattr(self.job, name)
            block = self._find_block(name, self.part, _AFTER)
            samples += self._collect_rates(direction, name, block, cpu)
            samples += self._iterate_spreads(direction, name, block)
            samples += self._collect_latencies(direction, name, block)
            if cpu is not None:
                samples.append(self._make_cpu(name, cpu, shared=len(moved) > 1))
        if self.job.sync is not None:
            samples += self._collect_latencies(self.job.sync, "sync", self._find_block("sync", self.part, _AFTER))
        samples += self._iterate_failed(moved)
        return samples

    def histograms(self) -> Iterator[ParsedHistogram]:
        """Yield the latency histograms of the job (fio 3.x)."""
        for name in (*REPORTED, "sync"):
            direction: JsonDirection | None = getattr(self.job, name)
            if direction is None or self.is_version_2:
                continue
            for kind in ("clat", "slat", "lat"):
                latency: JsonLatency | None = getattr(direction, f"{kind}_ns")
                if latency and (bins := self._get_bins(latency)):
                    of = "lat" if kind == "clat" and self.has_lat_shares else kind
                    yield ParsedHistogram(self.load.operation(name), of, self.number, bins)

    def find_foreign_directions(self) -> list[str]:
        """Return directions that moved data although the job's own pattern does not: the group holds other jobs, too."""
        if self.load.is_shared:
            return []
        return [name for name in DIRECTIONS if not self.load.moves(name) and self._has_moved(name)]

    def holds_others(self) -> bool:
        """Return whether it is a group of jobs that were asked to do different things."""
        return self.load.is_shared or bool(self.find_foreign_directions())

    def _has_moved(self, name: str) -> bool:
        """Return whether there is anything to report: an I/O that failed moved no byte, and is no measured zero."""
        direction: JsonDirection | None = getattr(self.job, name)
        if direction is None:
            return False
        return (
            direction.io_bytes != 0
            if direction.io_bytes is not None
            else any((direction.total_ios, direction.bw_bytes, direction.bw, direction.iops))
        )

    def _find_block(self, name: str, within: Span, until: tuple[str, ...]) -> Span | None:
        return self.lines.block(name, within, until=tuple(key for key in until if key != name)) if self.lines else None

    def _find_place(self, key: str, block: Span | None, value: float | int | None) -> FioPlace:
        """Return the place of a value if the characters there are the value: in a report with keys in another order they may not be."""
        printed = self.lines.value(key, block) if self.lines else NOWHERE
        place = match_place(printed, value)
        self.is_doubtful |= place is NOWHERE and value is not None and is_figure(printed.printed)
        return place

    def _make_sample(
        self,
        metric: str,
        name: str,
        value: float | None,
        place: FioPlace = NOWHERE,
        unit: str = "",
        **more: Unpack[_SampleFields],
    ) -> ParsedSample:
        word, point = self._points.get(name) or self._get_point(name)
        printed = f"{place.printed} {unit}".strip() if place.printed else ""
        return ParsedSample(word, metric, value, *point, printed, place.line, **more)

    def _get_point(self, name: str) -> tuple[str, WorkloadPoint]:
        """Return the operation and the workload point of a direction, which are the same for all of its samples."""
        load = self.load
        if not load.moves(name):
            self._points[name] = name, (self.number, None, None, None, None)
            return self._points[name]
        point = (self.number, load.file_size, load.block_size(name), load.threads, load.iodepth)
        self._points[name] = choose_operation(load.rw, name), point
        return self._points[name]

    def _get_bins(self, latency: JsonLatency) -> Bins:
        """Return the bins, computed once: they are needed as a histogram, and for the percentiles."""
        if id(latency) not in self._bins:
            self._bins[id(latency)] = read_bins(latency)
        return self._bins[id(latency)]

    def _collect_rates(
        self, direction: JsonDirection, name: str, block: Span | None, cpu: float | None
    ) -> list[ParsedSample]:
        usual = self.lines.rates(name, block) if self.lines and block else None
        if usual is None or not _match_printed([direction.io_bytes, direction.bw_bytes, direction.iops], usual.printed):
            return list(self._search_rates(direction, name, block, cpu))
        word, point = self._points.get(name) or self._get_point(name)
        (moved, bandwidth, iops), lines = usual.printed, usual.lines
        quality = "rounded" if isinstance(direction.iops, int) else "exact"
        unit = "KiB" if self._is_in_kib(direction) else "B"
        return [
            ParsedSample(word, "bandwidth", float(bandwidth), *point, f"{bandwidth} B/s", lines[1], cpu=cpu),
            ParsedSample(word, "iops", float(iops), *point, f"{iops} IOPS", lines[2], quality),
            ParsedSample(word, "io_bytes", float(moved) * _UNITS[unit], *point, f"{moved} {unit}", lines[0]),
        ]

    def _is_in_kib(self, direction: JsonDirection) -> bool:
        return self.is_version_2 and direction.io_kbytes is None

    def _search_rates(
        self, direction: JsonDirection, name: str, block: Span | None, cpu: float | None
    ) -> Iterator[ParsedSample]:
        printed = self.lines.value("bw_bytes", block).printed if self.lines else ""
        if direction.bw_bytes is not None or is_figure(printed) or (printed and direction.bw is None):
            yield from self._iterate_figure("bandwidth", name, "bw_bytes", direction.bw_bytes, block, 1, "B/s", cpu=cpu)
        else:
            yield from self._iterate_figure(
                "bandwidth", name, "bw", direction.bw, block, 1024, "KiB/s", cpu=cpu, quality="rounded"
            )
        quality = "rounded" if isinstance(direction.iops, int) else "exact"
        yield from self._iterate_figure("iops", name, "iops", direction.iops, block, 1, "IOPS", quality=quality)
        unit = "KiB" if self._is_in_kib(direction) else "B"
        yield from self._iterate_figure("io_bytes", name, "io_bytes", direction.io_bytes, block, _UNITS[unit], unit)

    def _iterate_figure(
        self,
        metric: str,
        name: str,
        key: str,
        figure: Number,
        block: Span | None,
        scale: int,
        unit: str,
        **more: Unpack[_SampleFields],
    ) -> Iterator[ParsedSample]:
        """Yield a sample, one without a value that says why, or none where nothing is printed."""
        value = get_number(figure)
        if value is not None and value >= 0:
            yield self._make_sample(
                metric, name, multiply(value, scale), self._find_place(key, block, figure), unit, **more
            )
            return
        place = self.lines.value(key, block) if self.lines else NOWHERE
        if figure is not None or place.printed:
            yield self._make_sample(
                metric, name, None, place, unit, missing_reason=explain_unfit(figure, place.printed)
            )

    def _iterate_spreads(self, direction: JsonDirection, name: str, block: Span | None) -> Iterator[ParsedSample]:
        """Yield the statistics over the intervals in which fio samples bandwidth and IOPS."""
        for metric, scale, unit, keys, counted in _SPREADS:
            if (count := getattr(direction, counted)) == 0:
                continue
            values: list[Number] = [getattr(direction, key) for key in keys]
            if count is None and not any(map(get_number, values)):
                continue
            for word, key, value in zip(_WORDS, keys, values, strict=True):
                if value is not None:
                    yield from self._iterate_figure(f"{metric}_{word}", name, key, value, block, scale, unit)

    def _collect_latencies(self, direction: JsonDirection, name: str, block: Span | None) -> list[ParsedSample]:
        samples: list[ParsedSample] = []
        for kind, metric in _KINDS:
            latency, scale, unit, printed_name = self._get_latency(direction, kind)
            if latency is None or not self._measured(latency):
                continue
            usual = self._get_usual(latency, printed_name, block) if scale == 1 else None
            within = None
            if block and (usual is None or (latency.percentile and kind != "slat" and not usual.percentiles)):
                within = self._find_block(printed_name, block, _LATENCIES_AFTER)
            if usual:
                samples += self._collect_usual_moments(usual, name, metric)
            else:
                samples += self._search_moments(latency, name, metric, within, scale, unit)
            if kind != "slat" and (latency.percentile or latency.bins):
                places = self._find_places(latency, usual, within)
                of, bins = self._get_shares(direction, kind, latency)
                if of:
                    samples += self._iterate_percentiles(latency, bins, name, of, scale, unit, places)
        return samples

    def _get_shares(self, direction: JsonDirection, kind: str, latency: JsonLatency) -> tuple[str, Bins]:
        """Return what the percentiles of this kind are of, "" where they were read before; and their bins."""
        clat, lat = direction.clat_ns, direction.lat_ns
        bins = () if self.is_version_2 else self._get_bins(latency)
        if not self.has_lat_shares or clat is None or not (clat.percentile or clat.bins):
            return ("clat" if kind == "clat" else "latency"), bins
        return ("latency" if kind == "clat" else ""), bins or (self._get_bins(lat) if lat else ())

    def _get_usual(self, latency: JsonLatency, printed_name: str, block: Span | None) -> PrintedMoments | None:
        """Return the moments if all stand as fio prints them, so that nothing has to be searched."""
        moments = self.lines.moments(printed_name, block) if self.lines and block else None
        if moments is None or not _match_printed(
            [latency.min, latency.max, latency.mean, latency.stddev], moments.printed
        ):
            return None
        printed = latency.percentile or {}
        if moments.percentiles and not _match_printed([printed.get(key) for key in _SHARE_KEYS], moments.percentiles):
            return None
        return moments

    def _collect_usual_moments(self, usual: PrintedMoments, name: str, metric: str) -> list[ParsedSample]:
        word, point = self._points.get(name) or self._get_point(name)
        line, printed = usual.line, usual.printed
        return [
            ParsedSample(word, words, float(printed[row]), *point, f"{printed[row]} ns", line + row)
            for words, row in zip(_MOMENTS[metric], _ROWS, strict=True)
        ]

    def _search_moments(
        self, latency: JsonLatency, name: str, metric: str, within: Span | None, scale: int, unit: str
    ) -> Iterator[ParsedSample]:
        for key, word in _KEYS:
            if (figure := getattr(latency, key)) is not None:
                yield from self._iterate_figure(f"{metric}_{word}", name, key, figure, within, scale, unit)

    def _find_places(
        self, latency: JsonLatency, usual: PrintedMoments | None, within: Span | None
    ) -> Iterable[tuple[int | None, str]]:
        """Return the line and the characters of each percentile."""
        if usual and usual.percentiles:
            return zip(usual.percentile_lines, usual.percentiles, strict=True)
        printed = latency.percentile or {}
        places = [self._find_place(key, within, printed.get(key)) for key in _SHARE_KEYS]
        return [(place.line, place.printed) for place in places]

    def _get_latency(self, direction: JsonDirection, kind: str) -> tuple[JsonLatency | None, int, str, str]:
        if (in_ns := getattr(direction, f"{kind}_ns")) is not None:
            return in_ns, 1, "ns", f"{kind}_ns"
        return getattr(direction, kind), 1000, "us", kind

    @staticmethod
    def _measured(latency: JsonLatency) -> bool:
        """Return whether a latency was measured: fio prints zeros for others (psync has no submission latency of its own)."""
        return bool(latency.N) if latency.N is not None else bool(latency.mean or latency.max)

    def _iterate_percentiles(
        self,
        latency: JsonLatency,
        bins: Bins,
        name: str,
        metric: str,
        scale: int,
        unit: str,
        places: Iterable[tuple[int | None, str]],
    ) -> Iterator[ParsedSample]:
        counted = fio_bins.compute_percentiles(bins, _SHARES) if bins else [None] * len(_SHARES)
        printed = latency.percentile or {}
        word, point = self._points.get(name) or self._get_point(name)
        for words, key, from_bins, (line, text) in zip(_PERCENTILES[metric], _SHARE_KEYS, counted, places, strict=True):
            value = from_bins if from_bins is not None else get_number(printed.get(key))
            if value is not None and value >= 0 and words != _NO_METRIC:
                text_with_unit = f"{text} {unit}" if text else ""
                yield ParsedSample(word, words, multiply(float(value), scale), *point, text_with_unit, line)

    def _make_cpu(self, name: str, cpu: float, *, shared: bool) -> ParsedSample:
        place = self._usr_cpu or self._find_place("usr_cpu", self.part, self.job.usr_cpu)
        self._usr_cpu = place  # the same for every direction
        user, system = self.job.usr_cpu, self.job.sys_cpu
        note = "all directions of the job together" if shared else ""
        sample = self._make_sample("cpu", name, cpu, note=note)
        printed = f"usr {user} % + sys {system} %"
        return sample if place is NOWHERE else _replace_place(sample, printed, place.line)

    def _iterate_failed(self, moved: list[str]) -> Iterator[ParsedSample]:
        """Yield samples that say why a job that ended with an error has no figures."""
        if not self.job.error:
            return
        for name in sorted((get_directions(self.load.rw) or set()) - set(moved)):
            for metric in ("bandwidth", "iops"):
                yield self._make_sample(metric, name, None, missing_reason=f"failed: {describe_error(self.job.error)}")


def _match_printed(values: Sequence[Number], printed: Sequence[str]) -> bool:
    """Return whether these characters are these numbers; whole ones beyond a double's precision are left to `same`."""
    return [float(text) for text in printed] == values


def _replace_place(sample: ParsedSample, printed: str, line: int | None) -> ParsedSample:
    return structs.replace(sample, printed=printed, line=line)


def read_bins(latency: JsonLatency) -> Bins:
    """Return `{"21632": 1, …}` as pairs in ascending order; () where a name is no bin."""
    if not (counts := latency.bins):
        return ()
    names = "".join(counts)
    if not (names.isascii() and names.isdigit() and all(counts) and max(map(len, counts)) < 19):
        return ()
    if min(counts.values()) <= 0 or sum(counts.values()) > LARGEST:
        return ()
    return fio_bins.sort_bins(zip(map(int, counts), counts.values(), strict=True))


def describe_error(code: int) -> str:
    """Return `error 28 (No space left on device)`. Only numbers up to 34 mean the same on all systems that fio runs on."""
    words = os.strerror(code) if 0 < code <= 34 else ""
    return f"error {code} ({words})" if words else f"error {code}"
