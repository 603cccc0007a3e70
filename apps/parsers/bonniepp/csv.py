"""Reading of bonnie++'s CSV lines; the field lists are those of its source, see `format.py`.

    name,size,(rate,cpu)*6,files,(rate,cpu)*6                                                              1.00 to 1.04
    format,program,name,concurrency,seed,size,chunk,(rate,cpu)*6,files,max,min,-,dirs,(rate,cpu)*6,latency*12     1.9x
    the same with seeks,seekers behind chunk                                                           1.98 and 2.00

The field that the header of 1.9x calls num_dirs stays empty; the directories stand in the field after it.
"""

import re
from collections.abc import Sequence

from apps.parsers.bonniepp.record import FILES, LONGEST_NAME, BonnieppRecord
from apps.parsers.core.models import Broken

FEWEST_COMMAS = 8
OLD_FIELDS, NEW_FIELDS, SEEK_FIELDS = 27, 48, 50

# An empty branch, a pattern written out six times, the usual branch first, and possessive digits (nothing behind them could match them)
# reduce the time to a third.
_DIGITS = r"[0-9]{1,15}+(?:\.[0-9]{0,3}+|)"
_RATE = rf"(?:{_DIGITS}|\+{{3,5}}+| (?:-?{_DIGITS}|\+{{3,5}}+|)|-{_DIGITS}|)"
_CPU = r"(?:[0-9]{1,6}+|\+{2,3}+|-[0-9]{1,6}+|)"  # a copy may lose one of the three +
_PAIRS = rf"{_RATE},{_CPU}," * 6
_LATENCY = r"(?:[0-9]{1,9}+(?:[um]|)s|)"
_COUNT = r"[0-9]{0,9}+"
_START = re.compile(r"(?<![\w.,+-])([0-9]\.[0-9]{2}[a-z]?),([0-9]\.[0-9]{2}[a-z]{0,2}),")
_OLD = re.compile(
    rf"(?:[0-9]{{1,9}}[MG]?(?::[0-9]{{1,7}}k?)?)?,{_PAIRS}"
    rf"(?:[0-9]{{1,9}}(?::link|:symlink|:[0-9]{{1,12}}:[0-9]{{1,12}})?(?:/[0-9]{{1,9}})?)?,{_PAIRS}"
)
_ECHO = re.compile(r"[^,]{0,200}\becho (?=\S)")  # the shell command that piped the line to bon_csv2html
_OLD_START = re.compile(r"[^,]*,[0-9]{1,9}[MG](?::[0-9]{1,7}k?)?,")
_LIKE_OLD_START = re.compile(r"[^,]*,\w{1,10}[MG](?::\w{1,8})?,")
_TYPICAL = re.compile(r"\+{5},|,[0-9]{1,9}[um]s(?:,|$)")
_HEAD = rf"{_COUNT},[^,]*+,(?:[0-9]{{1,9}}+[MGT]?)?,(?:[0-9]{{1,9}}+[km]?)?,"
_TAIL = (
    rf"{_PAIRS}{_COUNT},(?:link|symlink|[0-9]{{1,12}}+)?,[0-9]{{0,12}}+,(?:[0-9]{{1,9}}+[km]?)?,(?:[0-9]{{1,9}}+[km]?)?,{_PAIRS}"
    + f"{_LATENCY}," * 12
)
_BODIES = {NEW_FIELDS: re.compile(_HEAD + _TAIL), SEEK_FIELDS: re.compile(f"{_HEAD}{_COUNT},{_COUNT},{_TAIL}")}
_WHOLE = {  # matches nearly all lines, whose fields then need not be joined again to be checked
    wanted: re.compile(f"(?:[^,]*+,){{3}}{pattern.pattern.removesuffix(',')}") for wanted, pattern in _BODIES.items()
}
_BEGINNING = re.compile(r"[0-9a-z+.]*").match
_GOES_ON = re.compile(r"[0-9a-z,+.:/]+")
_FIELD = re.compile(rf"{_RATE}|{_LATENCY}|(?:[0-9]{{1,9}}[MGTkm]?)|link|symlink")
_MOST_LINES = 5
FEWEST_OLD_FIELDS = (
    14  # a line without versions, with name, size and fewer than six pairs, may come from another program
)
_FEWEST_FIELDS = 20  # with so many fields, a line with versions is bonnie++'s, even if it can not be read


def read_record(lines: Sequence[str], index: int) -> BonnieppRecord | Broken | None:
    """Read the record that begins in this line.

    A `Broken` says what is wrong with it; None where none begins.
    """
    line = lines[index]
    if match := _START.search(line):
        return _read_new(lines, index, match.start(), match[1], match[2])
    return _read_old(lines, index)


def find_semicolons(line: str, index: int) -> Broken | None:
    """Return a `Broken` for a record that a spreadsheet saved with semicolons: which of them were commas is unknown."""
    record = (
        read_record([line.replace(";", ",")], 0) if line.count(";") >= FEWEST_OLD_FIELDS and "," not in line else None
    )
    if not isinstance(record, BonnieppRecord):
        return None
    return Broken(
        "a CSV line with semicolons", index, line.strip()[:80], "commas between the fields, as bonnie++ prints them"
    )


def is_sure(record: BonnieppRecord) -> bool:
    """Return whether a line of 27 fields is bonnie++'s without a table beside it: only bonnie++ prints 4G and +++++."""
    is_small_only = not record.size and all(record.rates[FILES:])
    return bool(record.version) or record.size[-1:].isalpha() or "+++++" in record.rates or is_small_only


def _read_new(
    lines: Sequence[str], index: int, start: int, version: str, program: str
) -> BonnieppRecord | Broken | None:
    wanted = SEEK_FIELDS if version >= "1.98" else NEW_FIELDS
    fields, last = _join_fields(lines, index, start, wanted)
    if last == index and not start and _WHOLE[wanted].fullmatch(lines[index]):
        return _make_new_record(fields[3:], fields[2], program, index, index, " " in lines[index])
    if len(fields) < wanted:
        fields = _insert_large_file(fields, wanted)
    if len(fields) < wanted:
        return _read_cut_new(fields, wanted, index, last, program)
    fields[-1] = _strip_end(fields[-1])
    if len(fields) >= 2 * wanted - 2:
        return Broken("two CSV lines of bonnie++'s in one", index, lines[index].strip()[:80], "a line for each run")
    for extra in {0, len(fields) - wanted}:  # a name may hold commas, or something was put behind
        body = fields[3 + extra : wanted + extra]
        if _BODIES[wanted].fullmatch(",".join(body) + ","):
            name = ",".join(fields[2 : 3 + extra])
            return _make_new_record(body, name, program, index, last)
    return _make_broken(fields[3:], index, wanted)


def _make_new_record(
    body: list[str], name: str, program: str, index: int, last: int, may_have_blanks: bool = True
) -> BonnieppRecord:
    has_seeks = len(body) == SEEK_FIELDS - 3
    at = 6 if has_seeks else 4
    files = at + 12
    rates = body[at:files:2] + body[files + 5 : files + 17 : 2]
    return BonnieppRecord(
        index, last, program, name.strip().strip('"')[:LONGEST_NAME], body[2],
        body[3] or (None if has_seeks else ""),  # 2.00 leaves the chunk empty whatever it was
        body[0], body[4] if has_seeks else "", body[5] if has_seeks else "", body[1],
        (body[files], body[files + 1], body[files + 2], body[files + 3] or body[files + 4]),
        _strip_rates(rates) if may_have_blanks else rates,
        body[at + 1 : files : 2] + body[files + 6 : files + 17 : 2],
        body[files + 17 :], (index, index, index, index),
    )  # fmt: skip


def _strip_rates(printed: list[str]) -> list[str]:
    """Remove the blank that 1.00 prints before a small seek rate."""
    return [rate.lstrip() for rate in printed] if " " in "".join(printed) else printed


def _insert_large_file(fields: list[str], wanted: int) -> list[str]:
    """Insert the empty fields that versions before 1.97 leave out with -s 0."""
    if len(fields) >= 40 and not any(fields[5:-29]):
        return [*fields[:5], *[""] * (wanted - 34), *fields[-29:]]
    return fields


def _read_cut_new(
    fields: list[str], wanted: int, index: int, last: int, program: str
) -> BonnieppRecord | Broken | None:
    """Read a line that ends too soon up to its last complete field; the last one may be half a number."""
    whole = [*fields[3:-1], *[""] * (wanted - len(fields) + 1)]
    if not _BODIES[wanted].fullmatch(",".join(whole) + ","):
        return _make_broken(fields[3:-1], index, wanted) if len(fields) > _FEWEST_FIELDS else None
    record = _make_new_record(whole, fields[2], program, index, last)
    first = 9 if wanted == SEEK_FIELDS else 7
    there = len(fields) - 1 - first
    record.cut = max(0, (there + 1) // 2 if there < 12 else 6 + max(0, there - 16) // 2)
    return record


def _read_old(lines: Sequence[str], index: int) -> BonnieppRecord | Broken | None:
    fields, last = lines[index].replace("\t", "").split(","), index  # forum software breaks long lines with a tab
    if len(fields) < OLD_FIELDS:
        if not _OLD_START.match(lines[index]):
            return None
        fields, last = _join_fields(lines, index, 0, OLD_FIELDS)
    if len(fields) < OLD_FIELDS:
        whole = [*fields[:-1], *[""] * (OLD_FIELDS - len(fields) + 1)]
        if len(fields) < FEWEST_OLD_FIELDS or not _OLD.fullmatch(",".join(whole[1:]) + ","):
            return None
        record = _make_old_record(whole[1:], whole[0], index, last)
        if record is None:
            return None
        there = len(fields) - 3
        record.cut = (there + 1) // 2 if there < 12 else 6 + max(0, there - 12) // 2
        return record
    fields[-1] = _strip_end(fields[-1])
    body = fields[1 - OLD_FIELDS :]
    if _OLD.fullmatch(",".join(body) + ","):
        return _make_old_record(body, ",".join(fields[: 1 - OLD_FIELDS]), index, last)
    good = sum(1 for field in body if _FIELD.fullmatch(field))
    is_bad = good >= len(body) * 0.75 and _is_like_record(lines[index])
    return _make_broken(body, index, OLD_FIELDS) if is_bad else None


def _is_like_record(line: str) -> bool:
    """Return whether a line of which nearly all fields are figures is bonnie++'s, also with a letter in its size or versions."""
    is_new = line.count(",") >= NEW_FIELDS - 1 and _TYPICAL.search(line) is not None
    return is_new or _LIKE_OLD_START.match(line) is not None


def _make_old_record(body: list[str], name: str, index: int, last: int) -> BonnieppRecord | None:
    if not (body[0] or body[13]) or body[0] == "0":
        return None
    size, _, chunk = body[0].partition(":")
    return BonnieppRecord(
        index, last, "", _ECHO.sub("", name.rpartition("`")[2]).strip().strip('"')[:LONGEST_NAME], size, chunk, files=split_files(body[13]),
        rates=_strip_rates(body[1:13:2] + body[14::2]), cpus=body[2:13:2] + body[15::2],
        lines=(index, index, index, index),
    )  # fmt: skip


def split_files(printed: str) -> tuple[str, str, str, str]:
    """Split `16:1000:10/20` into number, largest, smallest, directories."""
    sizes, _, directories = printed.partition("/")
    number, _, sizes = sizes.partition(":")
    largest, _, smallest = sizes.partition(":")
    return number, largest, smallest, directories


def _join_fields(lines: Sequence[str], index: int, start: int, wanted: int) -> tuple[list[str], int]:
    """Return the fields of a line with those of the next lines where a mail program broke it, and the index of the last one."""
    text, last = lines[index][start:].rstrip(), index
    while text.count(",") < wanted - 1 and last + 1 < min(len(lines), index + _MOST_LINES):
        more = lines[last + 1].strip()
        if not _GOES_ON.fullmatch(more) or _START.match(more):
            break
        text, last = text + more, last + 1
    return text.split(","), last


def _strip_end(field: str) -> str:
    """Remove what forums and quotes put behind the line."""
    match = _BEGINNING(field.strip())
    return match[0] if match else ""


def _make_broken(fields: list[str], index: int, wanted: int) -> Broken:
    bad = next((field for field in fields if not _FIELD.fullmatch(field)), ",".join(fields))
    return Broken("no CSV line of bonnie++'s", index, bad[:80], f"{wanted} fields: rates, CPU and latencies")
