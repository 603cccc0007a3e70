"""One line of fio's terse report. Its fields, and their units, are described in `format.py`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.parsers.core.models import Broken
from apps.parsers.fio.quantities import TRUE_KIB_OF_JOBS, Quantity, multiply, read_version
from apps.parsers.fio.readings import MEAN_OF_PROCESSES, ReportedJob, get_percentile_metric, parse_whole

_NEW = re.compile(r"[345];fio[- ][^;]{0,80};|^[345];[12]\.\d[^;]{0,80};")
_OLD = re.compile(r"(?:2;)?[^;]{0,255};\d{1,9};\d{1,9};\d+;\d+;\d+;")
_SHARES = 29
_WIDTHS = {"1": (16,), "2": (20, 41), "3": (41,), "4": (41,), "5": (47,)}
_DIRECTIONS = {1: ("mixed",), 2: ("read", "write"), 3: ("read", "write", "trim"), 4: ("read", "write", "trim", "mixed")}
_THIRD_IN_3 = ("read", "write", "mixed")  # version 3 has no trims; a third block comes from unified_rw_reporting=both
_NOT_MEASURED = re.compile(r"-?(?:nan|inf)", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,12})?\Z")
_ORDER = ("min", "max", "mean", "stdev")
LEAST_INTERVAL_MS = 200
_IN_US = 100  # fio 2.1 sums the time of looping jobs in µs while they run, and has ms only at their end


@dataclass(slots=True)
class TerseRecord:
    """One line: one job or group."""

    job: ReportedJob
    version: str
    moved_kib: int
    tail: tuple[str, ...]  # the fields behind the shares of latencies

    @property
    def disks(self) -> tuple[str, ...]:
        """Return the fields of the first disk, without the sums over members, which grow with every printed record."""
        return self.tail[:9] if len(self.tail) >= 9 else ()

    @property
    def key(self) -> tuple[int, str]:
        """Return the group and name of the job."""
        return self.job.group, self.job.name

    @property
    def runtime(self) -> int:
        """Return the ms of all directions together."""
        return sum(self.job.runtimes.values())

    def goes_on(self, before: "TerseRecord", at_least_ms: int) -> bool:
        """Return whether this is the same job a status interval later, and not another one of the same name.

        Copies of a job end within a few ms of each other.
        """
        grown = self.moved_kib > before.moved_kib or not before.moved_kib
        disks = zip(before.disks[1:8], self.disks[1:8], strict=False)
        is_later = self.runtime - before.runtime >= at_least_ms or self.runtime * _IN_US < before.runtime
        return is_later and grown and all((parse_whole(old) or 0) <= (parse_whole(new) or 0) for old, new in disks)


def read_record(line: str, number: int, broken: list[Broken], version: str = "") -> TerseRecord | None:
    """Read the record in a line, None where there is none.

    `version` is the version of fio in the lines above, for terse versions 1 and 2, whose records do not state it.
    Records that can not be read are added to `broken`.
    """
    if line.count(";") < 40:
        _report_cut(line, number, broken)
        return None
    start = _NEW.search(line)
    if start is None and ("%;" not in line or _OLD.match(line) is None):
        if (
            "%;" in line and _find_shares(line.split(";")) is not None
        ):  # other tools also print numbers between semicolons
            printed, expected = line.strip()[:40], "3;fio-3.33;name;group;error"
            broken.append(Broken("a terse record of fio whose beginning cannot be read", number, printed, expected))
        return None
    fields = line[start.start() if start else 0 :].strip().split(";")
    shares = _find_shares(fields)
    header = 5 if start else 4 if fields[0] == "2" else 3
    width = _find_width("1" if header == 3 else fields[0], shares - 5 - header) if shares else None
    if shares is None or width is None:
        printed, expected = f"{len(fields)} fields", "whole blocks of figures, CPU and 29 shares"
        broken.append(Broken("a terse record of fio that is not whole", number, printed, expected))
        return None
    if header == 5:
        version = fields[1].strip().removeprefix("fio").lstrip("- ")
    return _read_fields(fields, header, width, shares, number, broken, version)


def _report_cut(line: str, number: int, broken: list[Broken]) -> None:
    """Report a record that ends early because fio was killed, or a copy cut it."""
    if line.count(";") >= 5 and _NEW.search(line):
        printed, expected = f"{line.count(';') + 1} fields", "130 or more"
        broken.append(Broken("a terse record of fio that is cut off", number, printed, expected))


def _find_shares(fields: Sequence[str]) -> int | None:
    """Return where the shares of depths and latencies begin: the first 29 percentages in a row."""
    row = 0
    for place, field in enumerate(fields):
        row = row + 1 if field.endswith("%") else 0
        if row == _SHARES:
            return place - _SHARES + 1
    return None


def _find_width(version: str, figures: int) -> int | None:
    return next(
        (width for width in _WIDTHS[version] if figures > 0 and figures % width == 0 and figures // width <= 4), None
    )


def _read_fields(
    fields: Sequence[str], header: int, width: int, shares: int, line: int, broken: list[Broken], version: str
) -> TerseRecord:
    name, group, error = fields[header - 3 : header]
    if parse_whole(group) is None or parse_whole(error) is None:
        broken.append(Broken("group or error of a terse record is no number", line, f"{group};{error}", "two numbers"))
    if version and read_version(f"fio-{version}") is None:
        broken.append(Broken("the version of a terse record cannot be read", line, fields[1][:40], "fio-3.33"))
    job = ReportedJob(name, parse_whole(group) or 0, parse_whole(error) or 0, line=line)
    count = (shares - 5 - header) // width
    moved = 0
    is_3 = header == 5 and fields[0] == "3" and count == 3
    for place, direction in enumerate(_THIRD_IN_3 if is_3 else _DIRECTIONS[count]):
        block = fields[header + place * width : header + (place + 1) * width]
        moved += _DirectionBlock(
            job, direction, block, line, read_version(f"fio-{version}" if version else ""), broken
        ).read()
    _read_cpu(job, fields[shares - 5], fields[shares - 4])
    return TerseRecord(job, version, moved, tuple(fields[shares + _SHARES :]))


def _read_cpu(job: ReportedJob, user: str, system: str) -> None:
    parts = [_parse_number(text.removesuffix("%")) for text in (user, system)]
    if parts[0] is None or parts[1] is None or not job.runtimes:
        for direction in job.runtimes:
            job.add_missing(direction, "cpu", "not printed as numbers", job.line, f"usr {user} + sys {system}")
        return
    for direction in job.runtimes:
        value = Quantity(round((parts[0] + parts[1]) / 100, 8), quality="exact")
        note = MEAN_OF_PROCESSES + ("; all directions together" if len(job.runtimes) > 1 else "")
        job.add(direction, "cpu", value, f"usr {user} + sys {system}", job.line, note)


def _parse_number(text: str) -> float | None:
    return float(text) if _NUMBER.match(text) else None


@dataclass(slots=True)
class _DirectionBlock:
    """The figures of one direction."""

    job: ReportedJob
    direction: str
    fields: Sequence[str]
    line: int
    version: tuple[str, tuple[int, ...]] | None
    faults: list[Broken]

    def read(self) -> int:
        """Read the figures and return the KiB that it moved; nothing is stored for a direction that moved none."""
        has_iops = len(self.fields) >= 41
        head, rest = self.fields[: 3 + has_iops], self.fields[3 + has_iops :]
        moved, runtime = parse_whole(head[0]), parse_whole(head[-1])
        if moved is None or runtime is None:
            self.job.add_missing(self.direction, "bandwidth", "its bytes or its time are no number", self.line)
            printed, message = f"{head[0]};{head[-1]}"[:80], f"the bytes or the time of {self.direction} are no number"
            self.faults.append(Broken(message, self.line, printed, "KiB and ms"))
        if not runtime or moved is None or not any(field.strip("0.") for field in head):
            return 0
        self.job.runtimes[self.direction] = runtime
        self._read_bandwidth(head[1], moved, runtime)
        if has_iops:
            self._store("iops", head[2], 1, "IOPS", "rounded")
        self._store("io_bytes", head[0], 1024, "KiB", "rounded")
        self._read_latencies(rest, has_iops)
        return moved

    def _read_bandwidth(self, printed: str, moved: int, runtime: int) -> None:
        base = self._get_base(printed, moved, runtime)
        if base is None:
            reason = "its K is 1000 or 1024, which neither the report nor its bytes and time tell"
            self.job.add_missing(self.direction, "bandwidth", reason, self.line, f"{printed} K/s")
        else:
            self._store("bandwidth", printed, base, "KiB/s" if base == 1024 else "kB/s", "rounded")

    def _get_base(self, printed: str, moved: int, runtime: int) -> int | None:
        if self.version is not None:
            return 1024 if self.version[1] >= TRUE_KIB_OF_JOBS else 1000
        fits = []
        for base in (1024, 1000):
            low, high = (bytes_ * 1000 / runtime / base for bytes_ in (moved * 1024, (moved + 1) * 1024))
            fits += [base] if low - 1 <= (_parse_number(printed) or 0) <= high else []
        return fits[0] if len(fits) == 1 else None

    def _read_latencies(self, rest: Sequence[str], has_percentiles: bool) -> None:
        self._read_spread("slat", rest[0:4])
        self._read_spread("clat", rest[4:8])
        place = 28 if has_percentiles else 8
        if has_percentiles and any(field.strip("0.") for field in rest[4:8]):
            self._read_percentiles(rest[8:28])
        if len(self.fields) > 16:
            self._read_spread("latency", rest[place : place + 4])
            place += 4
        low, high, _, mean, stdev = rest[place : place + 5]
        self._read_spread("bandwidth", (low, high, mean, stdev), 1024, "KiB/s")
        if len(self.fields) == 47:
            self._read_spread("iops", rest[place + 6 : place + 10], 1, "IOPS")

    def _read_spread(self, kind: str, fields: Sequence[str], scale: int = 1000, unit: str = "us") -> None:
        if not any(_parse_number(field) for field in fields):  # zeros: not measured
            fields = [field if _parse_number(field) is None else "" for field in fields]
        for word, printed in zip(_ORDER, fields, strict=True):
            if not printed:
                continue
            quality = "exact" if "." in printed and unit != "KiB/s" else "rounded"
            self._store(f"{kind}_{word}", printed, scale, unit, quality)

    def _read_percentiles(self, fields: Sequence[str]) -> None:
        for field in fields:
            share, _, printed = field.partition("%=")
            metric = get_percentile_metric("clat", _parse_number(share) or 0.0)
            if metric is not None:
                self._store(metric, printed, 1000, "us", "rounded")
            elif _parse_number(share) is None:
                self.faults.append(
                    Broken(
                        "a percentile of a terse record that cannot be read", self.line, field[:40], "99.000000%=123"
                    )
                )

    def _store(self, metric: str, printed: str, scale: int, unit: str, quality: str) -> None:
        if (value := _parse_number(printed)) is not None:
            self.job.add(
                self.direction,
                metric,
                Quantity(multiply(value, scale), quality=quality),
                f"{printed} {unit}",
                self.line,
            )
        elif not _NOT_MEASURED.match(printed):
            self.job.add_missing(self.direction, metric, "not printed as a number", self.line, f"{printed} {unit}")
