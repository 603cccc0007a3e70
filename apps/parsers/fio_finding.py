"""Where fio's JSON documents lie in a text: on lines of their own, between other text, or inside of JSON that somebody's program wrote
around them.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from apps.parsers.fio_documents import VERSION, AnyJob, Decoder, Document, decoded
from apps.parsers.fio_faults import no_json, placed
from apps.parsers.shape import ParseError

_BEGINNING = re.compile(r'\{[ \t\r\n]{0,200}"fio version"')
_JSON = json.JSONDecoder()
_MOST_BROKEN = 20
_FALLBACKS = 16  # how many places that are no JSON may be tried the slow way: keeps the worst text linear


def slices(data: bytes) -> Iterator[tuple[int, int]]:
    """Where documents may lie: from a line that begins with `{` to the last one with `}` before the next such."""
    if b"\r{" in data:  # a line of a page that became several
        data = data.replace(b"\r{", b"\n{").replace(b"\r}", b"\n}")
    starts, behind = [0] if data.startswith(b"{") else [], 0
    while behind := data.find(b"\n{", behind) + 1:
        starts.append(behind)
    for start, following in pairwise([*starts, len(data)]):
        last = data.rfind(b"\n}", start, following)
        yield start, last + 2 if last >= 0 else following


def find(
    data: bytes, decoder: "Decoder[Document[AnyJob]]", broken: list[ParseError] | None = None
) -> Iterator[tuple[int, int, Document[AnyJob]]]:
    """Every whole document with where it begins and ends, in order. Something in braces that is no fio report is passed
    over. A report with a value that cannot be is put into `broken`, or raised where there is no such list; so is what
    says fio's version and is no JSON, unless the slow way finds documents where the quick one found none.
    """
    found, faults = False, list[ParseError]()
    for start, end in slices(data):
        if data.find(VERSION, start, end) < 0:
            continue
        try:
            document = decoded(decoder, data[start:end])
            inside = [] if document or broken is None else _otherwise(data, start, end, decoder, faults)
        except ParseError as error:
            if broken is None:
                raise placed(error, data, start, end) from None
            if len(broken) < _MOST_BROKEN:
                broken.append(placed(error, data, start, end))
            continue
        mine = [(start, end, document)] if document else inside
        found = found or bool(mine)
        yield from mine
    if not found and not broken and VERSION in data:
        for one in _find_slowly(data, decoder):
            found, faults = True, []
            yield one
    if broken is not None:
        broken += faults


def _otherwise(
    data: bytes, start: int, end: int, decoder: "Decoder[Document[AnyJob]]", faults: list[ParseError]
) -> "list[tuple[int, int, Document[AnyJob]]]":
    """What ends before the end of these bytes, or is inside of somebody's JSON; where they are no JSON, why, into `faults`."""
    if len(faults) >= _MOST_BROKEN:
        return []
    try:
        last = start + _JSON.raw_decode(_by_bytes(data[start:end]))[1]
    except (ValueError, RecursionError):
        last = start
    document = decoded(decoder, data[start:last])
    found = [(start, last, document)] if document else list(_find_inside(data, start, last, decoder))
    if not found and (fault := no_json(decoder.decode, data, start, end)):
        faults.append(fault)
    return found


def _find_slowly(data: bytes, decoder: "Decoder[Document[AnyJob]]") -> Iterator[tuple[int, int, Document[AnyJob]]]:
    """Documents that are indented as a whole, or share a line with other text: the JSON reader says where each ends."""
    text, place, left = _by_bytes(data), 0, _FALLBACKS
    while left and (place := text.find("{", place)) >= 0:
        try:
            _, end = _JSON.raw_decode(text, place)
        except (ValueError, RecursionError):
            line_end = text.find("\n", place)
            place, left = line_end if line_end >= 0 else len(text), left - 1
            continue
        if data.find(VERSION, place, end) >= 0:
            document = decoded(decoder, data[place:end])
            yield from [(place, end, document)] if document else _find_inside(data, place, end, decoder)
        place = end


def _find_inside(
    data: bytes, start: int, end: int, decoder: "Decoder[Document[AnyJob]]"
) -> Iterator[tuple[int, int, Document[AnyJob]]]:
    """Documents inside of JSON that somebody's program wrote around them; fio's own begin with its version."""
    text, behind = _by_bytes(data[start:end]), 0
    while match := _BEGINNING.search(text, behind):
        try:
            _, behind = _JSON.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return
        place, last = start + match.start(), start + behind
        if (document := decoded(decoder, data[place:last])) is not None:
            yield place, last, document


def _by_bytes(data: bytes) -> str:
    """One character for each byte: what JSON is made of is the same in UTF-8, and places are the bytes'."""
    return data.decode("latin-1")
