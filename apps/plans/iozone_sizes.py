"""The file and record sizes that a command of IOzone measures though it does not name each of them. Pure.

`iozone -a -g 1G` doubles files from 64 KiB (`-n`) to 512 MiB (`-g`), and for each file records from 4 KiB (`-y`) to
16 MiB (`-q`), never above the file. Files above 16 MiB begin with records of 64 KiB unless `-z` is there. Without `-a`
a size that is not named is IOzone's own, 512 KiB in records of 4 KiB. Sources: IOzone's manual (`-a`, `-n`, `-g`, `-y`,
`-q`, `-z`) and `CROSSOVER`, `LARGE_REC`, `KILOBYTES` and `RECLEN` in iozone.c, version 3; real output of `-a` agrees.
"""

import re
import shlex
from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
CROSSOVER, LARGE_RECORD = 16 * MIB, 64 * KIB
USUAL_FILE, USUAL_RECORD = 512 * KIB, 4 * KIB
UNITS = {"": KIB, "k": KIB, "m": MIB, "g": 1 << 30, "t": 1 << 40}
SIZE = re.compile(r"([0-9]{1,12})([kmgt]?)", re.IGNORECASE)
OPTION = re.compile(r"-(?:[A-Za-z]|\+[a-zA-Z])")
MOST_SIZES = 600


@dataclass(frozen=True)
class IozoneSizes:
    """Pairs of file and record size in bytes, and the rule that they follow, as a sentence for a plan's notes."""

    pairs: tuple[tuple[int, int], ...]
    rule: str


def read_sizes(command: str) -> IozoneSizes | None:
    """Return the sizes of a command of IOzone; None where it is no such command, or where it names them otherwise."""
    try:
        program, *words = shlex.split(command)
    except ValueError:
        return None
    if program.rpartition("/")[2] not in ("iozone", "iotzone"):
        return None
    options = _read_options(words)
    if options is None or options.keys() & {"-A", "-s", "-r"}:
        return None
    if "-a" in options:
        return _read_automatic(options)
    if options.keys() & {"-n", "-g", "-y", "-q"}:
        return None
    rule = "The command names no sizes: IOzone's own are a file of 512 KiB for each process, in records of 4 KiB."
    return IozoneSizes(((USUAL_FILE, USUAL_RECORD),), rule)


def _read_options(words: list[str]) -> dict[str, str] | None:
    """Return the options of a command with the word behind each.

    None for words that belong to no option, and for options that are written together (`-Ra`, `-s1g`) or not known: what
    they say of sizes would be missed.
    """
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            if not OPTION.fullmatch(word):
                return None
            name = word
            options[name] = ""
        elif name and not options[name]:
            options[name] = word
        else:
            return None
    return options


def _read_automatic(options: dict[str, str]) -> IozoneSizes | None:
    usual = {"-n": 64 * KIB, "-g": 512 * MIB, "-y": USUAL_RECORD, "-q": 16 * MIB}
    sizes = {name: _read_size(options[name]) if name in options else size for name, size in usual.items()}
    file, most, record, largest = (sizes[name] for name in usual)
    if not (file and most and record and largest):
        return None
    pairs: list[tuple[int, int]] = []
    while file <= most and len(pairs) <= MOST_SIZES:
        size = max(record, LARGE_RECORD) if file > CROSSOVER and "-z" not in options else record
        while size <= min(largest, file):
            pairs.append((file, size))
            size *= 2
        file *= 2
    rule = (
        "The sizes are those of IOzone's automatic mode, which the report's command asks for: files double from"
        " 64 KiB on, records from 4 KiB to 16 MiB, and from 64 KiB on for files above 16 MiB."
        if not options.keys() & {"-n", "-y", "-q", "-z"}
        else "The sizes are those of IOzone's automatic mode within the bounds of the report's command."
    )
    return IozoneSizes(tuple(pairs), rule) if 1 <= len(pairs) <= MOST_SIZES else None


def _read_size(text: str) -> int | None:
    match = SIZE.fullmatch(text)
    return int(match[1]) * UNITS[match[2].lower()] if match else None
