"""What stands above the results of fio's normal report, and where each run begins and ends."""

import re
from dataclasses import replace

from apps.parsers import fio_text_named as named
from apps.parsers.fio_definitions import command_at, definition_at, doubt_of
from apps.parsers.fio_quantities import Style, Version, version_of
from apps.parsers.fio_text_draft import Draft, Found, found_of
from apps.parsers.fio_text_lines import Reader
from apps.parsers.fio_text_numbered import plain
from apps.parsers.fio_text_prefixes import unprefixed
from apps.parsers.fio_text_told import Told
from apps.parsers.source_text import SourceText

_STARTING = re.compile(r"Starting (?:\d+ (?:process|thread)|\d+ threads and)")
_HOST = re.compile(r"hostname=(\S{1,255}?), be=.*\bfio=(fio-[^,\s]{1,60})")
_FAILED = re.compile(r"(?:<[^<>\s]{1,255}> )?fio: pid=\d{1,12}, err=(-?\d{1,9})/")
_BARE_VERSION = re.compile(r"[12]\.\d{1,2}(?:\.\d{1,2}){0,2}\s*$")
_ALONE = re.compile(r"fio[- ]v?\d[\w.+-]{0,60}")
_BOLD = re.compile(r"\*([A-Za-z]{2,5}=\s{0,8}[\w./%]{1,30})\*")  # a word with its figure, as mails and forums print it
_STARRED = re.compile(r"\A(\s{0,60})/?\*{1,3}(?=(?:read|write|trim|mixed)\s{0,8}:)")  # put weight on
_SPEAKER = re.compile(r"<([^<>\s]{1,255})>\s*$")  # whose report comes below, of `--client`
_KB_1000 = re.compile(r"kb_base=1000\b")


class Runs:
    """The runs of a text, while its lines are read one by one; `done` are those that have ended."""

    def __init__(self, text: SourceText) -> None:
        self.text = text
        lines = [_unmarked(line) if "=" in line and "*" in line else line for line in text.lines]
        self.lines, self.begins = unprefixed(plain(lines))
        self.caption = ""
        self.done: list[Draft | Found] = []
        self.draft = Draft()
        self.reader: Reader | None = None
        self.named = named.Named()
        self.told = Told()
        self.open: tuple[int, str] | None = None  # the line behind which a list goes on, and with what
        self.has_depths = False  # of the last job, the lines that stand below its figures

    def _before(self, index: int, line: str, number: int) -> bool:
        """What stands above the results: each of it begins a new run where there are results already."""
        if ": (g=" in line and (doubt := doubt_of(self.lines, index)):
            self.told.warn(number, doubt)
        if definition := definition_at(self.lines, index, number):
            self._next()
            self.draft.define(definition)
        elif command := command_at(self.lines, index, number):
            self._next()
            self.draft = Draft(Style(kb_base=1000 if _KB_1000.search(command.text) else 1024), command=command)
        elif len(line) < 64 and (version := self._version_line(line)):
            self._next()
            self._version(version)
        elif "hostname=" in line and (host := _HOST.match(line[:1000].lstrip())):
            self._next()
            self.draft.hosts.add(host[1])
            self._version(version_of(host[2]))
        elif "<" in line and (speaker := _SPEAKER.match(line.lstrip())) and speaker[1] in self.draft.hosts:
            self.draft.speaker, self.draft.is_announced = speaker[1], self.draft.is_ended
            self.draft.calls += 1
        elif "fio: pid=" in line and (error := _FAILED.match(line.lstrip())):
            self.draft.errors.add(int(error[1]))
        elif "fio: pid=" in line and ", func=" in line:
            self.told.tell("the error of a job cannot be read", number, line, "fio: pid=n, err=n/file:")
        else:
            return "Starting" in line and bool(_STARTING.match(line.lstrip())) and not self.draft.has_results
        return True

    def _version_line(self, line: str) -> tuple[str, Version] | None:
        """`fio-3.33`, `fio 1.59`; before fio 2.0.9 the number alone, below the jobs. What is indented is alone on its line."""
        word = line.strip()
        if self.draft.definitions and not self.draft.has_results and _BARE_VERSION.match(word):
            return version_of(f"fio-{word}")
        return version_of(word if _ALONE.fullmatch(word) else line)

    def _version(self, read: tuple[str, Version] | None) -> None:
        if read is not None:
            self.draft.version = read[0]
            self.draft.style = replace(self.draft.style, version=read[1], is_before_2_17=read[1] < (2, 17))

    def _next(self) -> None:
        if self.draft.has_results:
            self._end_draft()
            self.draft, self.reader = Draft(), None

    def _tell_end(self) -> None:
        """Whether the text ends in a job's report: fio always prints the depths of its I/O below the figures."""
        last = next((index for index in range(len(self.lines) - 1, -1, -1) if self.lines[index].strip()), -1)
        is_whole = self.draft.is_ended or self.open or self.has_depths or not self.draft.keys
        if last >= 0 and not is_whole and self.draft.last == self.text.number(last):
            self.told.cut(self.draft.last, self.lines[last], "IO depths, and all below it")

    def _end_draft(self) -> None:
        self._end_list()
        for one in self.draft.unreported():
            self.told.warn(one.line, f"fio's report breaks off before that of {one.name[:60]!r}, which is defined here")
        self.draft.caption = self.caption
        if self.draft.has_results:
            self.done.append(self.draft if self.draft.is_named else found_of(self.draft))

    def _tell_cut(self, index: int, expected: str) -> None:
        self.told.cut(self.text.number(index), self.lines[index], expected)

    def _end_list(self) -> None:
        if self.open is not None:
            self._tell_cut(*self.open)
        self.open = None


def _unmarked(line: str) -> str:
    return _STARRED.sub(r"\1", _BOLD.sub(r"\1", line), count=1)
