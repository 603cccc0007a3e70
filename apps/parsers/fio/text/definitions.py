"""What fio prints of its jobs before it runs them, and the command line above.

Only these lines tell random from sequential, block size and depth in the text and terse reports.

    test: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16                     fio 1.x, 2.x
    test: (g=0): rw=randread, bs=4096B-4096B,4096B-4096B,4096B-4096B, ioengine=…, iodepth=16        fio 2.17, 2.18
    test: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=…      fio 2.19 and later
    # fio --name=test --rw=randread --size=1g

With bs_is_seq_rand there are two sizes, for sequential and for random I/O: `bs(seq/rand)=4K-4K/64K-64K` up to 2.16,
then `bs=4096B-4096B,64.0KiB-64.0KiB, bs_is_seq_rand` or `bs=(R) …, (W) …, bs_is_seq_rand`. A job may have no name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.parsers.fio.options import merge_options
from apps.parsers.fio.quantities import Style

_DEFINITION = re.compile(
    r"\s*(?:<(?P<host>[^<>\s]{1,255})> )?(?P<name>.{0,255}?): \(g=(?P<group>\d{1,9})\): rw=(?P<rw>[a-z:0-9]+)"
)
_SIZES = re.compile(r"(?:\(([RWT])\) )?(?<![\w.])(\d[\w.]*+)-(\d[\w.]*)")
_BETWEEN = re.compile(r"[/,]")
_BY_PATTERN = re.compile(r"bs\(seq/rand\)=|, bs_is_seq_rand\b")
_LIKE = re.compile(r"\s*(?P<name>.{0,255}?): \(g=[^)\s]{1,12}\): rw=")
_ENGINE = re.compile(r"ioengine=([\w:./-]{1,64})")
_DEPTH = re.compile(
    r"\biodepth=([^\s,]{1,20})"
)  # any word, so that one that is no number is not replaced by fio's default
_COMMAND = re.compile(  # also behind the prompts of zsh themes
    r"(?:^|[#$>%\u276f\u03bb]\s*|\u279c {1,2}(?:[\w.~/-]{1,60} )?|\bsudo\s+|\btime\s+)(?P<command>(?:[\w./-]{0,80}/)?fio\s+\S.*)$"
)
_STARTED_BY = re.compile(  # programs that start another one, with their own options
    r"(?:^|[#$>%])\s*(?:sudo\s+|time\s+)?(?:numactl|taskset|chrt|nice|ionice|env|nohup|perf|cgexec|systemd-run|ip|ssh|"
    r"docker|podman|kubectl|[A-Z_]{1,40}=\S{0,200})\s+(?:\S{1,200}\s+){0,16}?(?P<command>(?:[\w./-]{0,80}/)?fio\s+-.*)$"
)
_WORD = re.compile(r"(?:\$\(\([^()]*\)\)|\S)+")
_PRODUCT = re.compile(r"\$\(\(\s*(\d{1,9})\s*\*\s*(\d{1,9})\s*\)\)\Z")
_REST_OF_SIZE = re.compile(r"\.\d")
_MORE_OPTIONS = re.compile(r"\s{0,200}--?[A-Za-z]")  # not a rule of dashes
_FLAGS = ("time_based", "group_reporting", "thread", "minimal", "unlink", "norandommap", "end_fsync", "stonewall")
_BLANK_VALUES = (  # options whose value may follow a blank instead of `=`
    "name", "rw", "readwrite", "bs", "size", "ioengine", "iodepth", "direct", "numjobs", "runtime", "filename",
)  # fmt: skip
WRAPPED_LINES = 8


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """What a definition line says of a job."""

    name: str
    group: int
    options: dict[str, str]
    line: int
    host: str = ""


@dataclass(frozen=True, slots=True)
class FioCommand:
    """A command line as shown; it has `options` only if it defines one job and names no job file."""

    text: str
    line: int
    options: dict[str, str] = field(default_factory=dict)


def read_definition(lines: Sequence[str], index: int, number: int) -> JobDefinition | None:
    """Read the job's definition in a line, None where it is none."""
    line = lines[index]
    if ": (g=" not in line or (match := _DEFINITION.match(line)) is None:
        return None
    rest = line[match.end() :]
    if "iodepth=" not in rest and index + 1 < len(lines):
        rest += _get_rest(rest, lines[index + 1])  # a mail wrapped it
    options = {"rw": match["rw"], **_read_sizes(rest[:400])}
    for name, pattern in (("ioengine", _ENGINE), ("iodepth", _DEPTH)):
        if value := pattern.search(rest):
            options[name] = value[1]
    return JobDefinition(match["name"].strip(), int(match["group"]), options, number, match["host"] or "")


def _get_rest(line: str, following: str) -> str:
    """Return the rest of a wrapped line, without a blank inside a size (`(W) 4096B-` over `4096B`; `32` over `.0KiB`)."""
    more = following.strip()
    return more if line.rstrip().endswith("-") or _REST_OF_SIZE.match(more) else f" {more}"


def _are_complete(sizes: Sequence[tuple[str, str, str]], text: str) -> bool:
    """Return whether no size is missing in front of another, which would then be taken for it."""
    marks = "".join(mark for mark, _, _ in sizes)
    if marks:
        return "RWT".startswith(marks)
    listed = text.partition("bs(seq/rand)=")[2] or text.partition("bs=")[2]
    return len(sizes) == len(_BETWEEN.split(listed.split(", ")[0].rstrip(", ")))


def describe_doubt(lines: Sequence[str], index: int) -> str:
    """Return what can not be read of a job's definition, as a warning, "" where all can: its samples have no such size or depth."""
    like = _LIKE.match(lines[index])
    if like is None:
        return ""
    if _DEFINITION.match(lines[index]) is None:
        return f"the definition of {like['name'].strip()!r} cannot be read; found {lines[index][like.end('name') :].strip()[:40]!r}"
    rest = lines[index].strip()
    rest += _get_rest(rest, lines[index + 1]) if index + 1 < len(lines) else ""
    depth = _DEPTH.search(rest)
    style = Style(is_before_2_17="(R)" not in rest)
    sizes = rest[like.end() : like.end() + 400].split("ioengine=")[0]
    parts = _SIZES.findall(sizes)[:3]
    is_short = ("bs=" in sizes or "bs(" in sizes) and (not parts or not _are_complete(parts, sizes))
    unread = ["bs"] if is_short else []
    unread += [f"{low}-{high}" for _, low, high in parts if not (style.size(low) and style.size(high))]
    unread += [f"iodepth={depth[1]}"] if depth and not depth[1].isdecimal() else []
    return f"of the definition of {like['name'].strip()!r} cannot be read: {', '.join(unread)}" if unread else ""


def _read_sizes(text: str) -> dict[str, str]:
    """Return `bs` in bytes: reads, writes and trims, or sequential and random; `bsrange` where one of them is a range."""
    bare = text.split("ioengine=")[0]
    sizes = _SIZES.findall(bare)[:3]
    if not sizes or not _are_complete(sizes, bare):  # a range without a value, so that fio's default is not assumed
        return {"bsrange": bare.partition("bs")[2].partition("=")[2].strip(", ")[:80]}
    style = Style(is_before_2_17=not any(mark for mark, _, _ in sizes))
    parts = [style.size(low) if low == high else None for _, low, high in sizes]
    whole = [str(int(part.value)) for part in parts if part is not None and part.value.is_integer()]
    if len(whole) < len(sizes) or any(low.partition(".")[2].strip("0KiMGB") for _, low, _ in sizes):
        return {"bsrange": ",".join(f"{low}-{high}" for _, low, high in sizes)}
    if len(set(whole)) == 1:
        return {"bs": whole[0]}
    return {"bs": ",".join(whole), **({"bs_is_seq_rand": "1"} if _BY_PATTERN.search(text) else {})}


def read_command(lines: Sequence[str], index: int, number: int) -> FioCommand | None:
    """Read a command line with its continuation lines, None where there is none."""
    line = lines[index]
    if "fio " not in line or "IOPS=" in line or (match := _match_command(line[:4096])) is None:
        return None
    words = [match["command"].rstrip().removesuffix("\\")]
    for following in lines[index + 1 : index + WRAPPED_LINES]:
        continued = lines[index].rstrip().endswith("\\") if len(words) == 1 else words[-1].endswith("\\")
        if words[-1].endswith((" --", " -")) and following[:1].isalpha():  # a mail wrapped it behind the dashes
            words[-1] += following.strip()[:4096]
            continue
        if not (continued or _MORE_OPTIONS.match(following)):
            break
        words.append(following.strip()[:4096])
    text = " ".join(word.removesuffix("\\").strip() for word in words)
    all_words = _WORD.findall(text)
    if not any(word.startswith("-") or word.endswith((".fio", ".ini", ".job")) for word in all_words[1:]):
        return None  # prose about fio
    return FioCommand(text[:2000], number, _read_options(all_words[1:]))


def _match_command(line: str) -> re.Match[str] | None:
    return _COMMAND.search(line) or _STARTED_BY.search(line)


def _read_options(words: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    names, waiting = 0, ""
    for word in words:
        if waiting and not word.startswith("-"):
            options[waiting], waiting = word, ""
        elif word.startswith("-"):
            name, has_value, value = word.lstrip("-").partition("=")
            if not name:
                continue
            names += name == "name" and value != "global"
            options[name] = _read_value(value) if has_value else ""
            waiting = name if not has_value and name in _BLANK_VALUES else ""
        elif not word.startswith((">", "2>", "|", "&", ";")):
            return {}  # names a job file, which has the options
        else:
            break
    if names > 1:
        return {}
    return merge_options(
        None, {name: "1" if name in _FLAGS and not value else value for name, value in options.items()}
    )


def _read_value(text: str) -> str:
    product = _PRODUCT.match(text)
    return str(int(product[1]) * int(product[2])) if product else text.strip("'\"")
