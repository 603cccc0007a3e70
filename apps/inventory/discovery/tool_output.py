"""What the tools' outputs have in common: fields, tables under headings, prompts; and the frame of a parser of them.

A block is a stretch of a text's lines: (first, behind the last) index.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from apps.parsers.core.models import Broken, ParsedFile, ParsedInventory, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.core.strict_json import documents_in

Content = dict[str, Any]
Block = tuple[int, int]
Read = Callable[[Sequence[str]], tuple[str, Any]]  # lines of a block → summary, content

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_IDENTITY = re.compile(
    r"serial|model|product|version|revision|\bname\b|label|wwn|uuid|guid|address|tag\b|firmware|\bpart\b|fru|\brev\b",
    re.IGNORECASE,
)
MARGIN = r"[>#\s]{0,40}+"  # what may stand before an output's first word: marks of mails, comments, and an indentation
_OF_HOST = r"[\w-]{1,64}(?::(?!//)| )[~/][\w/.~-]{0,80} ?[#>$] "  # prompts of SUSE, Gentoo and root's plain shell
_PROMPT = re.compile(rf"\[?[\w.-]{{1,64}}@([\w.-]{{1,64}})[: ][^\n]{{0,300}}?[$#%>] ?|(?={_OF_HOST})([\w-]{{1,64}})")
_PROMPT_WORD = re.compile(
    rf"(?:\[?[\w.-]{{1,64}}@[\w.-]{{1,64}}\b|{_OF_HOST}|[\w.-]{{1,64}} \([^()\n]{{1,60}}\) ?[#$] |[\w.-]{{0,40}}[#$>%] ?[a-z/.])"
)
_CITED = re.compile(r" ?[A-Z][A-Za-z]{1,15}> ?")  # some mail programs put the author's name before a line
_INDENTS = (" ", "\t")
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_LONGEST_SUMMARY = 200
_UNIT = re.compile(r"(?<=\d) (?=(?:[KMGTPE]i?B|K)(?:\s|$))")
_OF_SEVERAL_WORDS = ("Model", "Name")  # columns whose values may have several words
_FEWEST_SPACED = 6  # the fewest lines in which doubled blank lines are looked for
_LONGEST_LINE = 4000  # characters; no tool prints longer lines


def typed(key: str, value: str) -> str | int:
    """Return a value as int if the field can only be a whole number; serial numbers, versions and names stay text."""
    if value[-1:].isdigit() and _WHOLE.fullmatch(value) and not _IDENTITY.search(key):
        return int(value)
    return value


def field(line: str, mark: str = ":") -> tuple[str, str] | None:
    """Parse a field: `Raid Level : raid5` → ("Raid Level", "raid5").

    `Device(T:L) : 0,1(1:0)` is ("Device(T:L)", "0,1(1:0)").
    """
    end = line.find(f"{mark} ")
    if end < 0 and not line.rstrip().endswith(mark):
        end = line.find(mark)
    elif end < 0:
        end = len(line.rstrip()) - 1
    key = line[: max(end, 0)].strip()
    return (key, line[end + 1 :].strip()) if key and len(key) <= 120 else None


def put(content: Content, key: str, value: Any) -> None:
    """Set a field of the content; a field that occurs more than once becomes a list."""
    if key not in content:
        content[key] = value
    elif isinstance(content[key], list):
        content[key].append(value)
    else:
        content[key] = [content[key], value]


def table(header: str, rows: Iterable[str]) -> list[Content]:
    """Parse rows under headings, whose columns are separated by positions that are blank in every line.

    A gap that has no heading behind it is one inside a value (`465.25 GB`, `INTEL SSDSC2BB480G4`).
    """
    lines = [row for row in rows if row.strip()]
    if (found := _by_words(header, lines)) is not None:
        return found
    begins = starts(header, lines)
    if not begins:
        return []
    edges = [(start, end) for start, end in pairwise([*begins, max(map(len, [header, *lines])) + 1])]
    keys = [header[start:end].strip() for start, end in edges]
    return [
        {key: typed(key, row[start:end].strip()) for key, (start, end) in zip(keys, edges, strict=True)}
        for row in lines
    ]


def _by_words(header: str, rows: Sequence[str]) -> list[Content] | None:
    """Parse a table in which a page left but one blank between words; None if words and headings do not match.

    There is a word for each heading, except for sizes and the one name that may have several words.
    """
    if not rows or any("  " in line.strip() for line in (header, *rows)):
        return None
    keys, found = header.split(), []
    wide = next((keys.index(key) for key in _OF_SEVERAL_WORDS if key in keys[1:]), len(keys) - 1)
    for row in rows:
        words = [word.replace("\0", " ") for word in _UNIT.sub("\0", row).split()]
        more = len(words) - len(keys)
        if more > 0:
            words[wide : wide + more + 1] = [" ".join(words[wide : wide + more + 1])]
        elif more == -1 and keys[-1] == "Name":
            words.append("")
        if len(words) != len(keys):
            return None
        found.append({key: typed(key, word) for key, word in zip(keys, words, strict=True)})
    return found


def starts(header: str, rows: Sequence[str]) -> list[int]:
    """Return where columns begin: behind a position that is blank in every line, if they have a heading."""
    width = max(map(len, [header, *rows]), default=0)
    if width > 2000:
        return []
    filled = [False] * width
    for line in [header, *rows]:
        for place, letter in enumerate(line):
            if letter != " ":
                filled[place] = True
    gaps = [place for place in range(width) if filled[place] and (place == 0 or not filled[place - 1])]
    return [start for start, end in pairwise([*gaps, width]) if header[start:end].strip()] if gaps else []


def is_prompt(line: str) -> bool:
    return _PROMPT_WORD.match(line) is not None


def host_before(lines: Sequence[str], first: int) -> str:
    """Return the host name of the shell prompt right above the output; '' without one."""
    for line in reversed(lines[max(0, first - 3) : first + 1]):
        if match := _PROMPT.match(line.lstrip()):
            return match[1] or match[2]
    return ""


def inventory(text: SourceText, tool: str, block: Block, summary: str, content: Any) -> ParsedInventory:
    first, end = block
    return ParsedInventory(
        tool=tool,
        summary=" ".join(summary.split())[:_LONGEST_SUMMARY],
        content=content,
        host=host_before(text.lines, first),
        line=text.number(first),
        last_line=text.number(max(first, end - 1)),
    )


def parse_blocks(
    text: SourceText, tool: str, blocks: Callable[[Sequence[str]], Iterable[Block]], read: Read, expected: str
) -> ParsedFile:
    """Parse each block of the text by itself and return what was read and what was broken.

    `read` raises ValueError that says what was expected. A page may have indented only some blocks, so the text is also
    read without its margin, where nothing was read before.

    Raises:
        ParseError: if nothing could be read.
    """
    text = blanked(text)
    found: list[ParsedInventory] = []
    broken: list[Broken] = []
    taken = bytearray(len(text.lines) + 1)  # 1 for each line that a block has used
    for source in sources(text):
        shown = [line[:_LONGEST_LINE] for line in source.lines]
        for first, end in blocks(shown):
            if any(taken[first:end]):
                continue
            taken[first:end] = b"\1" * (end - first)
            lines = shown[first:end]
            try:
                summary, content = read(lines)
            except ValueError as error:
                broken.append(Broken(f"{tool}: not readable", source.number(first), lines[0].strip()[:200], str(error)))
            else:
                found.append(inventory(source, tool, (first, end), summary, content))
        if not any(line.strip() for line, is_taken in zip(text.lines, taken, strict=False) if not is_taken):
            break  # nothing is left that could begin behind a margin
    found.sort(key=lambda one: one.line or 0)
    broken.sort(key=lambda one: one.line or 0)
    return whole(text, tool, found, broken, expected)


def sources(text: SourceText) -> Iterator[SourceText]:
    """Yield the text, then variants without the margin or quote marks that pages and mails put before lines.

    Every variant has as many lines as the text.
    """
    yield text
    if any(line[:1] in _INDENTS and line.strip() for line in text.lines):
        yield unindented(text)
        yield _changed(text, _dedented(text.lines))
    if any(map(_CITED.match, text.lines)):
        yield _changed(text, [_CITED.sub("", line) for line in text.lines])


def has_block(text: SourceText, blocks: Callable[[Sequence[str]], Iterable[Block]]) -> bool:
    """Return whether `parse_blocks` would find something to read."""
    return any(next(iter(blocks(source.lines)), None) is not None for source in sources(text))


def blanked(text: SourceText) -> SourceText:
    """Return the text without no-break spaces and without the blank lines that a page put between all lines.

    Every inventory parser asks for it, first to recognise the text and then to read it, so it is cached on the text.
    """
    if "_blanked" not in text.__dict__:
        text.__dict__["_blanked"] = _single_spaced(_with_blanks(text) if "\xa0" in text.text else text)
    blanked: SourceText = text.__dict__["_blanked"]
    return blanked


def _single_spaced(text: SourceText) -> SourceText:
    """Remove one of the blank lines between two others, and every second one of the rest, if a page doubled them."""
    lines = text.lines if text.text.count("\n\n") * 3 > text.text.count("\n") else ()
    filled = [place for place, line in enumerate(lines) if line and not line.isspace()]
    if len(filled) < _FEWEST_SPACED or sum(after - before == 1 for before, after in pairwise(filled)) * 20 > len(
        filled
    ):
        return text
    kept = [filled[0]]
    for before, after in pairwise(filled):
        kept += [*range(before + 1, before + 1 + (after - before - 2) // 2), after]
    shown = [lines[place] for place in kept]
    spaced = text.with_lines(shown, [text.number(place) for place in kept])
    spaced.__dict__["text"] = "\n".join(shown)
    return spaced


def _with_blanks(text: SourceText) -> SourceText:
    plain = _changed(text, [line.replace("\xa0", " ") for line in text.lines])
    plain.__dict__["text"] = text.text.replace("\xa0", " ")
    return plain


def _dedented(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with each stretch of indented ones dedented."""
    for is_inside, group in groupby(lines, key=lambda line: not line.strip() or line[0] in "\t "):
        stretch = list(group)
        yield from textwrap.dedent("\n".join(stretch)).split("\n") if is_inside else stretch


def unindented(text: SourceText) -> SourceText:
    """Return the text without the four blanks by which wikis and markdown indent code; line numbers stay."""
    return _changed(text, [line.removeprefix("    ") for line in text.lines])


def _changed(text: SourceText, changed: Iterable[str]) -> SourceText:
    lines = list(changed)
    return text.with_lines(lines, text.numbers(0, len(lines)))


def whole(text: SourceText, tool: str, found: list[ParsedInventory], broken: list[Broken], expected: str) -> ParsedFile:
    """Return what was read, broken parts included.

    Raises:
        ParseError: if nothing was read.
    """
    if found:
        return ParsedFile(inventory=tuple(found), broken=tuple(broken))
    if broken:
        first = broken[0]
        raise ParseError(first.message, line=first.line, found=first.found, expected=first.expected)
    line = next((line.strip() for line in text.lines if line.strip()), "nothing")
    raise ParseError(f"no output of {tool} in the text", line=1, found=line, expected=expected)


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def json_values(text: SourceText, broken: list[Broken]) -> Iterator[tuple[Block, Any]]:
    """Yield each JSON document of the text with the indices of its lines; broken JSON is added to `broken`."""
    indices = {text.number(index): index for index in range(len(text.lines) - 1, -1, -1)}
    try:
        for first, last, value in documents_in(text):
            if isinstance(value, Broken):
                broken.append(value)
            else:
                yield (indices[first], indices[last] + 1), value
    except ParseError as error:
        broken.append(error.broken)


def unescaped(value: str) -> str:
    """Decode the hexadecimal escapes that util-linux prints for blanks and the like in names."""
    raw = _ESCAPED.sub(lambda code: chr(int(code[1], 16)), value)
    try:
        return raw.encode("latin-1").decode() if raw != value else value
    except UnicodeError:
        return raw
