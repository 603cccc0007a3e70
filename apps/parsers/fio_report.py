"""The runs of fio's normal report, line by line. What the lines look like: see `fio_text`."""

import re
from collections.abc import Iterator

from apps.parsers import fio_text_cuts as cuts
from apps.parsers import fio_text_lines as forms
from apps.parsers import fio_text_named as named
from apps.parsers.fio_disks import in_text
from apps.parsers.fio_documents import MOST_JOBS, SUM
from apps.parsers.fio_readings import Job
from apps.parsers.fio_text_draft import Draft, Found, found_of
from apps.parsers.fio_text_headers import Header, header_in
from apps.parsers.fio_text_runs import Runs
from apps.parsers.fio_text_spreads import OF_A_DIRECTION, spread_of
from apps.parsers.fio_text_told import DIRECTIONS

_GROUPS = re.compile(r"\s*(?:<[^<>\s]{1,255}> )?Run status group (\d{1,9}) \(all jobs\)")
_DISKS_GO_ON = re.compile(r"\s*(?:aggrios|aggsectors|aggrmerge|aggrticks|aggrin_queue|aggrutil|in_queue|util)=")
_ETA = re.compile(r"^.*\[eta [^\]]{0,20}\]")
SYNCS = "fsync/fdatasync/sync_file_range:"
_WHOSE = "two lines of it stand below two reports, and nothing says whose each is"


class FioReport(Runs):
    """One pass over the lines; `runs` has what was found, with its figures and how often each was said over again."""

    def read(self, index: int) -> None:
        line = self.lines[index]
        if index in self.begins:
            self._next()
            self.caption = self.begins[index]
        if not line or line.isspace():
            return
        number = self.text.number(index)
        if self.open and not cuts.is_more(line):
            self._end_list()
        if self._before(index, line, number) or self._result(index, line, number):
            self.draft.claim(number)

    def finish(self) -> None:
        """At the end of the text."""
        self._tell_end()
        self._end_draft()
        self.named.finish(self.told)

    def runs(self) -> Iterator[Found]:
        return (found_of(one) if isinstance(one, Draft) else one for one in self.done)

    def _result(self, index: int, line: str, number: int) -> bool:
        if ("(groupid=" in line or "(g=" in line) and (header := self._header(index)):
            self._job(header, number)
            if header.unread:
                self.told.take([header.fault(number, line)])
        elif "Run status group" in line and (group := _GROUPS.match(line)):
            self._group(index, int(group[1]), number)
        elif ": ios=" in line and self.draft.has_results and (disk := in_text(line, self._below(index), number)):
            self.draft.add_disk(disk)
        elif self.draft.is_ended:
            return self._after(index, line, number)
        else:
            return self._figures(index, line, number)
        return True

    def _below(self, index: int) -> str:
        return self.lines[index + 1] if index + 1 < len(self.lines) else ""

    def _header(self, index: int) -> Header | None:
        """With the next line, where a mail wrapped it before its end."""
        line = _ETA.sub("", self.lines[index])
        more = self._below(index)[:1000]
        return header_in(line) or (header_in(f"{line} {more.strip()}") if len(line) <= 1000 else None)

    def _job(self, header: Header, number: int) -> None:
        name = header.name
        host = "" if name == SUM else header.host or self.draft.speaker
        key = header.key(host, self.draft.keys)
        if key in self.draft.keys and name != SUM:  # which comes again where clients end one after the other
            self.draft.restart()
        elif self.draft.goes_on(name, host):
            if self.draft.is_ended or name == SUM:
                self.draft.go_on(name)
        elif (
            len(self.draft.jobs) >= MOST_JOBS
            or self.draft.is_ended
            or (name == SUM and self.draft.sums)  # of other runs, where somebody kept nothing else
            or (self.draft.jobs and self.draft.jobs[-1].group > key[1])
        ):
            self._next()
        options = self.draft.options(name, key[1], host)
        job = Job(name, key[1], header.error or 0, header.jobs, number, host, options)
        self.draft.keys.add(key)
        # the sum would count everything twice, but where somebody kept nothing else
        (self.draft.sums if name == SUM else self.draft.jobs).append(job)
        self.reader = forms.Reader(self.draft.style, job, has_count="jobs" not in header.unread)
        self.has_depths = False

    def _group(self, index: int, group: int, number: int) -> None:
        line = self.lines[index]
        if len(self.draft.groups) >= MOST_JOBS or self._is_another(index, line):
            self._next()
        self.draft.is_ended = True
        options = self.draft.options_of_group(group)
        job = Job(line.strip()[:60], len(self.draft.groups), line=number, options=options)
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
        if self._named(line, number) or line.startswith("Disk stats") or _DISKS_GO_ON.match(line):
            return True
        if forms.LATENCY.match(line):
            self.told.orphan(number, line)
        return False

    def _figures(self, index: int, line: str, number: int) -> bool:
        if forms.DIRECTION.match(line):
            return self._headless(index, number) if self._is_new(line) else self._rates(index, number)
        if self._named(line, number):
            return True
        if self.reader is None and line.strip() == SYNCS and "sync (" in "".join(self.lines[index + 1 : index + 2]):
            return self._syncs(number)
        if self.reader is None:
            if forms.LATENCY.match(line):
                self.told.orphan(number, line)
            return False
        is_mine = cuts.DEPTHS.match(line) is not None
        self.has_depths |= is_mine
        for part, more in cuts.parts(self.lines, index):
            sound, expected = cuts.whole(part, more)
            if expected:
                self._tell_cut(index, expected)
            found = self._spread(self.reader, sound, number) or self._shares(self.reader, index, sound, number)
            is_mine |= found or bool(expected)
        if is_mine or self.open:
            behind = cuts.behind(line)
            self.open = (index, behind) if behind else None
        return is_mine

    def _syncs(self, number: int) -> bool:
        """What is often all that somebody keeps of a report: how long fsync took. It is of a job, and not of a direction."""
        job = Job("", line=number, options=self.draft.options("", 0))
        self.reader = forms.Reader(self.draft.style, job)
        self.draft.jobs.append(job)
        self.draft.is_of_syncs = True
        return True

    def _is_new(self, line: str) -> bool:
        """Whether this direction begins a report that has lost the line with its name."""
        match = forms.DIRECTION.match(line)
        if self.reader is None or match is None or self.draft.is_of_syncs:
            return True
        return match[1] in self.reader.job.runtimes and not self._is_repeated(line)

    def _is_repeated(self, line: str) -> bool:
        """Whether somebody says a line of the report over again, to speak of it."""
        return any(job.name for job in self.draft.jobs) and "".join(line.split()) in self.draft.rates

    def _named(self, line: str, number: int) -> bool:
        """The line of a direction, or of a spread, behind a name."""
        if "IOPS=" not in line and "runt=" not in line:
            return self._named_spread(line, number)
        if (found := named.rates(line)) is not None:
            is_read = self._begin(*found, number)
            if is_read and self.reader:
                self.draft.is_named = True
                self.named.begin(found[0], self.reader, self.told)
            return is_read
        if not forms.DIRECTION.match(line) and (name := named.other(line)):
            self.told.tell("rates in no line of fio's", number, line, DIRECTIONS)
            self.named.end(name)
        return False

    def _named_spread(self, line: str, number: int) -> bool:
        found = None if forms.LATENCY.match(line) else named.spread(line)
        return found is not None and self.named.add(*found, number, self.told)

    def _headless(self, index: int, number: int) -> bool:
        return self._begin("", self._joined(index, "msec"), number)

    def _begin(self, name: str, rates: str, number: int) -> bool:
        is_beside = not name and [one.has_rates_alone for one in self.draft.jobs if not one.name] == [True]
        self._next()
        self.draft.is_beside = is_beside
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
        self.told.take(reader.faults)
        reader.faults = []

    def _spread(self, reader: forms.Reader, line: str, number: int) -> bool:
        kind, is_kept = spread_of(reader, line, number)
        if not is_kept:
            self._twice(reader, kind, number)
        elif not reader.direction and kind in OF_A_DIRECTION:
            self.told.orphan(number, line)
        self._take_faults(reader)
        return bool(kind)

    def _twice(self, reader: forms.Reader, kind: str, number: int) -> None:
        if reader is self.reader and self.draft.is_beside:
            reader.doubt(kind, _WHOSE)
            self.told.warn(number, f"{kind}: {_WHOSE}; it is left out")
        else:
            self.told.warn(number, f"{kind} is there a second time; the first one was kept")

    def _shares(self, reader: forms.Reader, index: int, line: str, number: int) -> bool:
        """A line of percentiles; a mail may have wrapped it in front of a value."""
        if reader.percentiles is None:
            return False
        is_cut = line.count("[") > line.count("]") and index + 1 < len(self.lines)
        found = reader.shares(line + self.lines[index + 1] if is_cut else line, number)
        if not found and "percentiles" in line and not forms.SHARES_GO_ON.match(line):
            reader.percentiles = None  # those by priority follow; anything else got between the lines of the list
        return found

    def _joined(self, index: int, last: str) -> str:
        """The line, with the next one where a mail wrapped it before the figure that comes last."""
        line = self.lines[index]
        if last in line or index + 1 >= len(self.lines):
            return line[:1000]
        return f"{line[:1000]} {self.lines[index + 1].strip()[:1000]}"
