"""The source lines of a file's values, to show beside them; excerpts only of long files."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from apps.parsers.core.registry import strip_wrappings
from apps.parsers.core.source_text import SourceText
from apps.runs.artefacts.store import open_stream
from apps.runs.models import Artefact

MOST_BYTES = 16 << 20  # from the beginning of the file
CONTEXT = 2  # lines before and after each one that was used
MOST_LINES = 800
LONGEST = 400
WHOLE = 200  # a file of so few lines is shown whole
BEGINNING = 40  # lines of a file that nothing was read from


@dataclass(frozen=True)
class SourceLine:
    number: int
    text: str
    mark: str  # used, broken or nothing
    is_first: bool  # of those with its number: a line that was overwritten with carriage returns is several


@dataclass(frozen=True)
class Excerpt:
    """`gap` lines are left out before each line that has one. `is_cut`: there are more lines of interest."""

    lines: Sequence[tuple[int, SourceLine]]
    rest: int
    is_cut: bool


def head(artefact: Artefact, most: int = MOST_BYTES) -> bytes:
    """Return the artefact's first bytes, cut after a whole line."""
    data = b""
    for piece in open_stream(artefact):
        data += piece
        if len(data) > most:
            return data[: data.rfind(b"\n", 0, most) + 1 or most]
    return data


def excerpt(text: SourceText, used: Collection[int], broken: Collection[int]) -> Excerpt:
    """Return windows around lines with values and problems; without values, the beginning of the file too."""
    text = _readable(text, used)
    total = len(text.lines)
    wanted = _wanted(text, {*used, *broken}, total, BEGINNING if not used else 0)
    rows: list[tuple[int, SourceLine]] = []
    last_index, last_number = -1, 0
    for index in wanted[:MOST_LINES]:
        number = text.number(index)
        mark = "broken" if number in broken else "used" if number in used else ""
        line = SourceLine(number, _short(text.lines[index]), mark, number != last_number)
        rows.append((index - last_index - 1, line))
        last_index, last_number = index, number
    return Excerpt(rows, total - last_index - 1, len(wanted) > MOST_LINES)


def _readable(text: SourceText, used: Collection[int]) -> SourceText:
    """Return the text with an output that stands in one long line (of a page or a string) spread over the tool's lines."""
    long = {text.number(index) for index, line in enumerate(text.lines) if len(line) > LONGEST}.intersection(used)
    if not long:
        return text
    inside: dict[int, list[tuple[int, str]]] = {}
    for number, line in _numbered(strip_wrappings(text)[0]):
        if number in long:
            inside.setdefault(number, []).append((number, line))
    spread = [
        item for number, same in groupby(_numbered(text), key=itemgetter(0)) for item in inside.get(number) or same
    ]
    return text.with_lines([line for _, line in spread], [number for number, _ in spread])


def _numbered(text: SourceText) -> Iterable[tuple[int, str]]:
    return zip(text.numbers(0, len(text.lines)), text.lines, strict=True)


def _wanted(text: SourceText, marked: Collection[int], total: int, first: int) -> list[int]:
    """Return the indices of all lines of a short file, or of the first ones and the marked ones with their context."""
    if total <= WHOLE:
        return list(range(total))
    bare = [index for index in range(total) if text.number(index) in marked] if marked else []
    around = {near for index in bare for near in range(index - CONTEXT, index + CONTEXT + 1) if 0 <= near < total}
    wanted = sorted(around.union(range(first)))
    return wanted if len(wanted) <= MOST_LINES else bare


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} … {len(line) - LONGEST} more characters"
