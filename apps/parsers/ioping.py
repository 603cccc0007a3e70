"""ioping's text, versions 0.4 to 1.3.

    4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=2 time=295.8 us

    --- . (ext4 /dev/vda 252.0 GiB) ioping statistics ---
    2 requests completed in 504.7 us, 8 KiB read, 3.96 k iops, 15.5 MiB/s
    generated 3 requests in 200.5 ms, 12 KiB, 14 iops, 59.9 KiB/s
    min/avg/max/mdev = 208.9 us / 252.4 us / 295.8 us / 43.5 us

One run per statistics block. The requests above it are a histogram, but for those that ioping itself does not count:
when each was made is not printed, so they are no series. Periods between them (-p, -P) are one.
Samples: iops, bandwidth, latency_min, _mean, _max, _stdev and io_bytes.

Versions (ioping.c at the tags of koct9i/ioping)
- 0.4 and 0.5: the title has the target without its device.
- 0.4: no rate at all; 0.5: `364 iops 1.4 mb/s`; 0.6: `364 iops, 1.4 mb/s`, later `MiB/s`; one unit for all latencies.
- 0.7 and 0.8: a unit per value, `4.0 kb`, then `4.0 KiB`; they print `from` for writes too.
- 0.9: `4 KiB to`; 1.0: `>>>`, `<<<`, `read`, `written`, `generated`, marks like `(warmup)`; "completed in" is since
  then the time in requests, without pauses. `generated` counts what was left out too and is not read.
- With -G reads and writes are one statistic: the operation is `mixed`.
- Random or sequential is never printed, only the command line shows it (-L); random is the default.
- 1.3 with -I puts the local time before each request.
- A block without its title is read where it says `read` or `written`, or the command line stands above it.
- A line of latencies alone, below the command line, is a block whose other lines somebody left out.
nench.sh's lines: see `ioping_nench`. Raw lines (-p, -P, -B): see `ioping_raw`. Units: see `ioping_units`.
"""

from dataclasses import dataclass, field

from apps.parsers import ioping_nench, ioping_raw, ioping_requests, ioping_units
from apps.parsers.ioping_block import TITLE_WORDS, direction, height, is_latencies, says_direction, title
from apps.parsers.ioping_figures import DONE_LINE, block_size_of, figures_of, is_damaged
from apps.parsers.ioping_requests import MARK, Request
from apps.parsers.ioping_samples import CUT, missing, operation, samples
from apps.parsers.prompts import host_before
from apps.parsers.shape import Broken, ParsedFile, ParsedRun, ParseError
from apps.parsers.source_text import SourceText

NAME = "ioping"
TITLE = "ioping"

_LONGEST = 4096
_BEHIND = 7  # lines that a statistics block may take
_NO_DIRECTION = "the statistics do not say whether they count reads or writes"
_DAMAGED = "a line of ioping's whose figures cannot be read"
_ELIDED = "some of the requests are left out, so that no histogram is made of the others"
_COUNT = " requests completed in "


def looks_like(text: SourceText) -> float:
    if TITLE_WORDS in text.text or (MARK in text.text and " time=" in text.text):
        return 1.0 if any(_is_own(line) for line in text.lines) else 0.0
    if "ioping " in text.text and "min/avg/max/mdev" in text.text:
        return 0.8 if any(is_latencies(line) for line in text.lines) else 0.0
    if ioping_nench.is_its(text) or (
        _COUNT in text.text and any(DONE_LINE.match(line[:_LONGEST]) for line in text.lines)
    ):
        return 0.9
    return ioping_raw.looks_like(text)


def parse(text: SourceText) -> ParsedFile:
    reading = _Reading(text)
    for index, line in enumerate(text.lines):
        if line and len(line) <= _LONGEST:
            reading.take(index, line)
    reading.close()
    if not reading.runs and all(one.message == _DAMAGED for one in reading.broken):
        number = reading.broken[0].line if reading.broken else None
        raise ParseError("nothing of ioping in the text", line=number, expected="a line with 'ioping statistics'")
    return ParsedFile(tuple(reading.runs), tuple(reading.warnings), tuple(reading.broken))


def _is_own(line: str) -> bool:
    return len(line) <= _LONGEST and bool(title(line) or ioping_requests.read(line))


@dataclass(slots=True)
class _Group:
    """The requests of one run, so far."""

    first: int
    last: int
    command: str
    host: str = ""  # of the prompt before it
    target: str = ""
    requests: list[Request] = field(default_factory=list)
    periods: list[ioping_raw.Raw] = field(default_factory=list)
    damaged: int = 0  # lines of requests that cannot be read

    @property
    def directions(self) -> set[str]:
        return {one.direction for one in self.requests}


class _Reading:
    """Line by line: requests gather in a group, until its statistics or the next group."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.runs: list[ParsedRun] = []
        self.broken: list[Broken] = []
        self.warnings: list[str] = []
        self.group: _Group | None = None
        self.command = self.host = ""
        self.covered = -1  # the last line of the block before
        self.is_nench = ioping_nench.is_its(text)

    def take(self, index: int, line: str) -> None:
        if index <= self.covered:
            return
        if raw := ioping_raw.read(line):
            self._period(index, raw)
        elif MARK in line and (request := ioping_requests.read(line)):
            self._request(index, request)
        elif MARK in line:
            self._damaged(index)
            if self.group:
                self.group.damaged += 1
        elif target := title(line):
            self._statistics(index + 1, target)
        elif _COUNT in line and DONE_LINE.match(line):
            self._statistics(index, self.group.target if self.group else "")
        elif self.is_nench and "ioping: " in line and (found := ioping_nench.read(self.text, index)):
            self.close()
            self._keep(found)
            self.covered = index + 1
        elif (self.command or self.group) and is_latencies(line):
            self._latencies(index, line)
        elif match := ioping_units.command_in(line):
            self.close()
            self.command, self.host = match[1].strip(), host_before(line, match.start() + 1)
        elif line.strip() and self.group is not None and not self.group.requests:
            self.close()  # raw lines stand together

    def close(self) -> None:
        """The group ends without statistics."""
        if self.group is not None:
            line = self.text.number(self.group.last)
            if not self.group.requests:
                self._keep(ioping_raw.run(self.group.periods, self.group.command, self._lines(self.group)))
            else:
                self.broken.append(Broken("the statistics are missing", line, "", "'--- … ioping statistics ---'"))
                self.runs.append(self._run(self.group, "", "", [], CUT))
        self.group, self.command, self.host = None, "", ""

    def _damaged(self, index: int) -> None:
        found = self.text.lines[index].strip()[:100]
        self.broken.append(Broken(_DAMAGED, self.text.number(index), found, "figures as ioping prints them"))

    def _keep(self, found: ParsedRun | Broken) -> None:
        if isinstance(found, Broken):
            self.broken.append(found)
        else:
            self.runs.append(found)

    def _lines(self, group: _Group) -> tuple[int, int]:
        return self.text.number(group.first), self.text.number(group.last)

    def _open(self, index: int) -> _Group:
        if self.group is None:
            self.group = _Group(index, index, self.command, self.host)
        self.group.last = index
        return self.group

    def _period(self, index: int, raw: ioping_raw.Raw) -> None:
        self._open(index).periods.append(raw)

    def _request(self, index: int, request: Request) -> None:
        last = self.group.requests[-1] if self.group and self.group.requests else None
        if last and (request.number <= last.number or request.target != last.target):
            self.close()
        group = self._open(index)
        group.requests.append(request)
        group.target = request.target

    def _statistics(self, start: int, target: str) -> None:
        """The block whose first line below its title is `start`."""
        group = self.group
        if group and group.target.rpartition(" (")[0] == target != "":
            target = group.target  # the title of 0.4 and 0.5 leaves out the device
        if group and group.target and group.target != target:
            self.close()
        group = self._open(start if not target else start - 1)
        block = [line[:_LONGEST] for line in self.text.lines[start : start + _BEHIND - 1]]
        ends = [place for place, line in enumerate(block) if title(line) or MARK in line]
        ends += [place for place, line in enumerate(block) if DONE_LINE.match(line)][1:]
        block = block[: min(ends, default=None)]
        self.covered = group.last = start - 1 + height(block)
        told = " ".join(block[: height(block)])
        self._look_for_damage(start - bool(target), start + height(block), told)
        if group.command or group.requests or (target and _COUNT in told) or says_direction(told):
            self.runs.append(self._run(group, target, told, block, ""))
        else:
            self.broken.append(self._without_direction(start, block, group.first))
        self.group, self.command, self.host = None, "", ""

    def _without_direction(self, start: int, block: list[str], first: int) -> Broken:
        if not block:
            shown = self.text.lines[first].strip()[:100]
            return Broken(
                "the statistics are cut off", self.text.number(first), shown, "'requests completed in' below it"
            )
        found = block[0].strip()[:100]
        return Broken(_NO_DIRECTION, self.text.number(start), found, "'read' or 'written' behind the size")

    def _look_for_damage(self, first: int, behind: int, told: str) -> None:
        places = [at for at in range(first, behind) if is_damaged(self.text.lines[at])]
        if not places and _COUNT not in told and "mdev" in told:
            places = [first]  # the line that counts is missing
        for at in places:
            self._damaged(at)

    def _latencies(self, index: int, line: str) -> None:
        """The last line of a statistics block whose first ones somebody left out."""
        group = self._open(index)
        self.runs.append(self._run(group, "", line[:_LONGEST], [line[:_LONGEST]], ""))
        self.group, self.command, self.host = None, "", ""

    def _run(self, group: _Group, target: str, told: str, block: list[str], problem: str) -> ParsedRun:
        shown = target or group.target
        path, _, device = shown.rpartition(" (")
        if not ioping_units.may_be_of(group.command, path):
            group.command = group.host = ""
        options = ioping_units.options(group.command) if group.command else None
        name, note = operation(direction(told, group.directions, options), options)
        counted, figures = figures_of(told, lambda printed: self._place(group, block, printed))
        asked = ioping_units.workload(group.command) if group.command else {}
        size = asked.get("block_size")
        block_size = block_size_of(group.requests[-1].size if group.requests else "", told) or (
            size if isinstance(size, int) else None
        )
        found = samples(name, figures, counted, block_size, note)
        if not any(sample.metric == "latency_mean" for sample in found):
            found.append(missing(name, self.text.number(group.last), block_size, CUT))
        is_whole = ioping_requests.are_all(group.requests, group.damaged, counted)
        if not is_whole:
            self.warnings.append(f"line {self.text.number(group.first)}: {_ELIDED}")
        return ParsedRun(
            tool="ioping", tool_version="", samples=tuple(found), problem=problem,
            series=ioping_raw.series(group.periods, name),
            histograms=ioping_requests.histograms(group.requests, name) if is_whole else (),
            labels={"device": device.rstrip(")")} if path else {}, target=path or shown,
            workload={**asked, "rw": {"mixed": "randrw"}.get(name, name)}, host=group.host,
            line=self.text.number(group.first), last_line=self.text.number(group.last),
        )  # fmt: skip

    def _place(self, group: _Group, block: list[str], printed: str) -> int:
        """The line of the block on which these characters stand."""
        start = group.last - height(block) + 1
        found = next((place for place, line in enumerate(block) if printed in line), 0)
        return self.text.number(min(start + found, group.last))
