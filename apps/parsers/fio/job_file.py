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
from apps.parsers.fio.job_options.kinds import YesOrNo, checked_by
from apps.parsers.fio.job_options.refusals import explain_refusal as explain
from apps.parsers.fio.job_options.table import BY_FIO_NAME, BY_NAME, OPTIONS
from apps.parsers.fio.options import loses_unit, parse_size
from apps.parsers.fio.workload import SYNC_WORDS


class OptionRefusedError(ValueError):
    """Raised where a value is not taken over; its text is what was expected."""


def read_option(name: str, value: str | None, kb_base: int) -> dict[str, object]:
    """Return the fields of a workload for an option of a job file, by its main name.

    Raises:
        OptionRefusedError: if Spindle does not run that value.
    """
    if value is not None and "$" in value:
        raise OptionRefusedError("no variables and no arithmetic")
    if value is None and not _is_flag(name):
        raise OptionRefusedError("a value")
    if loses_unit(value or ""):
        raise OptionRefusedError("no blank before a number with a unit: fio does not see the unit then")
    try:
        fields = READERS.get(name, _read_by_table(name))((value or "").strip(), kb_base)
        for field_name, field_value in fields.items():
            checked_by(BY_NAME[field_name].kind, field_value)
    except OptionRefusedError:
        raise
    except ValueError as error:
        raise OptionRefusedError(str(error)) from None
    return fields


ALIASES = {alias: option.key for option in OPTIONS for alias in option.aliases}
KEYS = {
    "bs": "block_size", "bsrange": "block_size", "bssplit": "block_size", "size": "file_size", "filesize": "file_size", "buffered": "direct",
    "rwmixwrite": "rwmixread", "fsync": "fsync_every",
    "fdatasync": "fsync_every",
}  # fmt: skip
OVER_BS = ("bsrange", "bssplit")  # win over bs, whichever stands first (`fixup_options` in init.c)
SYNCS = ("sync", "fsync", "fdatasync")
DEFAULTS: dict[str, object] = {
    "rw": "read", "block_size": 4096, "direct": False, "stonewall": False, "group_reporting": False,
}  # fmt: skip
_YES_OR_NO = YesOrNo()


def _is_flag(name: str) -> bool:
    """Return whether an option may stand without a value, which switches it on."""
    return name in BY_FIO_NAME and isinstance(BY_FIO_NAME[name].kind, YesOrNo)


def _read_by_table(name: str) -> Callable[[str, int], dict[str, object]]:
    """Return the reader of an option whose row in the table says how it is read."""
    option = BY_FIO_NAME.get(name)
    if option is None:  # an option that has a reader of its own
        return lambda value, base: {}
    return lambda value, base: {option.name: option.kind.read(value, base)}


def _read_whole(value: str, kb_base: int) -> int:
    count = parse_size(value, kb_base)
    if count is None:
        raise OptionRefusedError("one whole number")
    return count


def _read_size(value: str, kb_base: int) -> int:
    parts = {parse_size(part, kb_base) for part in value.split(",", 3)}
    size = parts.pop() if len(parts) == 1 else None
    if not size:
        raise OptionRefusedError("one size, like 4k")
    return size


def _read_block_sizes(value: str, kb_base: int) -> dict[str, object]:
    """Read `4k`, or `4k,64k` for reads and writes; a third part, of trims, is not run. One left out has fio's default."""
    parts = [part.strip() for part in value.split(",", 3)]
    sizes = [parse_size(part, kb_base) if part else 4096 for part in parts]
    if not all(sizes) or len(sizes) > 3:
        raise OptionRefusedError("a size like 4k, or one of reads and one of writes")
    last = sizes[min(1, len(sizes) - 1)]
    return {"block_size": sizes[0], **({"write_block_size": last} if last != sizes[0] else {})}


def _read_ranges(value: str, kb_base: int) -> dict[str, object]:
    """Read `4k-64k,4k-64k`: the least and the largest of reads, writes and trims. Where all are one size, that is it."""
    ranges: list[list[int]] = BY_NAME["bsrange"].kind.read(value, kb_base)
    sizes = {size for pair in ranges for size in pair}
    return {"block_size": min(sizes), **({"bsrange": ranges} if len(sizes) > 1 else {})}


def _read_split(value: str, kb_base: int) -> dict[str, object]:
    splits: list[list[list[int]]] = BY_NAME["bssplit"].kind.read(value, kb_base)
    return {"block_size": min(size for split in splits for size, _ in split), "bssplit": splits}


def _read_pattern(value: str, kb_base: int) -> dict[str, object]:
    """Read `randread`, or `randread:8` with its step."""
    word, _, step = value.partition(":")
    return {
        "rw": BY_NAME["rw"].kind.read(word),
        **({"rw_step": BY_NAME["rw_step"].kind.read(step, kb_base)} if step else {}),
    }


def _make_flush_reader(word: str) -> Callable[[str, int], dict[str, object]]:
    def read(value: str, kb_base: int) -> dict[str, object]:
        every = _read_whole(value, kb_base)
        return {"sync": word, "fsync_every": every} if every else {}

    return read


def _read_sync(value: str, _: int) -> dict[str, object]:
    if value.lower() not in SYNC_WORDS:
        raise OptionRefusedError("one of " + ", ".join(SYNC_WORDS))
    return {"sync": SYNC_WORDS[value.lower()]}


def _read_runtime(value: str, kb_base: int) -> dict[str, object]:
    return {"runtime": None if value == "0" else BY_NAME["runtime"].kind.read(value, kb_base)}


# Options that are not read as their row says: several fields, another sense, or fio's own rule for a default.
READERS: dict[str, Callable[[str, int], dict[str, object]]] = {
    "rw": _read_pattern,
    "bs": _read_block_sizes,
    "bsrange": _read_ranges,
    "bssplit": _read_split,
    "size": lambda value, base: {"file_size": _read_size(value, base)},
    "filesize": lambda value, base: {"size_per_file": _read_size(value, base)},
    "buffered": lambda value, _: {"direct": not _YES_OR_NO.read(value)},
    "runtime": _read_runtime,
    "rwmixwrite": lambda value, base: {"rwmixread": 100 - _read_whole(value, base)},
    "sync": _read_sync,
    "fsync": _make_flush_reader("fsync"),
    "fdatasync": _make_flush_reader("fdatasync"),
}
KNOWN = READERS.keys() | BY_FIO_NAME.keys()


def explain_refusal(name: str) -> str:
    """Return what is expected in place of an option that Spindle does not run."""
    return f"nothing, because {explain(name)}"


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
_PLAIN_NAME = re.compile(r"[\w .,:+@%#=~-]{1,255}\Z")
_PLAIN_WORDS = "a name of letters, digits and signs that mean nothing to a shell or in a path"
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
    jobs: list[dict[str, object]] = []
    lines: list[dict[str, int]] = []
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
            given = _merge_options(shared, known)
            jobs.append(_make_job(section, given, refused))
            lines.append({"": section.line, **_lines_of_fields(given)})
    for section in sections[:_MOST_SECTIONS]:
        if section.left_out:
            actual, most = f"{len(section.options) + section.left_out} options", f"at most {_MOST_OPTIONS}"
            message = f"too many options in {section.name!r}; the rest is left out"
            refused[section.line, ""] = Broken(message, section.line, actual, most)
    if len(sections) > _MOST_SECTIONS:
        message, actual = "too many sections; the rest is left out", f"{len(sections)} sections"
        refused[last, ""] = Broken(message, last, actual, f"at most {_MOST_SECTIONS}")
    return ParsedWorkload(name, tuple(jobs), tuple(refused.values()), tuple(lines), sections[0].line, last)


def _sort_options(section: _Section, kb_base: int) -> tuple[dict[str, _JobOption], list[_JobOption]]:
    """Return the options that Spindle has, the last one of each name, and the others.

    `kb_base` applies to the whole section: fio reads it first, but after the sections before.
    """
    known: dict[str, _JobOption] = {}
    unknown: list[_JobOption] = []
    for option in section.options:
        name = ALIASES.get(option.name, option.name)
        if name in KNOWN:
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
    job: dict[str, object] = {"name": section.name, **DEFAULTS}
    if not _PLAIN_NAME.match(section.name) or ".." in section.name:
        message = "the name of a job could be a path or a command"
        refused[section.line, "name"] = Broken(
            message, section.line, f"[{section.name}]"[:_LONGEST_FOUND], _PLAIN_WORDS
        )
    last_flush: _JobOption | None = None
    for name, option in sorted(given.items(), key=lambda each: each[0] in OVER_BS):
        try:
            fields = read_option(name, option.value, option.kb_base)
        except OptionRefusedError as error:
            _refuse(option, refused, str(error))
            kept = KEYS.get(name) or (BY_FIO_NAME[name].name if name in BY_FIO_NAME else name)
            job[kept] = (option.value or "").strip()  # kept as written, so that the default is not run by mistake
            continue
        if name in SYNCS:
            if fields.get("sync", "none") == "none":
                continue  # "none" does not undo another flush option
            if last_flush:
                _refuse(last_flush, refused, f"nothing beside {option.name}: Spindle runs one of {', '.join(SYNCS)}")
            last_flush = option
        if name in OVER_BS:
            job.pop("write_block_size", None)
        job |= fields
    _add_file_size(job)
    if "file_size" not in job:
        message = f"job {section.name!r} does not say how much it reads or writes"
        refused[section.line, ""] = Broken(message, section.line, "no size", "size=…")
    return job


def _add_file_size(job: dict[str, object]) -> None:
    """Derive the size of all files from that of each, and leave out that of each where it follows."""
    each, files = job.get("size_per_file"), job.get("nrfiles", 1)
    if isinstance(each, int) and isinstance(files, int):
        job.setdefault("file_size", each * files)
        if job["file_size"] == each * files:
            del job["size_per_file"]


def _lines_of_fields(given: dict[str, _JobOption]) -> dict[str, int]:
    """Return the lines of a job's options by the names of its fields."""
    names = {name: KEYS.get(name) or (BY_FIO_NAME[name].name if name in BY_FIO_NAME else name) for name in given}
    return {names[name]: option.line for name, option in given.items()}


def _refuse(option: _JobOption, refused: dict[tuple[int, str], Broken], expected: str = "") -> None:
    text = option.name if option.value is None else f"{option.name}={option.value}"
    broken = Broken(
        f"{option.name} is not taken over", option.line, text[:_LONGEST_FOUND], expected or explain_refusal(option.name)
    )
    refused.setdefault((option.line, option.name), broken)
