r"""The runs of fio's normal report, read line by line. What the lines look like is described in `format.py`.

Before that, words and numbers in front of the lines are removed:

    5\trr: (groupid=0, jobs=1): err= 0: pid=9     cat -n, nl, less -N, and editors, with a rule behind the number, too
    5:rr: (groupid=0, jobs=1): err= 0: pid=9       grep -n
    a.log:5:rr: (groupid=0, jobs=1): err= 0: …     grep -Hn; the name stays
    old.txt:job: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022                  `grep -H ""`, diff
    old.txt:  write: IOPS=122k, BW=478MiB/s (501MB/s)(14.0GiB/30001msec)

A line of rates whose job is not above it stays as it is (`file_names.py`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.disks import read_text_disk
from apps.parsers.fio.json.documents import MOST_JOBS, SUM
from apps.parsers.fio.quantities import Style, Version, read_version
from apps.parsers.fio.readings import ReportedJob
from apps.parsers.fio.text import cuts as cuts
from apps.parsers.fio.text import file_names as named
from apps.parsers.fio.text import lines as forms
from apps.parsers.fio.text.definitions import describe_doubt, read_command, read_definition
from apps.parsers.fio.text.draft import FinishedRun, ReportDraft, finish_draft
from apps.parsers.fio.text.headers import JobHeader, read_header
from apps.parsers.fio.text.lines import LineReader
from apps.parsers.fio.text.spreads import NEED_DIRECTION, read_spread
from apps.parsers.fio.text.warnings import DIRECTIONS, ReportMessages

_PREFIXED_RATES = re.compile(
    r"(?P<prefix>[^\s<].{0,200}?)  (?:read|write|trim|mixed)\s{0,3}:\s{0,3}(?:io=|IOPS=)"
)  # fio itself prints two blanks
_LONGEST_HEADER = 1000


def without_prefixes(lines: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """Return the lines without a prefix of their report, and the prefixes by the line at which each report begins."""
    result, begins = list(lines), dict[int, str]()
    done, last = 0, ""  # the line behind the last one that was changed, and its prefix
    for index, line in enumerate(lines):
        if index < done or not index or ("IOPS=" not in line and "runt=" not in line):
            continue
        match = _PREFIXED_RATES.match(line)
        if match is None or not _is_below_its_job(lines[index - 1], match["prefix"]):
            continue
        first, prefix = index, match["prefix"]
        while first > done and _is_behind(lines[first - 1], prefix):
            first -= 1
        if prefix == last:
            begins.pop(done, None)  # a foreign line stood between two parts of the same report
        else:
            begins[first] = prefix.strip(" \t:+-/*#|")
        done, last = first, prefix
        while done < len(lines) and _is_behind(lines[done], prefix):
            result[done] = lines[done][len(prefix) :]
            done += 1
        begins[done] = ""
    return result, begins


def _is_below_its_job(above: str, prefix: str) -> bool:
    return above.startswith(prefix) and read_header(above[len(prefix) : _LONGEST_HEADER]) is not None


def _is_behind(line: str, prefix: str) -> bool:
    return line.startswith(prefix) or line.rstrip() == prefix.rstrip()


_NUMBERED = re.compile(
    r"(?:(?P<name>[^\s:]{1,200}?)(?P<mark>[:-])|\s{0,8})(?P<number>\d{1,7})(?(mark)[:-]|(?:[:)-]|\s?[|\u2502]\s?|[ \t]|$))"
)
_TABLE_RATES = re.compile(r"(?:read|write|trim|mixed)\s{0,3}:\s{0,3}IOPS=")
_LONGEST_ROW = 1000
_FEWEST_NUMBERED = 3


def without_numbers(lines: Sequence[str]) -> list[str]:
    """Return the lines without numbers that count up before every line of a report, and rates in tables as rates behind a name."""
    result = [_read_table_row(line) if "IOPS=" in line and line.count("|") > 1 else line for line in lines]
    for index, line in enumerate(result):
        if "(groupid=" in line and (match := _NUMBERED.match(line)) and match.end() < len(line):
            _strip_numbers(result, index)
    return result


def _read_table_row(line: str) -> str:
    """Return rates in a table of Markdown as rates behind a name: that of the cells before them."""
    cells = [cell.strip(" \t`*") for cell in line[:_LONGEST_ROW].strip().strip("|").split("|")]
    rates = [place for place, cell in enumerate(cells) if _TABLE_RATES.match(cell)]
    names = [cell for cell in cells[: rates[0]] if cell] if rates else []
    return f"{', '.join(names)}: {'  '.join(cells[place] for place in rates)}" if names else line


def _strip_numbers(lines: list[str], index: int) -> None:
    """Remove the numbers of the stretch around this line, where there is one, in place."""
    mine: dict[int, str] = {}
    for step in (-1, 1):
        at, number, of = index, None, None
        while 0 <= at < len(lines) and (match := _NUMBERED.match(lines[at])):
            is_next = number is None or (int(match["number"]) - number) * step > 0
            if not is_next or (of is not None and of != (match["name"] or "")):
                break
            number, of = int(match["number"]), match["name"] or ""
            mine[at] = (f"{of}:" if of else "") + lines[at][match.end() :]
            at += step
    if len(mine) >= _FEWEST_NUMBERED:
        for at, bare in mine.items():
            lines[at] = bare


NO_REPORT = "fio printed no report"
_STARTING = re.compile(r"Starting (?:\d+ (?:process|thread)|\d+ threads and)")
_HOST = re.compile(r"hostname=(\S{1,255}?), be=.*\bfio=(fio-[^,\s]{1,60})")
_FAILED = re.compile(r"(?:<[^<>\s]{1,255}> )?fio: pid=\d{1,12}, err=(-?\d{1,9})/")
_COMPLAINT = re.compile(
    r"(?:<[^<>\s]{1,255}> )?(?:fio: \S|verify: \S|[\w-]{2,20}: verify failed at |Bad option |bs=.{1,60}: bad|Run failed)"
)  # lines in which fio says what went wrong
_ELSEWHERE = re.compile(rb'"fio version"\s*:|^[345];fio[- ]|^2;[^;\n]{0,255};\d+;\d+;', re.MULTILINE)
_LONGEST_REASON = 200
_MOST_REASONS = 5
_BARE_VERSION = re.compile(r"[12]\.\d{1,2}(?:\.\d{1,2}){0,2}\s*$")
_ALONE = re.compile(r"fio[- ]v?\d[\w.+-]{0,60}")
_BOLD = re.compile(r"\*([A-Za-z]{2,5}=\s{0,8}[\w./%]{1,30})\*")  # a word with its figure, as mails and forums print it
_STARRED = re.compile(r"\A(\s{0,60})/?\*{1,3}(?=(?:read|write|trim|mixed)\s{0,8}:)")  # put weight on
_SPEAKER = re.compile(r"<([^<>\s]{1,255})>\s*$")  # whose report comes below, of `--client`
_KB_1000 = re.compile(r"kb_base=1000\b")


class ReportRuns:
    """The runs of a text, while its lines are read one by one; `done` are those that have ended."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        lines = [_strip_emphasis(line) if "=" in line and "*" in line else line for line in text.lines]
        self.lines, self.begins = without_prefixes(without_numbers(lines))
        self.caption = ""
        self.done: list[ReportDraft | FinishedRun] = []
        self.draft = ReportDraft()
        self.reader: LineReader | None = None
        self.named = named.NamedReports()
        self.messages = ReportMessages()
        self.open: tuple[int, str] | None = None  # a line whose list must go on, and what has to follow
        self.has_depths = False  # whether the lines below the figures of the last job were read

    def _read_before(self, index: int, line: str, number: int) -> bool:
        """Read what stands above the results; each such line begins a new run where there are results already."""
        if ": (g=" in line and (doubt := describe_doubt(self.lines, index)):
            self.messages.warn(number, doubt)
        if _COMPLAINT.match(line.lstrip()) and len(self.draft.reasons) < _MOST_REASONS:
            self.draft.reasons.append((number, line.strip()[:_LONGEST_REASON]))
        if definition := read_definition(self.lines, index, number):
            self._begin_next(is_another=bool(self.draft.errors))
            self.draft.define(definition)
        elif command := read_command(self.lines, index, number):
            self._begin_next(is_another=bool(self.draft.errors))
            self.draft = ReportDraft(Style(kb_base=1000 if _KB_1000.search(command.text) else 1024), command=command)
        elif len(line) < 64 and (version := self._find_version_line(line)):
            self._begin_next()
            self._read_version(version)
        elif "hostname=" in line and (host := _HOST.match(line[:1000].lstrip())):
            self._begin_next()
            self.draft.hosts.add(host[1])
            self._read_version(read_version(host[2]))
        elif "<" in line and (speaker := _SPEAKER.match(line.lstrip())) and speaker[1] in self.draft.hosts:
            self.draft.speaker, self.draft.is_announced = speaker[1], self.draft.is_ended
            self.draft.calls += 1
        elif "fio: pid=" in line and (error := _FAILED.match(line.lstrip())):
            self.draft.errors.add(int(error[1]))
        elif "fio: pid=" in line and ", func=" in line:
            self.messages.add_broken("the error of a job cannot be read", number, line, "fio: pid=n, err=n/file:")
        else:
            is_start = "Starting" in line and bool(_STARTING.match(line.lstrip())) and not self.draft.has_results
            self.draft.is_started |= is_start
            return is_start
        return True

    def _find_version_line(self, line: str) -> tuple[str, Version] | None:
        """Return the version in `fio-3.33` or `fio 1.59`, or in the bare number below the jobs before fio 2.0.9."""
        word = line.strip()
        if self.draft.definitions and not self.draft.has_results and _BARE_VERSION.match(word):
            return read_version(f"fio-{word}")
        return read_version(word if _ALONE.fullmatch(word) else line)

    def _read_version(self, read: tuple[str, Version] | None) -> None:
        if read is not None:
            self.draft.is_started = True
            self.draft.version = read[0]
            self.draft.style = replace(self.draft.style, version=read[1], is_before_2_17=read[1] < (2, 17))

    def _begin_next(self, *, is_another: bool = False) -> None:
        """End the run if it has results, or if the next line shows that another one begins."""
        if self.draft.has_results or is_another:
            self._end_draft()
            self.draft, self.reader = ReportDraft(), None

    def _report_end(self) -> None:
        """Add a warning where the text ends in a job's report: fio always prints the depths of I/O below the figures."""
        last = next((index for index in range(len(self.lines) - 1, -1, -1) if self.lines[index].strip()), -1)
        is_whole = self.draft.is_ended or self.open or self.has_depths or not self.draft.keys
        if last >= 0 and not is_whole and self.draft.last == self.text.number(last):
            self.messages.warn_of_cut(self.draft.last, self.lines[last], "IO depths, and all below it")

    def _end_draft(self) -> None:
        self._end_list()
        for definition in self.draft.find_unreported():
            self.messages.warn(
                definition.line,
                f"fio's report breaks off before that of {definition.name[:60]!r}, which is defined here",
            )
        self.draft.caption = self.caption
        if self.draft.has_results:
            self.done.append(self.draft if self.draft.is_named else finish_draft(self.draft))
        elif self.draft.has_failed and not _ELSEWHERE.search(self.text.data):
            self._end_without_report()

    def _end_without_report(self) -> None:
        """Report a run of which fio printed no figures, with its own words about why."""
        if self.draft.make_failed_jobs():
            self.done.append(finish_draft(self.draft))
            return
        line = self.draft.last or (self.draft.reasons[0][0] if self.draft.reasons else 1)
        printed = self.draft.describe_reasons() or next((row for row in reversed(self.lines) if row.strip()), "")
        self.messages.add_broken(NO_REPORT, line, printed, "name: (groupid=0, jobs=1): err= 0: …")

    def _report_cut(self, index: int, expected: str) -> None:
        self.messages.warn_of_cut(self.text.number(index), self.lines[index], expected)

    def _end_list(self) -> None:
        if self.open is not None:
            self._report_cut(*self.open)
        self.open = None


def _strip_emphasis(line: str) -> str:
    return _STARRED.sub(r"\1", _BOLD.sub(r"\1", line), count=1)


_GROUPS = re.compile(r"\s*(?:<[^<>\s]{1,255}> )?Run status group (\d{1,9}) \(all jobs\)")
_DISKS_GO_ON = re.compile(r"\s*(?:aggrios|aggsectors|aggrmerge|aggrticks|aggrin_queue|aggrutil|in_queue|util)=")
_ETA = re.compile(r"^.*\[eta [^\]]{0,20}\]")
SYNC_HEADING = "fsync/fdatasync/sync_file_range:"
_AMBIGUOUS = "two lines of it stand below two reports, and nothing says whose each is"


class FioReport(ReportRuns):
    """One pass over the lines; `runs` yields the runs, their figures and the numbers of earlier status reports."""

    def read(self, index: int) -> None:
        """Read one line."""
        line = self.lines[index]
        if index in self.begins:
            self._begin_next()
            self.caption = self.begins[index]
        if not line or line.isspace():
            return
        number = self.text.number(index)
        if self.open and not cuts.is_continuation(line):
            self._end_list()
        if self._read_before(index, line, number) or self._read_result(index, line, number):
            self.draft.claim(number)

    def finish(self) -> None:
        """Finish reading at the end of the text."""
        self._report_end()
        self._end_draft()
        self.named.finish(self.messages)

    def iterate_runs(self) -> Iterator[FinishedRun]:
        """Yield the finished runs."""
        return (finish_draft(run) if isinstance(run, ReportDraft) else run for run in self.done)

    def _read_result(self, index: int, line: str, number: int) -> bool:
        if ("(groupid=" in line or "(g=" in line) and (header := self._find_header(index)):
            self._read_job(header, number)
            if header.unread:
                self.messages.extend_broken([header.fault(number, line)])
        elif "Run status group" in line and (group := _GROUPS.match(line)):
            self._group(index, int(group[1]), number)
        elif (
            ": ios=" in line
            and self.draft.has_results
            and (disk := read_text_disk(line, self._get_below(index), number))
        ):
            self.draft.add_disk(disk)
        elif self.draft.is_ended:
            return self._read_after(index, line, number)
        else:
            return self._read_figures(index, line, number)
        return True

    def _get_below(self, index: int) -> str:
        return self.lines[index + 1] if index + 1 < len(self.lines) else ""

    def _find_header(self, index: int) -> JobHeader | None:
        """Return the header in a line, joined with the next one where a mail wrapped it before its end."""
        line = _ETA.sub("", self.lines[index])
        more = self._get_below(index)[:1000]
        return read_header(line) or (read_header(f"{line} {more.strip()}") if len(line) <= 1000 else None)

    def _read_job(self, header: JobHeader, number: int) -> None:
        name = self.draft.find_name(header.name, header.group or 0)
        host = "" if name == SUM else header.host or self.draft.speaker
        key = header.key(host, self.draft.keys)
        if key in self.draft.keys and name != SUM:  # the sum is repeated where clients end one after the other
            self.draft.restart()
        elif self.draft.goes_on(name, host):
            if self.draft.is_ended or name == SUM:
                self.draft.go_on(name)
        elif (
            len(self.draft.jobs) >= MOST_JOBS
            or self.draft.is_ended
            or (name == SUM and self.draft.sums)  # the sum of another run, in a text that has only sums
            or (self.draft.jobs and self.draft.jobs[-1].group > key[1])
        ):
            self._begin_next()
        options = self.draft.options(name, key[1], host)
        job = ReportedJob(name, key[1], header.error or 0, header.jobs, number, host, options)
        self.draft.keys.add(key)
        # the sum would count everything twice; it is only used in a text that has nothing else
        (self.draft.sums if name == SUM else self.draft.jobs).append(job)
        self.reader = forms.LineReader(self.draft.style, job, has_count="jobs" not in header.unread)
        self.has_depths = False

    def _group(self, index: int, group: int, number: int) -> None:
        line = self.lines[index]
        if len(self.draft.groups) >= MOST_JOBS or self._is_another(index, line):
            self._begin_next()
        self.draft.is_ended = True
        options = self.draft.options_of_group(group)
        job = ReportedJob(line.strip()[:60], len(self.draft.groups), line=number, options=options)
        self.draft.groups.append(job)
        self.reader = forms.LineReader(self.draft.style, job)

    def _is_another(self, index: int, line: str) -> bool:
        """Return whether a group that was read before has other sums below it: it belongs to a report that lost everything above them."""
        if line.strip()[:60] not in {group.name for group in self.draft.groups[:1]}:
            return False
        below = next((following for following in self.lines[index + 1 : index + 3] if following.strip()), "")
        return forms.GROUP.match(below) is not None and "".join(below.split()) not in self.draft.rates

    def _read_after(self, index: int, line: str, number: int) -> bool:
        """Read lines below the jobs: sums of groups, and disks."""
        if self.reader and forms.GROUP.match(line):
            self.draft.rates.add("".join(line.split()))
            self.reader.group(self._get_joined(index, "msec" if "run=" in line else "maxt="), number)
            return True
        if forms.DIRECTION.match(line) and "msec" in self._get_joined(index, "msec"):
            return not self._is_repeated(line) and self._read_headless(index, number)
        if self._read_named(line, number) or line.startswith("Disk stats") or _DISKS_GO_ON.match(line):
            return True
        if forms.LATENCY.match(line):
            self.messages.add_orphan(number, line)
        return False

    def _read_figures(self, index: int, line: str, number: int) -> bool:
        if forms.DIRECTION.match(line):
            return self._read_headless(index, number) if self._is_new(line) else self._read_rates(index, number)
        if self._read_named(line, number):
            return True
        if (
            self.reader is None
            and line.strip() == SYNC_HEADING
            and "sync (" in "".join(self.lines[index + 1 : index + 2])
        ):
            return self._read_syncs(number)
        if self.reader is None:
            if forms.LATENCY.match(line):
                self.messages.add_orphan(number, line)
            return False
        is_mine = cuts.DEPTHS.match(line) is not None
        self.has_depths |= is_mine
        for part, more in cuts.split_line(self.lines, index):
            sound, expected = cuts.read_whole(part, more)
            if expected:
                self._report_cut(index, expected)
            is_read = self._read_spread(self.reader, sound, number) or self._read_shares(
                self.reader, index, sound, number
            )
            is_mine |= is_read or bool(expected)
        if is_mine or self.open:
            behind = cuts.get_following(line)
            self.open = (index, behind) if behind else None
        return is_mine

    def _read_syncs(self, number: int) -> bool:
        """Begin a job of latencies of fsync, which are often the only lines of a report that people quote."""
        job = ReportedJob("", line=number, options=self.draft.options("", 0))
        self.reader = forms.LineReader(self.draft.style, job)
        self.draft.jobs.append(job)
        self.draft.is_of_syncs = True
        return True

    def _is_new(self, line: str) -> bool:
        """Return whether this direction begins a report that has lost the line with its name."""
        match = forms.DIRECTION.match(line)
        if self.reader is None or match is None or self.draft.is_of_syncs:
            return True
        return match[1] in self.reader.job.runtimes and not self._is_repeated(line)

    def _is_repeated(self, line: str) -> bool:
        """Return whether a line of the report is repeated to comment on it."""
        return any(job.name for job in self.draft.jobs) and "".join(line.split()) in self.draft.rates

    def _read_named(self, line: str, number: int) -> bool:
        """Read the line of a direction, or of a spread, behind a name."""
        if "IOPS=" not in line and "runt=" not in line:
            return self._read_named_spread(line, number)
        if (parts := named.split_rates(line)) is not None:
            is_read = self._begin(*parts, number)
            if is_read and self.reader:
                self.draft.is_named = True
                self.named.begin(parts[0], self.reader, self.messages)
            return is_read
        if not forms.DIRECTION.match(line) and (name := named.find_other_words(line)):
            self.messages.add_broken("rates in no line of fio's", number, line, DIRECTIONS)
            self.named.end(name)
        return False

    def _read_named_spread(self, line: str, number: int) -> bool:
        parts = None if forms.LATENCY.match(line) else named.split_spread(line)
        return parts is not None and self.named.add(*parts, number, self.messages)

    def _read_headless(self, index: int, number: int) -> bool:
        return self._begin("", self._get_joined(index, "msec"), number)

    def _begin(self, name: str, rates: str, number: int) -> bool:
        is_beside = not name and [job.has_rates_alone for job in self.draft.jobs if not job.name] == [True]
        self._begin_next()
        self.draft.is_beside = is_beside
        job = ReportedJob(name, line=number, options=self.draft.options("", 0))
        self.reader = forms.LineReader(self.draft.style, job)
        if not self.reader.rates(rates, number):
            self.reader = None
            return False
        self._take_faults(self.reader)
        self.draft.jobs.append(job)
        self.draft.rates.add("".join(rates.split()))
        return True

    def _read_rates(self, index: int, number: int) -> bool:
        self.draft.rates.add("".join(self.lines[index].split()))
        if self.reader is None:
            return False
        text = self._get_joined(index, "msec")
        if not self.reader.rates(text, number):
            self.reader.unread_rates(self.lines[index][:1000], number)
        elif text.count("(") > text.count(")"):
            self._report_cut(index, "(bytes/n msec)")
        self._take_faults(self.reader)
        return True

    def _take_faults(self, reader: forms.LineReader) -> None:
        self.messages.extend_broken(reader.faults)
        reader.faults = []

    def _read_spread(self, reader: forms.LineReader, line: str, number: int) -> bool:
        kind, is_new = read_spread(reader, line, number)
        if not is_new:
            self._report_repeated(reader, kind, number)
        elif not reader.direction and kind in NEED_DIRECTION:
            self.messages.add_orphan(number, line)
        self._take_faults(reader)
        return bool(kind)

    def _report_repeated(self, reader: forms.LineReader, kind: str, number: int) -> None:
        if reader is self.reader and self.draft.is_beside:
            reader.doubt(kind, _AMBIGUOUS)
            self.messages.warn(number, f"{kind}: {_AMBIGUOUS}; it is left out")
        else:
            self.messages.warn(number, f"{kind} is there a second time; the first one was kept")

    def _read_shares(self, reader: forms.LineReader, index: int, line: str, number: int) -> bool:
        """Read a line of percentiles; a mail may have wrapped it in front of a value."""
        if reader.percentiles is None:
            return False
        is_cut = line.count("[") > line.count("]") and index + 1 < len(self.lines)
        has_any = reader.percentile_line(line + self.lines[index + 1] if is_cut else line, number)
        if not has_any and "percentiles" in line and not forms.SHARES_GO_ON.match(line):
            reader.percentiles = None  # percentiles by priority follow, which are not read
        return has_any

    def _get_joined(self, index: int, last: str) -> str:
        """Return the line, joined with the next one where a mail wrapped it before its last figure."""
        line = self.lines[index]
        if last in line or index + 1 >= len(self.lines):
            return line[:1000]
        return f"{line[:1000]} {self.lines[index + 1].strip()[:1000]}"
