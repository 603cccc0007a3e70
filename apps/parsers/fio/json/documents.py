"""fio's JSON documents as typed structures in which keys may be missing; other keys are skipped unread.

With `--status-interval` fio writes one whole document after another into its output: running totals, of which the last
is the result. Where documents lie in a text is found by `search.py`.

Global options of several clients (`--client`) stand in a list or, before fio 3.39, one after the other in one object:

    "global options" : [{"hostname" : "n1", "port" : 8765, "bs" : "4k"}, {"hostname" : "n2", …}]       fio 3.39 and later
    "global options" : {"bs" : "4k", "size" : "1g", "bs" : "8k", "size" : "1g"}                        before

In the second form an option with several values, or one that occurs less often than there are clients, can not be
assigned to a client. Where its absence would mean fio's default, such an option gets a text that is no value; else it
is left out.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from apps.parsers.core.models import ParseError
from apps.parsers.core.numbers import INT4, read_epoch, read_non_negative
from apps.parsers.core.source_text import SourceText, get_ascii_bytes
from apps.parsers.fio.json.faults import NOT_NUMBERS, make_unfit
from apps.parsers.fio.options import ALIASES, Load, make_load, merge_options

JsonScalar = str | int | float | bool | None
JsonOptions = dict[str, JsonScalar]
_GLOBAL_OPTIONS = b'"global options"'
_WITH_DEFAULT = ("rw", "bs", "iodepth", "numjobs", "loops")
_MOST = 1 << 20


def get_client_options(listed: Iterable[JsonOptions], hostname: str, port: object) -> JsonOptions:
    """Return the options of this client; those that all clients have alike where none is it."""
    clients = list(listed)
    mine = [client for client in clients if (client.get("hostname"), client.get("port")) == (hostname, port)]
    bare = [{name: client[name] for name in client if name not in ("hostname", "port")} for client in mine or clients]
    return bare[0] if len(bare) == 1 else _select_sure([pair for client in bare for pair in client.items()], len(bare))


def get_shared_options(data: bytes, clients: int) -> JsonOptions | None:
    """Return the options that are certain for all clients in one object; None where there are none."""
    start = data.find(b"{", data.find(_GLOBAL_OPTIONS) + len(_GLOBAL_OPTIONS)) if _GLOBAL_OPTIONS in data else -1
    if start < 0:
        return None
    try:
        pairs, _ = json.JSONDecoder(object_pairs_hook=list).raw_decode(data[start : start + _MOST].decode("latin-1"))
    except (ValueError, RecursionError):
        return None
    return _select_sure(
        [(name.encode("latin-1").decode("utf-8", "replace"), _restore_utf8(value)) for name, value in pairs], clients
    )


def _restore_utf8(value: JsonScalar) -> JsonScalar:
    return value.encode("latin-1").decode("utf-8", "replace") if isinstance(value, str) else value


def _select_sure(pairs: Iterable[tuple[str, JsonScalar]], clients: int) -> JsonOptions:
    values: dict[str, list[JsonScalar]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    options: JsonOptions = {}
    for name, texts in values.items():
        if len(texts) >= clients and len(set(map(repr, texts))) == 1:
            options[name] = texts[0]
        elif ALIASES.get(name, name) in _WITH_DEFAULT:
            options[name] = _describe_unsure(texts)
    return options


def _describe_unsure(values: Iterable[object]) -> str:
    words = " or ".join(dict.fromkeys(str(value).replace(",", " ") for value in values))
    return f"{words} of one client"


Number = int | float | None
VERSION = b'"fio version"'
SUM = "All clients"
_NAME_CUT = 127
MOST_JOBS = 4096  # fio's own limit


class LatencyTotals(Struct):
    """The mean of a latency and the number of completions."""

    mean: Number = None
    N: int | None = None


class DirectionTotals(Struct):
    """The running totals of one direction."""

    io_bytes: Number = None
    runtime: Number = None
    total_ios: Number = None
    clat_ns: LatencyTotals | None = None
    lat_ns: LatencyTotals | None = None


def _has_name_of_another(job: "AnyJob") -> bool:
    """Return whether a group has the name of its first job and the options of its last. Names are cut at 127 octets."""
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
    job_options: JsonOptions | None = field(default=None, name="job options")
    read: DirectionTotals | None = None
    write: DirectionTotals | None = None
    trim: DirectionTotals | None = None
    mixed: DirectionTotals | None = None


class JsonLatency(LatencyTotals):
    """One latency with its spread, percentiles and bins."""

    min: Number = None
    max: Number = None
    stddev: Number = None
    percentile: dict[str, Number] | None = None
    bins: dict[str, int] | None = None


class JsonDirection(DirectionTotals):
    """One direction of one job. fio 2.x prints `clat` in µs where 3.x prints `clat_ns` in ns."""

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
    slat_ns: JsonLatency | None = None
    clat_ns: JsonLatency | None = None
    lat_ns: JsonLatency | None = None
    slat: JsonLatency | None = None
    clat: JsonLatency | None = None
    lat: JsonLatency | None = None


class JsonJob(JobTotals):
    """One job with all its figures."""

    error: Annotated[int, msgspec.Meta(ge=-INT4, le=INT4)] = 0
    read: JsonDirection | None = None
    write: JsonDirection | None = None
    trim: JsonDirection | None = None
    mixed: JsonDirection | None = None
    sync: JsonDirection | None = None
    job_runtime: Number = None
    usr_cpu: Number = None
    sys_cpu: Number = None


AnyJob = TypeVar("AnyJob", bound=JobTotals)


def _get_kind(job: JobTotals) -> tuple[str, int, str, Number]:
    """Return what the copies of a job have in common; each client has its own."""
    return job.jobname, job.groupid, job.hostname, job.port


class FioDocument(Struct, Generic[AnyJob]):
    """One report of fio."""

    version: str = field(default="", name="fio version")
    timestamp: Number = None
    timestamp_ms: Number = None
    global_options: JsonOptions | list[JsonOptions] | None = field(default=None, name="global options")
    jobs: list[AnyJob] | None = None
    client_stats: list[AnyJob] | None = None
    disk_util: object = None  # read by `disks.py`, so that a fault in it harms no job

    @property
    def at_ms(self) -> float | None:
        """Return when fio wrote it, in ms since 1970; None for what is no time up to the year 9999."""
        ms = read_non_negative(self.timestamp_ms)
        if self.timestamp_ms is None and (seconds := read_non_negative(self.timestamp)) is not None:
            ms = seconds * 1000
        return ms if ms is not None and read_epoch(ms / 1000) is not None else None

    @property
    def listed(self) -> list[AnyJob]:
        """Return the jobs as the report lists them, including the sum of all clients."""
        return self.jobs if self.jobs is not None else self.client_stats or []

    def get_entries(self) -> list[AnyJob]:
        """Return the jobs, or those of all clients without their sum, which would count everything twice.

        The sum is returned where the text has nothing else.
        """
        return [job for job in self.listed if self.jobs is not None or job.jobname != SUM] or self.listed

    def make_loads(self) -> list[Load]:
        """Return what each entry was asked to do, computed once for the copies of a job."""
        entries = self.get_entries()
        copies = Counter(map(_get_kind, entries))
        known: dict[tuple[object, ...], Load] = {}
        loads = []
        for job in entries:
            options, count = self._options_of(job), copies[_get_kind(job)]
            key = (count, is_shared := _has_name_of_another(job), *options.items())
            if key not in known:
                known[key] = replace(make_load(options, count), is_shared=is_shared)
            loads.append(known[key])
        return loads

    def _options_of(self, job: AnyJob) -> dict[str, str]:
        """Return a job's options. The sum of all clients has none: theirs stand at their jobs, and what is missing is not the default."""
        if self.jobs is None and job.jobname == SUM:
            return {}
        if isinstance(self.global_options, list):
            return merge_options(get_client_options(self.global_options, job.hostname, job.port), job.job_options)
        return merge_options(self.global_options, job.job_options)

    def share_options(self, data: bytes) -> None:
        """Keep the options that are certain for all of several clients in one object. `data` is the document's text."""
        clients = len({(job.hostname, job.port) for job in self.get_entries()}) if self.client_stats else 0
        if clients > 1 and isinstance(self.global_options, dict):
            options = get_shared_options(data, clients)
            self.global_options = self.global_options if options is None else options


WHOLE = msgspec.json.Decoder(FioDocument[JsonJob])
TOTALS = msgspec.json.Decoder(FioDocument[JobTotals])
Decoder = msgspec.json.Decoder


def as_bytes(text: str | bytes | SourceText) -> bytes:
    """Return UTF-8 without a byte order mark; what is not UTF-8 becomes replacement characters."""
    if isinstance(text, SourceText):
        text = get_ascii_bytes(text)
    if isinstance(text, str):
        return text.encode("utf-8", "replace").removeprefix(b"\xef\xbb\xbf")
    try:
        text.decode()
    except UnicodeDecodeError:
        text = text.decode("utf-8", "replace").encode()
    return text.removeprefix(b"\xef\xbb\xbf")


def decode_document(decoder: "Decoder[FioDocument[AnyJob]]", data: bytes) -> FioDocument[AnyJob] | None:
    """Return the document, or None where these bytes are no whole report of fio.

    Raises:
        UnfitError: if a field has the wrong type.
        ParseError: if the report lists more jobs than fio runs.
    """
    try:
        return _decode(decoder, data)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass  # some versions print nan, which is no JSON
    try:
        return _decode(decoder, NOT_NUMBERS.sub(rb"\1null", data))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _decode(decoder: "Decoder[FioDocument[AnyJob]]", data: bytes) -> FioDocument[AnyJob] | None:
    try:
        document = decoder.decode(data)
    except msgspec.ValidationError as error:
        if VERSION not in data:
            return None
        raise make_unfit(error) from None
    if not document.version:
        return None
    if len(document.listed) > MOST_JOBS:
        actual = f"{len(document.listed)} jobs"
        raise ParseError("fio's report lists more jobs than fio runs", found=actual, expected=f"at most {MOST_JOBS}")
    document.share_options(data)
    return document
