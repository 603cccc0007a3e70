"""The runs of fio's normal report, line by line. What the lines look like: see `fio_text`."""

import re
from dataclasses import replace

from apps.parsers import fio_text_cuts as cuts
from apps.parsers import fio_text_lines as forms
from apps.parsers.fio_definitions import command_at, definition_at, doubt_of
from apps.parsers.fio_documents import MOST_JOBS
from apps.parsers.fio_quantities import Style, Version, version_of
from apps.parsers.fio_readings import Job
from apps.parsers.fio_text_draft import SUM, Draft, run_of
from apps.parsers.fio_text_headers import Header, header_in
from apps.parsers.shape import Broken, ParsedRun
from apps.parsers.source_text import SourceText

_GROUPS = re.compile(r"\s*(?:<[^<>\s]{1,255}> )?Run status group \d{1,9} \(all jobs\)")
_STARTING = re.compile(r"Starting (?:\d+ (?:process|thread)|\d+ threads and)")
_DISK = re.compile(r"\s+\S{1,64}: ios=\d|\s*aggrios=|\s*aggrutil=")
_ETA = re.compile(r"^.*\[eta [^\]]{0,20}\]")
_HOST = re.compile(r"hostname=(\S{1,255}?), be=.*\bfio=(fio-[^,\s]{1,60})")
_FAILED = re.compile(r"(?:<[^<>\s]{1,255}> )?fio: pid=\d{1,12}, err=(\d{1,9})/")
_BARE_VERSION = re.compile(r"[12]\.\d{1,2}(?:\.\d{1,2}){0,2}\s*$")
_BOLD = re.compile(r"\*([A-Za-z]{2,5}=\s{0,8}[\w./%]{1,30})\*")  # a word with its figure, as mails and forums print it
_STARRED = re.compile(r"\A(\s{0,60})/?\*{1,3}(?=(?:read|write|trim|mixed)\s{0,8}:)")  # put weight on
_SPEAKER = re.compile(r"<([^<>\s]{1,255})>\s*$")  # whose report comes below, of `--client`
_OTHER_WORDS = re.compile(r"\s*[A-Za-z][\w-]{0,40}:?\s{1,40}IOPS=[\d.]{1,20}\w?,\s{0,8}BW=")
_KB_1000 = re.compile(r"kb_base=1000\b")
_MOST_TOLD = 20
_DIRECTIONS = "read, write, trim or mixed, a colon, and IOPS="


class FioReport:
    """One pass over the lines; `done` has the runs, with their figures and how often each was said over again."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.lines = [_unmarked(line) if "=" in line and "*" in line else line for line in text.lines]
        self.done: list[tuple[ParsedRun, frozenset[tuple[str, str, int]], int]] = []
        self.draft = Draft()
        self.reader: forms.Reader | None = None
        self.warnings: list[str] = []
        self.broken: list[Broken] = []
        self.open: tuple[int, str] | None = None  # the line behind which a list goes on, and with what

    def read(self, index: int) -> None:
        line = self.lines[index]
        if not line or line.isspace():
            return
        number = self.text.number(index)
        if self.open and not cuts.is_more(line):
            self._end_list()
        if self._before(index, line, number) or self._result(index, line, number):
            self.draft.claim(number)

    def _before(self, index: int, line: str, number: int) -> bool:
        """What stands above the results: each of it begins a new run where there are results already."""
        if ": (g=" in line and (doubt := doubt_of(self.lines, index)) and len(self.warnings) < _MOST_TOLD:
            self.warnings.append(f"line {number}: {doubt}")
        if definition := definition_at(self.lines, index, number):
            self._next()
            self.draft.define(definition)
        elif command := command_at(self.lines, index, number):
            self._next()
            self.draft = Draft(Style(kb_base=1000 if _KB_1000.search(command.text) else 1024), command=command)
        elif len(line) < 64 and (version := self._version_line(line)):
            self._next()
            self._version(version)
        elif line.startswith("hostname=") and (host := _HOST.match(line[:1000])):
            self._next()
            self.draft.hosts.add(host[1])
            self._version(version_of(host[2]))
        elif line.startswith("<") and (speaker := _SPEAKER.match(line)) and speaker[1] in self.draft.hosts:
            self.draft.speaker = speaker[1]
        elif "fio: pid=" in line and (error := _FAILED.match(line)):
            self.draft.errors.add(int(error[1]))
        elif "fio: pid=" in line and ", func=" in line and len(self.broken) < _MOST_TOLD:
            self.broken.append(
                Broken("the error of a job cannot be read", number, line[:120], "fio: pid=n, err=n/file:")
            )
        else:
            return "Starting" in line and bool(_STARTING.match(line)) and not self.draft.has_results
        return True

    def _version_line(self, line: str) -> tuple[str, Version] | None:
        """`fio-3.33`, `fio 1.59`; before fio 2.0.9 the number alone, below the jobs."""
        bare = self.draft.definitions and not self.draft.has_results and _BARE_VERSION.match(line)
        return version_of(f"fio-{line}" if bare else line)

    def _version(self, read: tuple[str, Version] | None) -> None:
        if read is not None:
            self.draft.version = read[0]
            self.draft.style = replace(self.draft.style, version=read[1], is_before_2_17=read[1] < (2, 17))

    def _next(self) -> None:
        if self.draft.has_results:
            self.finish()
            self.draft, self.reader = Draft(), None

    def finish(self) -> None:
        self._end_list()
        if self.draft.has_results:
            self.done.append((run_of(self.draft), self.draft.figures(), self.draft.repeats))

    def _result(self, index: int, line: str, number: int) -> bool:
        if "(groupid=" in line and (header := header_in(_ETA.sub("", line))):
            self._job(header, number)
            if header.unread and len(self.broken) < _MOST_TOLD:
                self.broken.append(header.fault(number, line))
        elif "Run status group" in line and _GROUPS.match(line):
            self._group(index, line, number)
        elif self.draft.is_ended:
            return self._after(index, line, number)
        else:
            return self._figures(index, line, number)
        return True

    def _job(self, header: Header, number: int) -> None:
        name = header.name
        host = "" if name == SUM else header.host or self.draft.speaker
        key = header.key(host, self.draft.keys)
        if key in self.draft.keys:
            self.draft.restart()
        elif self.draft.goes_on(name, host):
            self.draft.is_ended, self.draft.groups = False, []
        elif (
            len(self.draft.jobs) >= MOST_JOBS
            or self.draft.is_ended
            or (self.draft.jobs and self.draft.jobs[-1].group > key[1])
        ):
            self._next()
        options = self.draft.options(name, key[1], host)
        job = Job(name, key[1], header.error or 0, header.jobs, number, host, options)
        self.draft.keys.add(key)
        # the sum would count everything twice, but where somebody kept nothing else
        (self.draft.sums if name == SUM else self.draft.jobs).append(job)
        self.reader = forms.Reader(self.draft.style, job, has_count="jobs" not in header.unread)

    def _group(self, index: int, line: str, number: int) -> None:
        if len(self.draft.groups) >= MOST_JOBS or self._is_another(index, line):
            self._next()
        self.draft.is_ended = True
        job = Job(line.strip()[:60], len(self.draft.groups), line=number)
        self.draft.groups.append(job)
        self.reader = forms.Reader(self.draft.style, job)

    def _is_another(self, index: int, line: str) -> bool:
        """Whether a group that was there before has other sums below it now: of a report that has lost all above them."""
        if line.strip()[:60] not in {group.name for group in self.draft.groups[:1]}:
            return False
        below = next((one for one in self.lines[index + 1 : index + 3] if one.strip()), "")
        return forms.GROUP.match(below) is not None and "".join(below.split()) not in self.draft.rates

    def _after(self, index: int, line: str, number: int) -> bool:
        """Below the jobs: sums of groups, and disks."""
        if self.reader and forms.GROUP.match(line):
            self.draft.rates.add("".join(line.split()))
            self.reader.group(self._joined(index, "msec" if "run=" in line else "maxt="), number)
            return True
        if forms.DIRECTION.match(line) and "msec" in self._joined(index, "msec"):
            return not self._is_repeated(line) and self._headless(index, number)
        return self._named(line, number) or line.startswith("Disk stats") or bool(_DISK.match(line))

    def _figures(self, index: int, line: str, number: int) -> bool:
        if forms.DIRECTION.match(line):
            return self._headless(index, number) if self._is_new(line) else self._rates(index, number)
        if self._named(line, number):
            return True
        if self.reader is None:
            return False
        sound, expected = cuts.whole(self.lines, index)
        if expected:
            self._tell_cut(index, expected)
        found = self._spread(self.reader, sound, number) or self._shares(self.reader, index, sound, number)
        is_mine = found or bool(expected) or cuts.DEPTHS.match(line) is not None
        if is_mine or self.open:
            behind = cuts.behind(line)
            self.open = (index, behind) if behind else None
        return is_mine

    def _is_new(self, line: str) -> bool:
        """Whether this direction begins a report that has lost the line with its name."""
        match = forms.DIRECTION.match(line)
        if self.reader is None or match is None:
            return True
        return match[1] in self.reader.job.runtimes and not self._is_repeated(line)

    def _is_repeated(self, line: str) -> bool:
        """Whether somebody says a line of the report over again, to speak of it."""
        return any(job.name for job in self.draft.jobs) and "".join(line.split()) in self.draft.rates

    def _named(self, line: str, number: int) -> bool:
        """The line of a direction behind a name, as grep prints it, or whoever compares two runs."""
        if "IOPS=" not in line and "runt=" not in line:
            return False
        match = forms.NAMED_DIRECTION.match(line)
        if match is None:
            if _OTHER_WORDS.match(line) and not forms.DIRECTION.match(line) and len(self.broken) < _MOST_TOLD:
                self.broken.append(Broken("rates in no line of fio's", number, line.strip()[:120], _DIRECTIONS))
            return False
        return self._begin(match["name"].strip(" \t:+-/*#"), line[match.start("rates") :], number)

    def _headless(self, index: int, number: int) -> bool:
        return self._begin("", self._joined(index, "msec"), number)

    def _begin(self, name: str, rates: str, number: int) -> bool:
        self._next()
        job = Job(name, line=number, options=self.draft.options("", 0))
        self.reader = forms.Reader(self.draft.style, job)
        if not self.reader.rates(rates, number):
            self.reader = None
            return False
        self._take_faults(self.reader)
        self.draft.jobs.append(job)
        self.draft.rates.add("".join(rates.split()))
        return True

    def _rates(self, index: int, number: int) -> bool:
        self.draft.rates.add("".join(self.lines[index].split()))
        if self.reader is None:
            return False
        text = self._joined(index, "msec")
        if not self.reader.rates(text, number):
            self.reader.unread_rates(self.lines[index][:1000], number)
        elif text.count("(") > text.count(")"):
            self._tell_cut(index, "(bytes/n msec)")
        self._take_faults(self.reader)
        return True

    def _take_faults(self, reader: forms.Reader) -> None:
        if len(self.broken) < _MOST_TOLD:
            self.broken += reader.faults
        reader.faults = []

    def _tell_cut(self, index: int, expected: str) -> None:
        if len(self.warnings) < _MOST_TOLD:
            self.warnings.append(cuts.told(self.text.number(index), self.lines[index], expected))

    def _end_list(self) -> None:
        if self.open is not None:
            self._tell_cut(*self.open)
        self.open = None

    def _spread(self, reader: forms.Reader, line: str, number: int) -> bool:
        if match := forms.LATENCY.match(line):
            reader.percentiles = None
            is_kept = reader.latency(match, line, number)
            if not is_kept and len(self.warnings) < _MOST_TOLD:
                self.warnings.append(f"line {number}: {match[1]} is there a second time; the first one was kept")
        elif match := forms.PERCENTILES.match(line):
            reader.percentiles = match[1], {"n": 1, "u": 1000, "m": 1_000_000}[match[2][0]]
            reader.shares(line, number)
        elif match := forms.BANDWIDTH.match(line):
            reader.bandwidth(match, line, number)
        elif forms.IOPS.match(line):
            reader.iops(line, number)
        elif match := forms.CPU.match(line):
            reader.cpu(match, number)
        else:
            return False
        self._take_faults(reader)
        return True

    def _shares(self, reader: forms.Reader, index: int, line: str, number: int) -> bool:
        """A line of percentiles; a mail may have wrapped it in front of a value."""
        if reader.percentiles is None:
            return False
        is_cut = line.count("[") > line.count("]") and index + 1 < len(self.lines)
        found = reader.shares(line + self.lines[index + 1] if is_cut else line, number)
        if not found and not forms.SHARES_GO_ON.match(line):
            reader.percentiles = None
        return found

    def _joined(self, index: int, last: str) -> str:
        """The line, with the next one where a mail wrapped it before the figure that comes last."""
        line = self.lines[index]
        if last in line or index + 1 >= len(self.lines):
            return line[:1000]
        return f"{line[:1000]} {self.lines[index + 1].strip()[:1000]}"


def _unmarked(line: str) -> str:
    return _STARRED.sub(r"\1", _BOLD.sub(r"\1", line), count=1)
