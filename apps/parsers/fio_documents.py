"""fio's JSON documents: typed, tolerant of missing keys. Keys that are not named here are skipped unread.

With `--status-interval` fio writes one whole document after another into its output: running totals, the last one being
the result. Where they lie in a text: `fio_finding`.
"""

from collections import Counter
from dataclasses import replace
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from apps.parsers import fio_clients
from apps.parsers.finite import INT4, epoch, positive
from apps.parsers.fio_clients import Options
from apps.parsers.fio_faults import NOT_NUMBERS, unfit
from apps.parsers.fio_options import Load, load_of, merged
from apps.parsers.shape import ParseError
from apps.parsers.source_text import SourceText, plain_bytes

Number = int | float | None
VERSION = b'"fio version"'
SUM = "All clients"
_NAME_CUT = 127
MOST_JOBS = 4096  # fio's own limit


class LatencyTotals(Struct):
    mean: Number = None
    N: int | None = None


class DirectionTotals(Struct):
    io_bytes: Number = None
    runtime: Number = None
    total_ios: Number = None
    clat_ns: LatencyTotals | None = None
    lat_ns: LatencyTotals | None = None


def _has_name_of_another(job: "AnyJob") -> bool:
    """Of a group fio prints the name of the first job and the options of the last. Names are cut at 127 octets."""
    name = str((job.job_options or {}).get("name") or job.jobname)
    return name != job.jobname and not (len(job.jobname.encode()) >= _NAME_CUT and name.startswith(job.jobname))


class JobTotals(Struct):
    """What progress needs of a job; bins and percentiles are skipped unread."""

    jobname: str = ""
    groupid: int = 0
    hostname: str = ""
    port: Number = None
    elapsed: Number = None
    eta: Number = None
    job_options: Options | None = field(default=None, name="job options")
    read: DirectionTotals | None = None
    write: DirectionTotals | None = None
    trim: DirectionTotals | None = None
    mixed: DirectionTotals | None = None


class Latency(LatencyTotals):
    min: Number = None
    max: Number = None
    stddev: Number = None
    percentile: dict[str, Number] | None = None
    bins: dict[str, int] | None = None


class Direction(DirectionTotals):
    """One direction of one job. fio 2.x prints `clat` in µs where 3.x prints `clat_ns`."""

    io_kbytes: Number = None
    bw_bytes: Number = None
    bw: Number = None
    bw_min: Number = None
    bw_max: Number = None
    bw_mean: Number = None
    bw_dev: Number = None
    bw_samples: Number = None
    iops: Number = None
    iops_min: Number = None
    iops_max: Number = None
    iops_mean: Number = None
    iops_stddev: Number = None
    iops_samples: Number = None
    slat_ns: Latency | None = None
    clat_ns: Latency | None = None
    lat_ns: Latency | None = None
    slat: Latency | None = None
    clat: Latency | None = None
    lat: Latency | None = None


class Job(JobTotals):
    error: Annotated[int, msgspec.Meta(ge=-INT4, le=INT4)] = 0
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Direction | None = None
    job_runtime: Number = None
    usr_cpu: Number = None
    sys_cpu: Number = None


AnyJob = TypeVar("AnyJob", bound=JobTotals)


def _kind(job: JobTotals) -> tuple[str, int, str, Number]:
    """What the copies of a job have in common; each client has its own."""
    return job.jobname, job.groupid, job.hostname, job.port


class Document(Struct, Generic[AnyJob]):
    version: str = field(default="", name="fio version")
    timestamp: Number = None
    timestamp_ms: Number = None
    global_options: Options | list[Options] | None = field(default=None, name="global options")
    jobs: list[AnyJob] | None = None
    client_stats: list[AnyJob] | None = None
    disk_util: Any = None  # `fio_disks` looks at it: what is wrong there harms no job

    @property
    def at_ms(self) -> float | None:
        """When fio wrote it, ms since 1970; None for what is no time up to the year 9999."""
        ms = positive(self.timestamp_ms)
        if self.timestamp_ms is None and (seconds := positive(self.timestamp)) is not None:
            ms = seconds * 1000
        return ms if ms is not None and epoch(ms / 1000) is not None else None

    @property
    def listed(self) -> list[AnyJob]:
        """As the report lists them, the sum of all clients included."""
        return self.jobs if self.jobs is not None else self.client_stats or []

    def entries(self) -> list[AnyJob]:
        """The jobs, or those of all clients without their sum, which would count everything twice; the sum where somebody
        kept nothing else.
        """
        return [job for job in self.listed if self.jobs is not None or job.jobname != SUM] or self.listed

    def loads(self) -> list[Load]:
        """What each entry was asked to do; the copies of a job are asked the same, which is worked out once."""
        entries = self.entries()
        copies = Counter(map(_kind, entries))
        known: dict[tuple[object, ...], Load] = {}
        found = []
        for job in entries:
            options, count = self._options_of(job), copies[_kind(job)]
            key = (count, is_shared := _has_name_of_another(job), *options.items())
            if key not in known:
                known[key] = replace(load_of(options, count), is_shared=is_shared)
            found.append(known[key])
        return found

    def _options_of(self, job: AnyJob) -> dict[str, str]:
        """The sum of all clients has none: theirs stand at their jobs, and what is not told is not fio's default."""
        if self.jobs is None and job.jobname == SUM:
            return {}
        if isinstance(self.global_options, list):
            return merged(fio_clients.own(self.global_options, job.hostname, job.port), job.job_options)
        return merged(self.global_options, job.job_options)

    def share_options(self, data: bytes) -> None:
        """Of several clients whose options stand in one object keep what is sure of all. `data` is the document's."""
        clients = len({(job.hostname, job.port) for job in self.entries()}) if self.client_stats else 0
        if clients > 1 and isinstance(self.global_options, dict):
            found = fio_clients.shared(data, clients)
            self.global_options = self.global_options if found is None else found


WHOLE = msgspec.json.Decoder(Document[Job])
TOTALS = msgspec.json.Decoder(Document[JobTotals])
Decoder = msgspec.json.Decoder


def as_bytes(text: str | bytes | SourceText) -> bytes:
    """UTF-8 without a mark in front; what is not UTF-8 becomes replacement characters."""
    if isinstance(text, SourceText):
        text = plain_bytes(text)
    if isinstance(text, str):
        return text.encode("utf-8", "replace").removeprefix(b"\xef\xbb\xbf")
    try:
        text.decode()
    except UnicodeDecodeError:
        text = text.decode("utf-8", "replace").encode()
    return text.removeprefix(b"\xef\xbb\xbf")


def decoded(decoder: "Decoder[Document[AnyJob]]", data: bytes) -> Document[AnyJob] | None:
    """The document, or None where these bytes are no whole report of fio. A field of the wrong type is an error."""
    try:
        return _decoded(decoder, data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass  # some versions print nan, which is no JSON
    try:
        return _decoded(decoder, NOT_NUMBERS.sub(rb"\1null", data))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _decoded(decoder: "Decoder[Document[AnyJob]]", data: bytes) -> Document[AnyJob] | None:
    try:
        document = decoder.decode(data)
    except msgspec.ValidationError as error:
        if VERSION not in data:
            return None
        raise unfit(error) from None
    if not document.version:
        return None
    if len(document.listed) > MOST_JOBS:
        found = f"{len(document.listed)} jobs"
        raise ParseError("fio's report lists more jobs than fio runs", found=found, expected=f"at most {MOST_JOBS}")
    document.share_options(data)
    return document
