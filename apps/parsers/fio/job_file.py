"""Parser of fio's job files (`.fio`) as workloads: what Spindle may run, in the words of `apps.runs.workload`, and what it may not.

    [global]
    ioengine=libaio
    size=1g
    [random reads]
    rw=randread

Nothing is ever executed, included or looked up: `include`, `${NAME}` and `$` arithmetic are refused as they stand, and
so is a whole file with lines that a program turns into options or leaves out (`{% if … %}`, `@OPTIONS@`).

Peculiarities (`__parse_jobs_ini` in fio's init.c):

- Every section whose name begins with `global` sets what the sections behind it start from. A line that begins with `;`
  or `#` is a comment, with
  blanks in front too, and so is the rest of a line from either on (`strip_blank_end` in parse.c).
- What a file does not say has fio's default and not Spindle's: buffered, no stonewall, read, 4 KiB.
- Where both are given, `bsrange` and `bssplit` win over `bs`; fsync, fdatasync and sync do not undo each other.
- A blank before a number costs its unit: `bs = 4k` is 4 bytes (`loses_unit`). Nobody means that, so it is refused.
- In scripts a first section may stand behind a quote (`echo "[global]`), and a word like EOF ends the file.
- A refused value of an option that Spindle has stays in its place as written, so that nobody runs the job as something
  else before it was edited.
- Sizes: k is 1024, unless kb_base=1000 in this section or a global one above it (see `options.py`). A bare number of a
  time is seconds.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from apps.parsers.core.models import Broken, ParsedFile, ParsedWorkload, ParseError
from apps.parsers.core.source_text import SourceText, get_ascii_bytes
from apps.parsers.fio.options import loses_unit, parse_seconds, parse_size
from apps.parsers.fio.workload import SYNC_WORDS

_WORDS_OF_RW = {
    "read": "read", "write": "write", "randread": "randread", "randwrite": "randwrite",
    "rw": "rw", "readwrite": "rw", "randrw": "randrw",
}  # fmt: skip
_ENGINES = ("psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null")
_SET_BY_SPINDLE = re.compile(
    r"(?:filename|directory|filename_format|unique_filename|opendir|name|description|write_\w+_log|log_\w+|per_job_logs|"
    r"disk_util|kb_base|unit_base|disable_\w+|clocksource|gtod_\w+|unlink|allow_\w+|significant_figures)\Z"
)
_RUNS_CODE = re.compile(
    r"(?:exec_\w+|uid|gid|cgroup\w*|profile|read_iolog\w*|write_iolog|replay_\w+|merge_\w+|program)\Z"
)


class OptionRefusedError(ValueError):
    """Raised where a value is not taken over; its text is what was expected."""


def read_option(name: str, value: str | None, kb_base: int) -> dict[str, object]:
    """Return the fields of a workload for an option of a job file.

    Raises:
        OptionRefusedError: if Spindle does not run that value.
    """
    if value is not None and "$" in value:
        raise OptionRefusedError("no variables and no arithmetic")
    if value is None and name not in _FLAGS:
        raise OptionRefusedError("a value")
    if loses_unit(value or ""):
        raise OptionRefusedError("no blank before a number with a unit: fio does not see the unit then")
    return READERS[name]((value or "").strip(), kb_base)


ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "timeout": "runtime", "wait_for_previous": "stonewall",
}  # fmt: skip
KEYS = {
    "bs": "block_size", "bsrange": "block_size", "bssplit": "block_size", "size": "file_size", "filesize": "file_size", "buffered": "direct",
    "rwmixwrite": "rwmixread", "fsync": "fsync_every",
    "fdatasync": "fsync_every",
}  # fmt: skip
OVER_BS = ("bsrange", "bssplit")  # win over bs, whichever stands first (`fixup_options` in init.c)
SYNCS = ("sync", "fsync", "fdatasync")
_FLAGS = ("time_based", "end_fsync", "stonewall", "group_reporting", "direct")
DEFAULTS: dict[str, object] = {
    "rw": "read", "block_size": 4096, "direct": False, "stonewall": False, "group_reporting": False,
}  # fmt: skip
_TRUE, _FALSE = ("", "1", "true", "yes"), ("0", "false", "no")


def _read_flag(value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise OptionRefusedError("1 or 0")
    return value.lower() in _TRUE


def _read_whole(value: str, kb_base: int) -> int:
    count = parse_size(value, kb_base)
    if count is None:
        raise OptionRefusedError("one whole number")
    return count


def _read_size(value: str, kb_base: int) -> int:
    parts = {parse_size(part, kb_base) for part in value.split(",", 3)}
    size = parts.pop() if len(parts) == 1 else None
    if not size:
        raise OptionRefusedError("one size for reads and writes, like 4k")
    return size


def _read_range(value: str, kb_base: int) -> int:
    """Read `4k-4k,4k-4k`, which is one size: the least and the largest of reads, writes and trims."""
    ends = [part.split("-", 2) for part in value.split(",", 3)]
    sizes = {parse_size(end, kb_base) for part in ends for end in part}
    size = sizes.pop() if len(sizes) == 1 and {len(part) for part in ends} == {2} else None
    if not size:
        raise OptionRefusedError("one size for all, like 4k")
    return size


def _refuse_split(value: str, kb_base: int) -> dict[str, object]:
    raise OptionRefusedError("one size for all, like 4k")


def _read_seconds(value: str) -> int:
    seconds = parse_seconds(value)
    if seconds is None or seconds < 0 or not float(seconds).is_integer():
        raise OptionRefusedError("whole seconds")
    return int(seconds)


def _read_word(value: str, words: dict[str, str]) -> str:
    if value not in words:
        raise OptionRefusedError("one of " + ", ".join(words))
    return words[value]


def _make_flush_reader(word: str) -> Callable[[str, int], dict[str, object]]:
    def read(value: str, kb_base: int) -> dict[str, object]:
        every = _read_whole(value, kb_base)
        return {"sync": word, "fsync_every": every} if every else {}

    return read


READERS: dict[str, Callable[[str, int], dict[str, object]]] = {
    "rw": lambda value, _: {"rw": _read_word(value, _WORDS_OF_RW)},
    "bs": lambda value, base: {"block_size": _read_size(value, base)},
    "bsrange": lambda value, base: {"block_size": _read_range(value, base)},
    "bssplit": _refuse_split,
    "size": lambda value, base: {"file_size": _read_size(value, base)},
    "filesize": lambda value, base: {"file_size": _read_size(value, base)},
    "iodepth": lambda value, base: {"iodepth": _read_whole(value, base)},
    "numjobs": lambda value, base: {"numjobs": _read_whole(value, base)},
    "ioengine": lambda value, _: {"ioengine": _read_word(value, dict(zip(_ENGINES, _ENGINES, strict=True)))},
    "direct": lambda value, _: {"direct": _read_flag(value)},
    "buffered": lambda value, _: {"direct": not _read_flag(value)},
    "runtime": lambda value, _: {"runtime": _read_seconds(value) or None},
    "ramp_time": lambda value, _: {"ramp_time": _read_seconds(value)},
    "time_based": lambda value, _: {"time_based": _read_flag(value)},
    "end_fsync": lambda value, _: {"end_fsync": _read_flag(value)},
    "stonewall": lambda value, _: {"stonewall": _read_flag(value)},
    "group_reporting": lambda value, _: {"group_reporting": _read_flag(value)},
    "rwmixread": lambda value, base: {"rwmixread": _read_whole(value, base)},
    "rwmixwrite": lambda value, base: {"rwmixread": 100 - _read_whole(value, base)},
    "randseed": lambda value, base: {"randseed": _read_whole(value, base)},
    "sync": lambda value, _: {"sync": _read_word(value.lower(), SYNC_WORDS)},
    "fsync": _make_flush_reader("fsync"),
    "fdatasync": _make_flush_reader("fdatasync"),
}


def explain_refusal(name: str) -> str:
    """Return what is expected in place of an option that Spindle does not run."""
    if name == "include":
        return "no other files: their options in this one"
    if _RUNS_CODE.match(name):
        return "nothing that runs programs, replays traces or changes who fio runs as"
    if _SET_BY_SPINDLE.match(name) or "percentile" in name:
        return "nothing: Spindle sets this itself"
    return "an option that Spindle runs"


NAME = "fio job file"
TITLE = "fio job file"

_SECTION = re.compile(r"\s*\[([^\]\n]{1,255})\]\s*(?:[;#].*)?$")
_QUOTED_SECTION = re.compile(r"[^\[\]\n]{0,200}[\"'`]\[([^\]\n]{1,255})\]\s*$")  # echo "[global], f\"""[global]
_END_WORD = re.compile(r"[A-Z][A-Z0-9_]*$")  # ends a here-document; fio's options are in small letters
_OPTION = re.compile(r"([A-Za-z][\w-]{0,63})\s*(?:=(.*))?$")
_TEMPLATE = re.compile(r"\{[%{#]|<[%?]|@\w{1,64}@|(?:\$\w{1,64}|\$\{\w{1,64}\}|%\w{1,64}%|__\w{1,64}__)\s{0,60}(?:=|$)")
_COMMENT = re.compile("[;#]")
_SECTION_BYTES = re.compile(rb"^[ \t]*\[[^\]\n]{1,255}\][ \t]*(?:[;#][^\n]*|\r?)$", re.MULTILINE)
_SURE = re.compile(rb"^[ \t]*(?:rw|readwrite|ioengine|iodepth|numjobs|blocksize|bs)[ \t]*=", re.MULTILINE)
_BELOW_SECTION = re.compile(  # both close together, because many texts have a line in brackets and an option somewhere
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
_LONGEST_FOUND = 120
_MOST_SECTIONS = 4096
_MOST_OPTIONS = 1000  # in a section; fio has some 300
_SAME = ("kb_base", "1024")  # the default of both fio and Spindle


@dataclass(frozen=True, slots=True)
class _JobOption:
    """An option as it stands in the file."""

    name: str
    value: str | None
    line: int
    kb_base: int = 1024


@dataclass(slots=True)
class _Section:
    name: str
    line: int
    options: list[_JobOption] = field(default_factory=list)
    left_out: int = 0
    template: _JobOption | None = None  # a line of a template above or below it

    def add(self, line: str, number: int) -> bool:
        """Add the option in a line; return whether it is one."""
        if len(self.options) >= _MOST_OPTIONS and _OPTION.match(line):
            self.left_out += 1
            return True
        given = _read_option_line(line, number)
        self.options += [given] if given else []
        return given is not None

    @property
    def is_global(self) -> bool:
        return self.name.startswith("global")


def looks_like(text: SourceText) -> float:
    """Return how sure it is that the text is a job file: 0.9 for a section with a typical option below it, 0.3 for less."""
    data = get_ascii_bytes(text)
    if b"=" not in data or _SECTION_BYTES.search(data) is None:
        return 0.0
    if _BELOW_SECTION.search(data):
        return 0.9
    return 0.3 if _SURE.search(data) or _LIKELY.search(data) else 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse every job file in the text into a workload.

    Raises:
        ParseError: if there is none.
    """
    stem = PurePosixPath(text.name.replace("\\", "/")).stem[:120]
    blocks = [(sections, last) for sections, last in _iterate_files(text) if _is_job_file(sections)]
    broken = [fault for sections, _ in blocks if (fault := _find_fault(sections))]
    workloads = [_make_workload(sections, stem, last) for sections, last in blocks if not _find_fault(sections)]
    if not workloads and not broken:
        raise ParseError("no job file of fio", line=1, expected="[name] and options like rw=read below it")
    return ParsedFile(workloads=tuple(workloads), broken=tuple(broken))


def _iterate_files(text: SourceText) -> Iterator[tuple[list[_Section], int]]:
    """Yield sections with their options that follow each other, and the number of their last line."""
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
            above = above or _JobOption(stripped, None, number)
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


def _find_fault(sections: list[_Section]) -> Broken | None:
    """Return why a job file can not be taken over at all, None where it can."""
    if line := next((section.template for section in sections if section.template), None):
        message = "a template, of which nobody knows what becomes of it"
        return Broken(message, line.line, line.name[:_LONGEST_FOUND], "sections and options as fio reads them")
    if all(section.is_global for section in sections):
        message = "options for all jobs, and no job below them"
        return Broken(message, sections[-1].line, f"[{sections[-1].name}]", "[name] of a job")
    return None


def _read_option_line(line: str, number: int) -> _JobOption | None:
    if line.startswith("include") and line[7:8] in ("", " ", "\t"):
        return _JobOption("include", line[7:].strip(), number)
    match = _OPTION.match(_COMMENT.split(line, maxsplit=1)[0].rstrip())
    if match is None or _END_WORD.match(line):
        return None
    return _JobOption(match[1], match[2], number)


def _is_job_file(sections: list[_Section]) -> bool:
    words = {given.name for section in sections for given in section.options} & _CORE
    return bool(words & {"rw", "readwrite", "ioengine"}) or len(words) > 1


def _make_workload(sections: list[_Section], name: str, last: int) -> ParsedWorkload:
    refused: dict[tuple[int, str], Broken] = {}
    jobs = []
    shared: dict[str, _JobOption] = {}
    shared_base = 1024
    for section in sections[:_MOST_SECTIONS]:
        base = next(
            (1000 if option.value == "1000" else 1024 for option in section.options[::-1] if option.name == "kb_base"),
            shared_base,
        )
        shared_base = base if section.is_global else shared_base
        known, unknown = _sort_options(section, base)
        for option in unknown:
            _refuse(option, refused)
        if section.is_global:
            shared = _merge_options(shared, known)
        else:
            jobs.append(_make_job(section, _merge_options(shared, known), refused))
    for section in sections[:_MOST_SECTIONS]:
        if section.left_out:
            actual, most = f"{len(section.options) + section.left_out} options", f"at most {_MOST_OPTIONS}"
            message = f"too many options in {section.name!r}; the rest is left out"
            refused[section.line, ""] = Broken(message, section.line, actual, most)
    if len(sections) > _MOST_SECTIONS:
        message, actual = "too many sections; the rest is left out", f"{len(sections)} sections"
        refused[last, ""] = Broken(message, last, actual, f"at most {_MOST_SECTIONS}")
    return ParsedWorkload(name, tuple(jobs), tuple(refused.values()), sections[0].line, last)


def _sort_options(section: _Section, kb_base: int) -> tuple[dict[str, _JobOption], list[_JobOption]]:
    """Return the options that Spindle has, the last one of each name, and the others.

    `kb_base` applies to the whole section: fio reads it first, but after the sections before.
    """
    known: dict[str, _JobOption] = {}
    unknown: list[_JobOption] = []
    for option in section.options:
        name = ALIASES.get(option.name, option.name)
        if name in READERS:
            known.pop(name, None)
            known[name] = replace(option, kb_base=kb_base)
        elif (name, option.value) != _SAME:
            unknown.append(option)
    return known, unknown


def _merge_options(shared: dict[str, _JobOption], own: dict[str, _JobOption]) -> dict[str, _JobOption]:
    """Return all options in the order in which fio applies them: `buffered` above does not undo a `direct` below."""
    return {**{name: option for name, option in shared.items() if name not in own}, **own}


def _make_job(
    section: _Section, given: dict[str, _JobOption], refused: dict[tuple[int, str], Broken]
) -> dict[str, object]:
    """Return the job's workload: the section's own options over those that it starts from."""
    job = {"name": section.name, **DEFAULTS}
    if "size" in given and given["size"].value != given.get("filesize", given["size"]).value:
        _refuse(given.pop("filesize"), refused, "nothing beside size, which is that of all files of a job")
    last_flush: _JobOption | None = None
    for name, option in sorted(given.items(), key=lambda each: each[0] in OVER_BS):
        try:
            fields = read_option(name, option.value, option.kb_base)
        except OptionRefusedError as error:
            _refuse(option, refused, str(error))
            job[KEYS.get(name, name)] = (
                option.value or ""
            ).strip()  # kept as written, so that the default is not run by mistake
            continue
        if name in SYNCS:
            if fields.get("sync", "none") == "none":
                continue  # "none" does not undo another flush option
            if last_flush:
                _refuse(last_flush, refused, f"nothing beside {option.name}: Spindle runs one of {', '.join(SYNCS)}")
            last_flush = option
        job |= fields
    if "file_size" not in job:
        message = f"job {section.name!r} does not say how much it reads or writes"
        refused[section.line, ""] = Broken(message, section.line, "no size", "size=…")
    return job


def _refuse(option: _JobOption, refused: dict[tuple[int, str], Broken], expected: str = "") -> None:
    text = option.name if option.value is None else f"{option.name}={option.value}"
    broken = Broken(
        f"{option.name} is not taken over", option.line, text[:_LONGEST_FOUND], expected or explain_refusal(option.name)
    )
    refused.setdefault((option.line, option.name), broken)
