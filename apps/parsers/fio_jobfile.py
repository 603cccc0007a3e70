"""fio's job files (`.fio`) as workloads: what Spindle may run, in the words of `apps.runs.workload`, and what it may not.

    [global]
    ioengine=libaio
    size=1g
    [random reads]
    rw=randread

Nothing is ever executed, included or looked up: `include`, `${NAME}` and `$` arithmetic are refused as they stand, and a file
with lines that a program turns into options or leaves out (`{% if … %}`, `@OPTIONS@`) as a whole.

Oddities (`__parse_jobs_ini` in fio's init.c)
- Every section whose name begins with `global` sets what the sections behind it start from. A line that begins with `;`
  or `#` is a comment, with blanks in front too, and so is the rest of a line from either on (`strip_blank_end` in parse.c).
- What a file does not say has fio's default and not Spindle's: buffered, no stonewall, read, 4 KiB.
- Where both are given, `bsrange` and `bssplit` win over `bs`; fsync, fdatasync and sync do not undo each other.
- A blank before a number costs its unit: `bs = 4k` is 4 bytes (`loses_unit`). Nobody meant that: it is refused.
- In scripts a first section may stand behind a quote (`echo "[global]`), and a word like EOF ends the file.
- A value of such an option that cannot be taken over stays in its place as it is written, so that nobody runs the
  job as something else before it was edited.
- Sizes: k is 1024, unless kb_base=1000 in this section or a global one above it (see `fio_options`). A bare number of a time is seconds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from apps.parsers.fio_job_options import ALIASES, DEFAULTS, KEYS, OVER_BS, READERS, SYNCS, RefusedError, reason, taken
from apps.parsers.shape import Broken, ParsedFile, ParsedWorkload, ParseError
from apps.parsers.source_text import SourceText, plain_bytes

NAME = "fio job file"
TITLE = "fio job file"

_SECTION = re.compile(r"\s*\[([^\]\n]{1,255})\]\s*(?:[;#].*)?$")
_QUOTED_SECTION = re.compile(r"[^\[\]\n]{0,200}[\"'`]\[([^\]\n]{1,255})\]\s*$")  # echo "[global], f\"""[global]
_END_WORD = re.compile(r"[A-Z][A-Z0-9_]*$")  # of a here-document: fio's options are small letters
_OPTION = re.compile(r"([A-Za-z][\w-]{0,63})\s*(?:=(.*))?$")
_TEMPLATE = re.compile(r"\{[%{#]|<[%?]|@\w{1,64}@|(?:\$\w{1,64}|\$\{\w{1,64}\}|%\w{1,64}%|__\w{1,64}__)\s{0,60}(?:=|$)")
_COMMENT = re.compile("[;#]")
_SECTION_BYTES = re.compile(rb"^[ \t]*\[[^\]\n]{1,255}\][ \t]*(?:[;#][^\n]*|\r?)$", re.MULTILINE)
_SURE = re.compile(rb"^[ \t]*(?:rw|readwrite|ioengine|iodepth|numjobs|blocksize|bs)[ \t]*=", re.MULTILINE)
_BELOW_SECTION = re.compile(  # a line in brackets here and an option there are in many a text
    rb"^[ \t]*+\[[^\]\n]{1,255}\][ \t]*+(?:[;#][^\n]*+|\r?)\n(?:[ \t]*+(?:[#;][^\n]*+|[A-Za-z][\w-]{0,63}+[ \t]*+(?:=[^\n]*+)?)?\r?\n){0,60}?"
    rb"[ \t]*+(?:rw|readwrite|ioengine|iodepth|numjobs|blocksize|bs)[ \t]*+=",
    re.MULTILINE,
)
_LIKELY = re.compile(rb"^[ \t]*(?:size|filename|runtime|direct)[ \t]*=", re.MULTILINE)
_CORE = {
    "rw",
    "readwrite",
    "ioengine",
    "iodepth",
    "numjobs",
    "blocksize",
    "bs",
    "size",
    "filename",
    "runtime",
    "direct",
}
_FOUND_LONGEST = 120
_MOST_SECTIONS = 4096
_MOST_OPTIONS = 1000  # of a section; fio has some 300
_SAME = ("kb_base", "1024")  # what fio has by default, and Spindle too


@dataclass(frozen=True, slots=True)
class _Given:
    """One option as it stands in the file."""

    name: str
    value: str | None
    line: int
    kb_base: int = 1024


@dataclass(slots=True)
class _Section:
    name: str
    line: int
    options: list[_Given] = field(default_factory=list)
    left_out: int = 0
    template: _Given | None = None  # a line above or below it of which nobody knows what becomes of it

    def add(self, line: str, number: int) -> bool:
        """False where the line is no option."""
        if len(self.options) >= _MOST_OPTIONS and _OPTION.match(line):
            self.left_out += 1
            return True
        given = _option(line, number)
        self.options += [given] if given else []
        return given is not None

    @property
    def is_global(self) -> bool:
        return self.name.startswith("global")


def looks_like(text: SourceText) -> float:
    data = plain_bytes(text)
    if b"=" not in data or _SECTION_BYTES.search(data) is None:
        return 0.0
    if _BELOW_SECTION.search(data):
        return 0.9
    return 0.3 if _SURE.search(data) or _LIKELY.search(data) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Every job file in the text as one workload; `ParseError` where there is none."""
    stem = PurePosixPath(text.name.replace("\\", "/")).stem[:120]
    blocks = [(sections, last) for sections, last in _blocks(text) if _is_job_file(sections)]
    broken = [fault for sections, _ in blocks if (fault := _fault(sections))]
    found = [_workload(sections, stem, last) for sections, last in blocks if not _fault(sections)]
    if not found and not broken:
        raise ParseError("no job file of fio", line=1, expected="[name] and options like rw=read below it")
    return ParsedFile(workloads=tuple(found), broken=tuple(broken))


def _blocks(text: SourceText) -> Iterator[tuple[list[_Section], int]]:
    """Sections with their options that follow on each other, and the last line of them."""
    sections: list[_Section] = []
    last, above = 0, None
    for index, line in enumerate(text.lines):
        number, stripped = text.number(index), line.strip()
        if not stripped or stripped[0] in ";#":
            continue
        if match := _SECTION.match(line) or _QUOTED_SECTION.match(line):
            sections.append(_Section(match[1].strip(), number, template=above))
            above = None
        elif _TEMPLATE.match(stripped):
            above = above or _Given(stripped, None, number)
            if sections:
                sections[-1].template = sections[-1].template or above
        elif not sections or not sections[-1].add(stripped, number):
            if sections:
                yield sections, last
            sections, above = [], None
            continue
        last = number
    if sections:
        yield sections, last


def _fault(sections: list[_Section]) -> Broken | None:
    """Why a job file cannot be taken over at all."""
    if line := next((section.template for section in sections if section.template), None):
        message = "a template, of which nobody knows what becomes of it"
        return Broken(message, line.line, line.name[:_FOUND_LONGEST], "sections and options as fio reads them")
    if all(section.is_global for section in sections):
        message = "options for all jobs, and no job below them"
        return Broken(message, sections[-1].line, f"[{sections[-1].name}]", "[name] of a job")
    return None


def _option(line: str, number: int) -> _Given | None:
    if line.startswith("include") and line[7:8] in ("", " ", "\t"):
        return _Given("include", line[7:].strip(), number)
    match = _OPTION.match(_COMMENT.split(line, maxsplit=1)[0].rstrip())
    if match is None or _END_WORD.match(line):
        return None
    return _Given(match[1], match[2], number)


def _is_job_file(sections: list[_Section]) -> bool:
    words = {given.name for section in sections for given in section.options} & _CORE
    return bool(words & {"rw", "readwrite", "ioengine"}) or len(words) > 1


def _workload(sections: list[_Section], name: str, last: int) -> ParsedWorkload:
    refused: dict[tuple[int, str], Broken] = {}
    jobs = []
    shared: dict[str, _Given] = {}
    shared_base = 1024
    for section in sections[:_MOST_SECTIONS]:
        base = next(
            (1000 if one.value == "1000" else 1024 for one in section.options[::-1] if one.name == "kb_base"),
            shared_base,
        )
        shared_base = base if section.is_global else shared_base
        known, unknown = _sorted(section, base)
        for one in unknown:
            _refuse(one, refused)
        if section.is_global:
            shared = _over(shared, known)
        else:
            jobs.append(_job(section, _over(shared, known), refused))
    for section in sections[:_MOST_SECTIONS]:
        if section.left_out:
            told, most = f"{len(section.options) + section.left_out} options", f"at most {_MOST_OPTIONS}"
            message = f"too many options in {section.name!r}; the rest is left out"
            refused[section.line, ""] = Broken(message, section.line, told, most)
    if len(sections) > _MOST_SECTIONS:
        message, found = "too many sections; the rest is left out", f"{len(sections)} sections"
        refused[last, ""] = Broken(message, last, found, f"at most {_MOST_SECTIONS}")
    return ParsedWorkload(name, tuple(jobs), tuple(refused.values()), sections[0].line, last)


def _sorted(section: _Section, kb_base: int) -> tuple[dict[str, _Given], list[_Given]]:
    """The options that Spindle has, the last one of a name, and the others. `kb_base` is for the whole section: fio takes it
    first, but after the sections before.
    """
    known: dict[str, _Given] = {}
    unknown: list[_Given] = []
    for one in section.options:
        name = ALIASES.get(one.name, one.name)
        if name in READERS:
            known.pop(name, None)
            known[name] = replace(one, kb_base=kb_base)
        elif (name, one.value) != _SAME:
            unknown.append(one)
    return known, unknown


def _over(shared: dict[str, _Given], own: dict[str, _Given]) -> dict[str, _Given]:
    """All of them in the order in which fio takes them: `buffered` above does not undo a `direct` below."""
    return {**{name: one for name, one in shared.items() if name not in own}, **own}


def _job(section: _Section, given: dict[str, _Given], refused: dict[tuple[int, str], Broken]) -> dict[str, Any]:
    """The section's own options over those it starts from."""
    job = {"name": section.name, **DEFAULTS}
    if "size" in given and given["size"].value != given.get("filesize", given["size"]).value:
        _refuse(given.pop("filesize"), refused, "nothing beside size, which is that of all files of a job")
    last_flush: _Given | None = None
    for name, one in sorted(given.items(), key=lambda each: each[0] in OVER_BS):
        try:
            found = taken(name, one.value, one.kb_base)
        except RefusedError as error:
            _refuse(one, refused, str(error))
            job[KEYS.get(name, name)] = (
                one.value or ""
            ).strip()  # not the default: nobody runs what the file does not say
            continue
        if name in SYNCS:
            if found.get("sync", "none") == "none":
                continue  # it does not undo what another of them says
            if last_flush:
                _refuse(last_flush, refused, f"nothing beside {one.name}: Spindle runs one of {', '.join(SYNCS)}")
            last_flush = one
        job |= found
    if "file_size" not in job:
        message = f"job {section.name!r} does not say how much it reads or writes"
        refused[section.line, ""] = Broken(message, section.line, "no size", "size=…")
    return job


def _refuse(one: _Given, refused: dict[tuple[int, str], Broken], expected: str = "") -> None:
    found = one.name if one.value is None else f"{one.name}={one.value}"
    broken = Broken(f"{one.name} is not taken over", one.line, found[:_FOUND_LONGEST], expected or reason(one.name))
    refused.setdefault((one.line, one.name), broken)
