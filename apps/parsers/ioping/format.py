"""Parser of ioping's text, versions 0.4 to 1.3.

    4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=295.8 us

    --- . (ext4 /dev/vda 252.0 GiB) ioping statistics ---
    2 requests completed in 504.7 us, 8 KiB read, 3.96 k iops, 15.5 MiB/s
    generated 3 requests in 200.5 ms, 12 KiB, 14 iops, 59.9 KiB/s
    min/avg/max/mdev = 208.9 us / 252.4 us / 295.8 us / 43.5 us

One run per statistics block. The requests above it are a histogram, except for those that ioping itself does not count:
the time of each is not printed, so they are no series. Periods between them (-p, -P) are one. Samples: iops, bandwidth,
latency_min, _mean, _max, _stdev and io_bytes.

Versions (ioping.c at the tags of koct9i/ioping):

- 0.4 and 0.5: the title has the target without its device.
- 0.4: no rate at all; 0.5: `364 iops 1.4 mb/s`; 0.6: `364 iops, 1.4 mb/s`, later `MiB/s`; one unit for all latencies.
- 0.7 and 0.8: a unit per value, `4.0 kb`, then `4.0 KiB`; they print `from` for writes, too.
- 0.9: `4 KiB to`; 1.0: `>>>`, `<<<`, `read`, `written`, `generated`, marks like `(warmup)`; since then "completed in"
  is the time in requests, without pauses. `generated` counts ignored requests, too, and is not read.
- With -G reads and writes are one statistic: the operation is `mixed`.
- Random or sequential is never printed, only the command line shows it (-L); random is the default.
- 1.3 with -I puts the local time before each request.
- A block without its title is read where it says `read` or `written`, or the command line stands above it.
- A line of latencies alone, below the command line, is a block whose other lines were left out.

nench.sh shows one line of each of its two runs of ioping, below a heading of the script:

    ioping: seek rate
        min/avg/max/mdev = 72.4 us / 118.0 us / 3.56 ms / 48.1 us
    ioping: sequential read speed
        generated 9.93 k requests in 5.00 s, 2.42 GiB, 1.98 k iops, 496.2 MiB/s

The first is of random reads (`ioping -DR`), the second of sequential ones (`-DRL`), which only the script states. So a
heading alone is not enough: the script's name has to be in the text, or both headings.

Raw lines (-p, -P, -B): see `raw.py`. Units: see `units.py`.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from apps.parsers.core.models import Broken, ParsedFile, ParsedHistogram, ParsedRun, ParseError
from apps.parsers.core.numbers import INT8
from apps.parsers.core.prompts import find_prompt_host
from apps.parsers.core.source_text import SourceText
from apps.parsers.ioping import raw as ioping_raw
from apps.parsers.ioping import units as ioping_units
from apps.parsers.ioping.figures import DONE_LINE, LATENCY_LINE, find_block_size, is_damaged, read_figures, read_rates
from apps.parsers.ioping.samples import CUT, choose_operation, make_missing, make_samples

_HEAD = re.compile(r"(?:^|\s)([\d.]{1,20} (?:bytes|[KMGTP]i?B|[kmgtp]?b|B)) (from|to|<<<|>>>) (.+)$")
_TIME = re.compile(r"(\d{1,18}) time=([\d.]{1,20} ?[a-z]{1,4})(?!\S)")
_RAW_BEFORE = re.compile(r"(?:\d{1,18} ){4}")
_NOT_COUNTED = ("(warmup)", "(too fast)", "(too slow)")
_DIRECTIONS = {"from": "read", "<<<": "read", "to": "write", ">>>": "write"}
MARK = ": request="


@dataclass(frozen=True, slots=True)
class IopingRequest:
    """The line of one request."""

    number: int
    size: str
    direction: str
    target: str
    latency: float  # ns
    is_counted: bool  # counted in ioping's own statistics


def read_request(line: str) -> IopingRequest | None:
    """Read the line of a request, None for any other line."""
    head, _, tail = line.partition(MARK)
    match, time = _HEAD.search(head), _TIME.match(tail)
    latency = ioping_units.parse_time(time[2]) if time else None
    if match is None or time is None or latency is None or latency > INT8 or MARK in tail or _RAW_BEFORE.match(head):
        return None
    is_counted = not any(mark in tail for mark in _NOT_COUNTED)
    return IopingRequest(int(time[1]), match[1], _DIRECTIONS[match[2]], match[3], latency, is_counted)


def is_complete(requests: Sequence[IopingRequest], damaged: int, counted: float | None) -> bool:
    """Return whether no request was left out, by their numbers and by how many ioping counted.

    `damaged` is the number of lines that can not be read.
    """
    count = sum(request.is_counted for request in requests) + damaged
    return not requests or (requests[-1].number <= len(requests) + damaged and count >= (counted or 0))


def make_histograms(requests: Sequence[IopingRequest], name: str) -> tuple[ParsedHistogram, ...]:
    """Return the latencies that ioping counts; `name` is the operation where there is only one direction."""
    directions = {request.direction for request in requests}
    counted: dict[str, Counter[int]] = {}
    for request in requests:
        if request.is_counted:
            counted.setdefault(request.direction, Counter())[round(request.latency)] += 1
    return tuple(
        ParsedHistogram(name if len(directions) == 1 else f"rand{direction}", "lat", 0, tuple(sorted(bins.items())))
        for direction, bins in counted.items()
    )


SEEK, SPEED = "ioping: seek rate", "ioping: sequential read speed"
_SPEED = re.compile(r"\s*generated [\d.]{1,20}(?: [kMGT])? requests in [\d.]{1,20} [a-z]{1,4}, ")
_GENERATED = "of all that ioping generated, the warm-up too"


def is_nench(text: SourceText) -> bool:
    """Return whether the text is an output of nench.sh."""
    return SEEK in text.text and (SPEED in text.text or "nench" in text.text)


def read_nench(text: SourceText, index: int) -> ParsedRun | Broken | None:
    """Return the run of the heading at `index`; None where that is none, or ioping was not installed."""
    title, below = text.lines[index].strip(), text.lines[index + 1 : index + 2]
    if title not in (SEEK, SPEED) or not below or "[" in below[0]:
        return None
    line, number = below[0][:_LONGEST], text.number(index + 1)
    if title == SEEK and LATENCY_LINE.search(line):
        samples = make_samples("randread", read_figures(line, lambda _: number)[1], None, None, "")
    elif title == SPEED and _SPEED.match(line):
        samples = make_samples("read", read_rates(line, lambda _: number), None, None, _GENERATED)
    else:
        return Broken(
            "nench.sh shows no figures of ioping", number, line.strip()[:100], "'min/avg/max/mdev' or 'generated'"
        )
    return ParsedRun(
        tool="ioping", tool_version="", samples=tuple(samples), workload={"rw": "randread" if title == SEEK else "read"},
        caption=title, line=text.number(index), last_line=number,
    )  # fmt: skip


TITLE_WORDS = " ioping statistics ---"


def is_latencies(line: str) -> bool:
    """Return whether a line has ioping's latencies; those of ping begin with `rtt`."""
    return line.lstrip().startswith("min/avg/max/mdev") and LATENCY_LINE.search(line[:_LONGEST]) is not None


def read_title(line: str) -> str:
    """Return the target in the title of a statistics block, "" for any other line."""
    head, separator, _ = line.rpartition(TITLE_WORDS)
    return head.partition("--- ")[2] if separator else ""


def count_lines(block: list[str]) -> int:
    """Return how many lines of the block ioping printed: up to the latencies, or up to the rates."""
    ends = [place for place, line in enumerate(block) if "mdev" in line or "requests" in line]
    if not ends:
        return 0
    wrapped = "mdev" in block[ends[-1]] and not LATENCY_LINE.search(block[ends[-1]]) and ends[-1] + 1 < len(block)
    return ends[-1] + 1 + wrapped


def states_direction(statistics: str) -> bool:
    """Return whether the statistics state reads or writes."""
    return " written, " in statistics or " read, " in statistics


def find_direction(statistics: str, of_requests: Collection[str], options: Mapping[str, str] | None) -> str:
    """Return read, write or mixed."""
    if (options and "G" in options) or len(of_requests) > 1:
        return "mixed"
    if states_direction(statistics):
        return "write" if " written, " in statistics else "read"
    if options and "W" in options:
        return "write"
    if "generated " in statistics and DONE_LINE.match(statistics):
        return "mixed"  # since 1.0 only -G leaves the word out
    return next(iter(of_requests), "read")


NAME = "ioping"
TITLE = "ioping"

_LONGEST = 4096
_BEHIND = 7  # most lines of a statistics block
_NO_DIRECTION = "the statistics do not say whether they count reads or writes"
_DAMAGED = "a line of ioping's whose figures cannot be read"
_ELIDED = "some of the requests are left out, so that no histogram is made of the others"
_COUNT = " requests completed in "


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text has an output of ioping, by its typical lines."""
    if TITLE_WORDS in text.text or (MARK in text.text and " time=" in text.text):
        return 1.0 if any(_is_own(line) for line in text.lines) else 0.0
    if "ioping " in text.text and "min/avg/max/mdev" in text.text:
        return 0.8 if any(is_latencies(line) for line in text.lines) else 0.0
    if is_nench(text) or (_COUNT in text.text and any(DONE_LINE.match(line[:_LONGEST]) for line in text.lines)):
        return 0.9
    return ioping_raw.looks_like(text)


def parse(text: SourceText) -> ParsedFile:
    """Parse every run in the text.

    Raises:
        ParseError: if there is none.
    """
    reading = _IopingReader(text)
    for index, line in enumerate(text.lines):
        if line and len(line) <= _LONGEST:
            reading.read_line(index, line)
    reading.close()
    if not reading.runs and all(broken.message == _DAMAGED for broken in reading.broken):
        number = reading.broken[0].line if reading.broken else None
        raise ParseError("nothing of ioping in the text", line=number, expected="a line with 'ioping statistics'")
    return ParsedFile(tuple(reading.runs), tuple(reading.warnings), tuple(reading.broken))


def _is_own(line: str) -> bool:
    return len(line) <= _LONGEST and bool(read_title(line) or read_request(line))


@dataclass(slots=True)
class _RequestGroup:
    """The requests of one run, so far."""

    first: int
    last: int
    command: str
    host: str = ""  # from the prompt before the command
    target: str = ""
    requests: list[IopingRequest] = field(default_factory=list)
    periods: list[ioping_raw.RawLine] = field(default_factory=list)
    damaged: int = 0  # number of request lines that can not be read

    @property
    def directions(self) -> set[str]:
        return {request.direction for request in self.requests}


class _IopingReader:
    """A reader of lines: requests are collected in a group, until its statistics or the next group."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.runs: list[ParsedRun] = []
        self.broken: list[Broken] = []
        self.warnings: list[str] = []
        self.group: _RequestGroup | None = None
        self.command = self.host = ""
        self.covered = -1  # the last line of the block before
        self.is_nench = is_nench(text)

    def read_line(self, index: int, line: str) -> None:
        if index <= self.covered:
            return
        if raw := ioping_raw.read_raw(line):
            self._read_period(index, raw)
        elif MARK in line and (request := read_request(line)):
            self._read_request(index, request)
        elif MARK in line:
            self._add_damaged(index)
            if self.group:
                self.group.damaged += 1
        elif target := read_title(line):
            self._read_statistics(index + 1, target)
        elif _COUNT in line and DONE_LINE.match(line):
            self._read_statistics(index, self.group.target if self.group else "")
        elif self.is_nench and "ioping: " in line and (result := read_nench(self.text, index)):
            self.close()
            self._add_result(result)
            self.covered = index + 1
        elif (self.command or self.group) and is_latencies(line):
            self._read_latencies(index, line)
        elif match := ioping_units.find_command(line):
            self.close()
            self.command, self.host = match[1].strip(), find_prompt_host(line, match.start() + 1)
        elif line.strip() and self.group is not None and not self.group.requests:
            self.close()  # raw lines stand directly below each other

    def close(self) -> None:
        """Finish the group without statistics."""
        if self.group is not None:
            line = self.text.number(self.group.last)
            if not self.group.requests:
                self._add_result(
                    ioping_raw.make_raw_run(self.group.periods, self.group.command, self._get_lines(self.group))
                )
            else:
                self.broken.append(Broken("the statistics are missing", line, "", "'--- … ioping statistics ---'"))
                self.runs.append(self._run(self.group, "", "", [], CUT))
        self.group, self.command, self.host = None, "", ""

    def _add_damaged(self, index: int) -> None:
        excerpt = self.text.lines[index].strip()[:100]
        self.broken.append(Broken(_DAMAGED, self.text.number(index), excerpt, "figures as ioping prints them"))

    def _add_result(self, result: ParsedRun | Broken) -> None:
        if isinstance(result, Broken):
            self.broken.append(result)
        else:
            self.runs.append(result)

    def _get_lines(self, group: _RequestGroup) -> tuple[int, int]:
        return self.text.number(group.first), self.text.number(group.last)

    def _open(self, index: int) -> _RequestGroup:
        if self.group is None:
            self.group = _RequestGroup(index, index, self.command, self.host)
        self.group.last = index
        return self.group

    def _read_period(self, index: int, raw: ioping_raw.RawLine) -> None:
        self._open(index).periods.append(raw)

    def _read_request(self, index: int, request: IopingRequest) -> None:
        last = self.group.requests[-1] if self.group and self.group.requests else None
        if last and (request.number <= last.number or request.target != last.target):
            self.close()
        group = self._open(index)
        group.requests.append(request)
        group.target = request.target

    def _read_statistics(self, start: int, target: str) -> None:
        """Read the block whose first line below its title is `start`."""
        group = self.group
        if group and group.target.rpartition(" (")[0] == target != "":
            target = group.target  # the title of 0.4 and 0.5 has no device
        if group and group.target and group.target != target:
            self.close()
        group = self._open(start if not target else start - 1)
        block = [line[:_LONGEST] for line in self.text.lines[start : start + _BEHIND - 1]]
        ends = [place for place, line in enumerate(block) if read_title(line) or MARK in line]
        ends += [place for place, line in enumerate(block) if DONE_LINE.match(line)][1:]
        block = block[: min(ends, default=None)]
        self.covered = group.last = start - 1 + count_lines(block)
        statistics = " ".join(block[: count_lines(block)])
        self._look_for_damage(start - bool(target), start + count_lines(block), statistics)
        if group.command or group.requests or (target and _COUNT in statistics) or states_direction(statistics):
            self.runs.append(self._run(group, target, statistics, block, ""))
        else:
            self.broken.append(self._without_direction(start, block, group.first))
        self.group, self.command, self.host = None, "", ""

    def _without_direction(self, start: int, block: list[str], first: int) -> Broken:
        if not block:
            excerpt = self.text.lines[first].strip()[:100]
            return Broken(
                "the statistics are cut off", self.text.number(first), excerpt, "'requests completed in' below it"
            )
        first_line = block[0].strip()[:100]
        return Broken(_NO_DIRECTION, self.text.number(start), first_line, "'read' or 'written' behind the size")

    def _look_for_damage(self, first: int, behind: int, statistics: str) -> None:
        places = [at for at in range(first, behind) if is_damaged(self.text.lines[at])]
        if not places and _COUNT not in statistics and "mdev" in statistics:
            places = [first]  # the line that counts is missing
        for at in places:
            self._add_damaged(at)

    def _read_latencies(self, index: int, line: str) -> None:
        """Read the last line of a statistics block without its first ones."""
        group = self._open(index)
        self.runs.append(self._run(group, "", line[:_LONGEST], [line[:_LONGEST]], ""))
        self.group, self.command, self.host = None, "", ""

    def _run(self, group: _RequestGroup, target: str, statistics: str, block: list[str], problem: str) -> ParsedRun:
        full_target = target or group.target
        path, _, device = full_target.rpartition(" (")
        if not ioping_units.may_belong_to(group.command, path):
            group.command = group.host = ""
        options = ioping_units.read_options(group.command) if group.command else None
        name, note = choose_operation(find_direction(statistics, group.directions, options), options)
        counted, figures = read_figures(statistics, lambda printed: self._find_place(group, block, printed))
        workload = ioping_units.read_workload(group.command) if group.command else {}
        size = workload.get("block_size")
        block_size = find_block_size(group.requests[-1].size if group.requests else "", statistics) or (
            size if isinstance(size, int) else None
        )
        samples = make_samples(name, figures, counted, block_size, note)
        if not any(sample.metric == "latency_mean" for sample in samples):
            samples.append(make_missing(name, self.text.number(group.last), block_size, CUT))
        is_whole = is_complete(group.requests, group.damaged, counted)
        if not is_whole:
            self.warnings.append(f"line {self.text.number(group.first)}: {_ELIDED}")
        return ParsedRun(
            tool="ioping", tool_version="", samples=tuple(samples), problem=problem,
            series=ioping_raw.make_raw_series(group.periods, name),
            histograms=make_histograms(group.requests, name) if is_whole else (),
            labels={"device": device.rstrip(")")} if path else {}, target=path or full_target,
            workload={**workload, "rw": {"mixed": "randrw"}.get(name, name)}, host=group.host,
            line=self.text.number(group.first), last_line=self.text.number(group.last),
        )  # fmt: skip

    def _find_place(self, group: _RequestGroup, block: list[str], printed: str) -> int:
        """Return the line of the block that contains these characters."""
        start = group.last - count_lines(block) + 1
        offset = next((place for place, line in enumerate(block) if printed in line), 0)
        return self.text.number(min(start + offset, group.last))
