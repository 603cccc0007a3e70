"""The lines of fio's normal report, each read into a `ReportedJob`. Units and versions: see `format.py` and `quantities.py`."""

import re
from dataclasses import dataclass, field, replace

from apps.parsers.core.models import Broken
from apps.parsers.fio.json.doubts import NO_NUMBER
from apps.parsers.fio.quantities import TRUE_KIB, TRUE_KIB_OF_JOBS, Quantity, Style, multiply, settle_carry
from apps.parsers.fio.readings import ReportedJob, get_percentile_metric
from apps.parsers.fio.text.shares import PERCENTILE, find_damaged

# a re-wrapped mail has the end of the line above in front: the year of the date, `zone resets`
DIRECTION = re.compile(r"\s*(?:<[^<>\s]{1,255}> |20\d\d )?(read|write|trim|mixed)\s*:\s*(?=io=|IOPS=)")
_OTHER_DIRECTION = re.compile(r"[\s,;](read|write|trim|mixed)\s{0,8}:\s{0,8}(?:io=|IOPS=)")
_NEW = re.compile(
    r"IOPS=([^\s,()]{1,24}),\s*BW=([^\s,()]{1,32})(?:\s*\(([^()]{0,32})\)(?:\s*\(([^()/]{1,32})/(\d{1,19})msec\))?)?"
)
_BRACKET = re.compile(r"\s*(\([^()]{1,60}msec\))")
_OLD_SIZE = r"([\d.]{1,24} ?\w{0,4})"
_OLD = re.compile(
    rf"io=\s*{_OLD_SIZE}\s*,\s*bw=\s*{_OLD_SIZE}/s\s*,\s*(?:iops=\s*([\d.]{{1,24}}\w?)\s*,\s*)?runt=\s*(\d{{1,19}})(?:\.\d{{1,3}})?\s*msec"
)
LATENCY = re.compile(r"\s*(?:(?:zone )?resets )?(slat|clat|lat|sync) \(([num]sec)\)\s*:\s*min=")
PERCENTILES = re.compile(r"\s*(slat|clat|lat|sync) percentiles \(([num]sec)\)\s*:")
BANDWIDTH = re.compile(r"\s*bw \(\s*([KkM]i?(?:B|bit))\s*/s\)\s*:\s*min=")
IOPS = re.compile(r"\s*iops\s*: min=")
CPU = re.compile(r"\s*cpu\s*:\s*usr=([^\s,%]{1,12})%,\s*sys=([^\s,%]{1,12})%")
GROUP = re.compile(r"\s*(?:<[^<>\s]{1,255}> )?(READ|WRITE|TRIM|MIXED):\s*(?=io=|bw=)")
_GROUP_NEW = re.compile(
    r"bw=([\w./]{1,32})(?:\s*\(([\w./]{1,32})\))?[^,]*,\s*([\w.]{1,32})(?:/s)?-([\w./]{1,32})[^,]*,"
    r"\s*io=([\w.]{1,32})(?:\s*\(([\w.]{1,32})\))?[^,]*,\s*run=\d"
)
_GROUP_OLD = re.compile(
    rf"io=\s*{_OLD_SIZE}\s*,\s*aggrb=\s*{_OLD_SIZE}(?:/s)?\s*,\s*minb=\s*{_OLD_SIZE}(?:/s)?\s*,\s*maxb=\s*{_OLD_SIZE}"
)
_PART = re.compile(r"\b(min|max|avg|stdev|dev)=\s*([^\s,]{1,40}(,\d[\d.,]{0,20})?)")
_NOT_MEASURED = re.compile(r"-?(?:nan|inf)\b", re.IGNORECASE)
_RATES = {True: "IOPS=n, BW=n/s (n/s)(bytes/n msec)", False: "io=bytes, bw=n/s, iops=n, runt=n msec"}
_NO_SUM = "fio before 3.39 prints 0 here, whatever the sum of all directions is"  # its commit 6f3de5cefec6
SHARES_GO_ON = re.compile(r"\s*(?:\||\d{1,19}\],?\s*$)")
_MANY_IOS = 500  # a second; fewer are truncated to whole ones too coarsely
_SCALES = {"nsec": 1, "usec": 1000, "msec": 1_000_000}
_WORDS = {"min": "min", "max": "max", "avg": "mean", "stdev": "stdev", "dev": "stdev"}
_KINDS = {"lat": "latency", "sync": "latency", "bw": "bandwidth"}


@dataclass(slots=True)
class LineReader:
    """A reader of the lines of one run; `direction` is the one to which lines without their own belong."""

    style: Style
    job: ReportedJob
    direction: str = ""
    percentiles: tuple[str, int] | None = None
    faults: list[Broken] = field(default_factory=list)  # figures that cannot be read
    has_count: bool = True  # False where the printed number of processes can not be read
    kib: int | None = 1024  # bytes in the K of this job's bandwidth, None where that is unknown

    def rates(self, text: str, line: int) -> bool:
        """Read the line of a direction: IOPS, bandwidth, bytes and time. Return whether it is one."""
        head = DIRECTION.match(text)
        if head is None:
            return False
        new, old = _NEW.match(text, head.end()), _OLD.match(text, head.end())
        if new is None and old is None:
            return False
        self.direction = head[1]
        if new:
            self._read_new_rates(new, line)
        elif old:
            self._read_old_rates(old, line)
        other = _OTHER_DIRECTION.search(text, (new or old or head).end())
        if other and other[1] not in self.job.runtimes:  # both directions on one line
            self.rates(text[other.start(1) :], line)
        return True

    def _read_new_rates(self, match: re.Match[str], line: int) -> None:
        iops, bandwidth, bracketed, moved, runtime = match.groups()
        if runtime is not None and not int(runtime):
            return  # fio 3.33 prints the sum of both directions without bytes and time
        style = self._get_style(is_old=False)
        if self.direction == "mixed" and [iops, bandwidth, bracketed].count("0") > 1:
            self._add_no_sum(iops, bandwidth, int(runtime or 0), line)
            return
        if re.search(r"[kMGTP](?:B|bit)/s", bandwidth):
            self.style = replace(self.style, kb_base=1000)
        is_whole = bandwidth.endswith("/s") or bracketed is not None  # clients print no /s
        again = style.size(bracketed) if bracketed else None  # the same in the other unit
        rate = (
            settle_carry(style.size(bandwidth), again.value if again and again.low is None else None)
            if is_whole
            else None
        )
        self._store_or_report("bandwidth", rate, f"BW={bandwidth}", line)
        self._store_or_report("iops", style.count(iops), f"IOPS={iops}", line)
        if moved:
            expected_bytes = rate.value * int(runtime or 0) / 1000 if rate and rate.low is None else None
            self._store_or_report("io_bytes", settle_carry(style.size(moved), expected_bytes), moved, line)
        elif bracketed is not None and (rest := _BRACKET.match(match.string, match.end())):
            self._store_or_report("io_bytes", None, rest[1], line)
        self.job.runtimes[self.direction] = int(runtime or 0)

    def _add_no_sum(self, iops: str, bandwidth: str, runtime: int, line: int) -> None:
        """Add a sum that fio does not compute as missing; a figure of it that is no number is reported like any other."""
        for metric, word, figure in (("bandwidth", "BW", bandwidth), ("iops", "IOPS", iops)):
            if figure == "0":
                self.job.add_missing("mixed", metric, _NO_SUM, line, f"{word}=0")
            else:
                self._store_or_report(metric, None, f"{word}={figure}", line)
        self.job.runtimes["mixed"] = runtime

    def _store_or_report(self, metric: str, value: Quantity | None, printed: str, line: int) -> None:
        if value is None:
            self.faults.append(Broken(f"the {metric} of {self.direction} is no number", line, printed, "a number"))
            self.job.add_missing(self.direction, metric, NO_NUMBER, line, printed)
        else:
            self._store(metric, value, printed, line)

    def _number(self, metric: str, word: str, printed: str, line: int, *, has_comma: bool) -> Quantity | None:
        """Read a figure of a line with several. fio prints no comma inside a number, so one may mean thousands or decimals."""
        bare = printed.rstrip("),;]}*`'\"")
        read = None if has_comma else self.style.count(bare)
        if read is None and not _NOT_MEASURED.match(bare):
            message = f"a comma inside the number {word}" if has_comma else f"{word} is no number"
            self.faults.append(Broken(message, line, f"{word}={bare}", "digits, and a point"))
            if self.direction:
                self.job.add_missing(self.direction, metric, NO_NUMBER, line, f"{word}={bare}")
        return read

    def unread_rates(self, text: str, line: int) -> None:
        """Report the line of a direction that `rates` can not read; what stands below it still belongs to it."""
        head = DIRECTION.match(text)
        if head is None:
            return
        self.direction, rest = head[1], text[head.end() :].strip()
        message, expected = f"the rates of {self.direction} cannot be read", _RATES[rest.startswith("IOPS=")]
        self.faults.append(Broken(message, line, rest[:120], expected))
        self.job.add_missing(self.direction, "bandwidth", NO_NUMBER, line, rest)

    def _read_old_rates(self, match: re.Match[str], line: int) -> None:
        moved, bandwidth, iops, runtime = match.groups()
        style = self.style = self._get_old_style(bandwidth, iops)
        read, size = style.size(bandwidth), style.size(moved)
        if "Ki" in bandwidth or "Mi" in bandwidth or "Gi" in bandwidth:
            self.kib = self._get_kib(read, size, int(runtime))
        if self.kib is None:
            reason = "its K is 1000 or 1024, which this version of fio does not tell"
            self.job.add_missing(self.direction, "bandwidth", reason, line, f"bw={bandwidth}/s")
        else:
            self._store_or_report("bandwidth", _scale(read, self.kib / 1024), f"bw={bandwidth}/s", line)
        if iops:
            self._store_or_report("iops", style.count(iops), f"iops={iops}", line)
        self._store_or_report("io_bytes", size, f"io={moved}", line)
        self.job.runtimes[self.direction] = int(runtime)

    def _get_old_style(self, bandwidth: str, iops: str | None) -> Style:
        """Return the style of fio 1.x and 2.x. K is 1000 with kb_base=1000, which only I/Os and their size may reveal."""
        style = self._get_style(is_old=True)
        block, count = self.job.load().block_size(self.direction), style.count(iops) if iops else None
        rates = [replace(style, kb_base=base).size(bandwidth) for base in (1024, 1000)]
        if (
            not block
            or count is None
            or count.value < _MANY_IOS
            or any(rate is None or rate.low is not None for rate in rates)
        ):
            return style
        truth = count.value * block
        is_near = [rate is not None and abs(rate.value - truth) < truth * 0.005 for rate in rates]
        return replace(style, kb_base=1000) if is_near == [False, True] else style

    def _get_style(self, *, is_old: bool) -> Style:
        """Return the style of a line, which shows it also where no version is printed."""
        return self.style if self.style.is_before_2_17 == is_old else replace(self.style, is_before_2_17=is_old)

    def _get_kib(self, bandwidth: Quantity | None, size: Quantity | None, runtime: int) -> int | None:
        """Return what `KiB/s` stands for: 1000 before fio 1.25.2. Where no version is printed, bytes and time decide."""
        if self.style.version is not None:
            return 1024 if self.style.version >= TRUE_KIB else 1000
        if bandwidth is None or size is None or not runtime:
            return None
        truth = size.value * 1000 / runtime
        fits = [base for base in (1000, 1024) if abs(bandwidth.value * base / 1024 - truth) < truth * 0.01]
        return fits[0] if len(fits) == 1 else None

    def latency(self, match: re.Match[str], text: str, line: int) -> bool:
        """Read the line of a latency; return False where such a line was read before."""
        kind, unit = match.groups()
        is_new = True
        for word, printed, comma in _PART.findall(text):
            metric = f"{_KINDS.get(kind, kind)}_{_WORDS[word]}"
            read = self._number(metric, word, printed, line, has_comma=bool(comma))
            if read and unit == "nsec" and printed.isdigit():
                read = replace(read, quality="exact")
            is_new &= self._store(metric, _scale(read, _SCALES[unit]), f"{word}={printed} {unit}", line, kind)
        return is_new

    def doubt(self, kind: str, reason: str) -> None:
        """Remove what was read of a kind."""
        self.job.doubt("sync" if kind == "sync" else self.direction, _KINDS.get(kind, kind), reason)

    def percentile_line(self, text: str, line: int) -> bool:
        """Read a line of percentiles under their heading; return whether it has any."""
        if self.percentiles is None:
            return False
        kind, scale = self.percentiles
        matches = PERCENTILE.findall(text)
        for share, bracketed, bare in matches:
            printed = bracketed or bare
            metric = get_percentile_metric("lat" if kind == "sync" else kind, float(share))
            if metric is not None:
                quality = "exact" if scale == 1 else "rounded"
                self._store(
                    metric,
                    Quantity(float(printed) * scale, quality=quality),
                    f"{share}th=[{printed}] {_get_unit(scale)}",
                    line,
                    kind,
                )
        self._report_percentiles(kind, text, len(matches), line)
        return bool(matches)

    def _report_percentiles(self, kind: str, text: str, valid: int, line: int) -> None:
        for share, printed in find_damaged(text, valid):
            self.faults.append(Broken("a percentile that cannot be read", line, printed, "99.00th=[ 123]"))
            metric = get_percentile_metric("lat" if kind == "sync" else kind, share) if share is not None else None
            if metric is not None and self.direction:
                self.job.add_missing("sync" if kind == "sync" else self.direction, metric, NO_NUMBER, line, printed)

    def bandwidth(self, match: re.Match[str], text: str, line: int) -> bool:
        """Read least, most and mean of the intervals: KiB/s whatever the label says, divided by kb_base under M."""
        label = match[1]
        scale = (
            float(self.kib or 0) * (self.style.kb_base if label.startswith("M") else 1) / (8 if "bit" in label else 1)
        )
        return not scale or self._read_spread("bandwidth", text, scale, f"{label}/s", line)

    def iops(self, text: str, line: int) -> bool:
        """Read least, most and mean IOPS of the intervals."""
        return self._read_spread("iops", text, 1, "IOPS", line)

    def cpu(self, match: re.Match[str], line: int) -> bool:
        """Read the CPU of all processes that the job adds up: fio prints the mean of one."""
        moved, parts = sorted(self.job.runtimes), match.groups()
        if any(map(_NOT_MEASURED.match, parts)):
            return True
        if not (self.has_count and all(part.replace(".", "", 1).isdecimal() for part in parts)):
            self._report_cpu(match[0].strip(), moved, line)
            return True
        value = Quantity(round(sum(map(float, parts)) / 100 * (self.job.jobs or 1), 6), quality="rounded")
        note = "all directions of the job together" if len(moved) > 1 else ""
        printed = f"usr={match[1]}%, sys={match[2]}%"
        are_new = [self.job.add(direction, "cpu", value, printed, line, note) for direction in moved]
        return all(are_new)

    def _report_cpu(self, printed: str, moved: list[str], line: int) -> None:
        expected = "usr=0.0%, sys=0.0%, and above them how many jobs"
        self.faults.append(Broken("the CPU's shares cannot be read", line, printed, expected))
        for direction in moved:
            self.job.add_missing(direction, "cpu", NO_NUMBER, line, printed)

    def group(self, text: str, line: int) -> None:
        """Read the sums of a group, for a report that has nothing else."""
        head = GROUP.match(text)
        if head is None:
            return
        self.direction = head[1].lower()
        if new := _GROUP_NEW.match(text, head.end()):
            bandwidth, rate_again, least, most, moved, moved_again = new.groups()
            parts = {"bandwidth": bandwidth, "bandwidth_min": least, "bandwidth_max": most, "io_bytes": moved}
            again = {"bandwidth": rate_again, "io_bytes": moved_again}
            style = self._get_style(is_old=False)
        elif old := _GROUP_OLD.match(text, head.end()):
            parts = dict(zip(("io_bytes", "bandwidth", "bandwidth_min", "bandwidth_max"), old.groups(), strict=True))
            style, again = self._get_style(is_old=True), {}
        else:
            return
        is_decimal = style.is_before_2_17 and self._has_decimal_extremes(style, parts)
        for metric, printed in parts.items():
            is_early = metric != "io_bytes" and "iB" in printed and style.is_before_2_17
            is_early |= is_decimal and metric in ("bandwidth_min", "bandwidth_max")
            value = settle_carry(style.size(printed), _read_exact(style, again.get(metric)))
            self._store(metric, _scale(value, 1000 / 1024 if is_early else 1), printed, line)

    def _has_decimal_extremes(self, style: Style, parts: dict[str, str]) -> bool:
        """Return whether `minb` and `maxb` are bytes per ms under the name KB/s, as before 2.0.8.

        Without a version this shows where the largest is more than the sum of all.
        """
        if self.style.version is not None:
            return self.style.version < TRUE_KIB_OF_JOBS
        total, most = style.size(parts["bandwidth"]), style.size(parts["bandwidth_max"])
        return total is not None and most is not None and most.value > total.value * 1.01 and most.low is None

    def _read_spread(self, name: str, text: str, scale: float, unit: str, line: int) -> bool:
        is_new = True
        for word, printed, comma in _PART.findall(text):
            read = self._number(f"{name}_{_WORDS[word]}", word, printed, line, has_comma=bool(comma))
            is_new &= self._store(f"{name}_{_WORDS[word]}", _scale(read, scale), f"{word}={printed} {unit}", line)
        return is_new

    def _store(self, metric: str, value: Quantity | None, printed: str, line: int, kind: str = "") -> bool:
        direction = "sync" if kind == "sync" else self.direction
        return value is None or not direction or self.job.add(direction, metric, value, printed, line)


def _read_exact(style: Style, printed: str | None) -> float | None:
    """Return the figure in brackets behind another one, the same in the other unit, if it is exact."""
    read = style.size(printed) if printed else None
    return read.value if read and read.low is None else None


def _scale(read: Quantity | None, scale: float) -> Quantity | None:
    if read is None or scale == 1:
        return read
    low, high = (None if bound is None else multiply(bound, scale) for bound in (read.low, read.high))
    return Quantity(multiply(read.value, scale), low, high, read.quality)


def _get_unit(scale: int) -> str:
    return next(unit for unit, unit_scale in _SCALES.items() if unit_scale == scale)
