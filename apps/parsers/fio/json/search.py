"""Search for fio's JSON documents in a text: on lines of their own, between other text, or inside JSON of another program."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from apps.parsers.core.models import ParseError
from apps.parsers.fio.json.documents import VERSION, AnyJob, Decoder, FioDocument, decode_document
from apps.parsers.fio.json.faults import find_no_json, place_error

_BEGINNING = re.compile(r'\{[ \t\r\n]{0,200}"fio version"')
_JSON = json.JSONDecoder()
_MOST_BROKEN = 20
_FALLBACKS = 16  # how many places that are no JSON are tried slowly, so that the worst text takes linear time


def iterate_slices(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where documents may lie: from a line that begins with `{` to the last one with `}` before the next such line."""
    if b"\r{" in data:  # several lines that stood on one line of a page
        data = data.replace(b"\r{", b"\n{").replace(b"\r}", b"\n}")
    starts, behind = [0] if data.startswith(b"{") else [], 0
    while behind := data.find(b"\n{", behind) + 1:
        starts.append(behind)
    for start, following in pairwise([*starts, len(data)]):
        last = data.rfind(b"\n}", start, following)
        yield start, last + 2 if last >= 0 else following


def find_documents(
    data: bytes, decoder: "Decoder[FioDocument[AnyJob]]", broken: list[ParseError] | None = None
) -> Iterator[tuple[int, int, FioDocument[AnyJob]]]:
    """Yield every whole document with its beginning and end, in order; objects that are no report of fio are skipped.

    A report with an invalid value is added to `broken`, or raised where there is no such list. So is a text that has
    fio's version and is no JSON, unless the slow search finds documents where the quick one found none.
    """
    has_any, faults = False, list[ParseError]()
    for start, end in iterate_slices(data):
        if data.find(VERSION, start, end) < 0:
            continue
        try:
            document = decode_document(decoder, data[start:end])
            inside = [] if document or broken is None else _find_hidden(data, start, end, decoder, faults)
        except ParseError as error:
            if broken is None:
                raise place_error(error, data, start, end) from None
            if len(broken) < _MOST_BROKEN:
                broken.append(place_error(error, data, start, end))
            continue
        mine = [(start, end, document)] if document else inside
        has_any = has_any or bool(mine)
        yield from mine
    if not has_any and not broken and VERSION in data:
        for result in _find_slowly(data, decoder):
            has_any, faults = True, []
            yield result
    if broken is not None:
        broken += faults


def _find_hidden(
    data: bytes, start: int, end: int, decoder: "Decoder[FioDocument[AnyJob]]", faults: list[ParseError]
) -> "list[tuple[int, int, FioDocument[AnyJob]]]":
    """Return documents that end before the end of these bytes, or lie in JSON of another program; `faults` gets why there are none."""
    if len(faults) >= _MOST_BROKEN:
        return []
    try:
        last = start + _JSON.raw_decode(_by_bytes(data[start:end]))[1]
    except (ValueError, RecursionError):
        last = start
    document = decode_document(decoder, data[start:last])
    documents = [(start, last, document)] if document else list(_find_inside(data, start, last, decoder))
    if not documents and (fault := find_no_json(decoder.decode, data, start, end)):
        faults.append(fault)
    return documents


def _find_slowly(
    data: bytes, decoder: "Decoder[FioDocument[AnyJob]]"
) -> Iterator[tuple[int, int, FioDocument[AnyJob]]]:
    """Yield documents that are indented as a whole, or share a line with other text: the JSON reader decides where each ends."""
    text, place, left = _by_bytes(data), 0, _FALLBACKS
    while left and (place := text.find("{", place)) >= 0:
        try:
            _, end = _JSON.raw_decode(text, place)
        except (ValueError, RecursionError):
            line_end = text.find("\n", place)
            place, left = line_end if line_end >= 0 else len(text), left - 1
            continue
        if data.find(VERSION, place, end) >= 0:
            document = decode_document(decoder, data[place:end])
            yield from [(place, end, document)] if document else _find_inside(data, place, end, decoder)
        place = end


def _find_inside(
    data: bytes, start: int, end: int, decoder: "Decoder[FioDocument[AnyJob]]"
) -> Iterator[tuple[int, int, FioDocument[AnyJob]]]:
    """Yield documents inside JSON that another program wrote around them; fio's own begin with its version."""
    text, behind = _by_bytes(data[start:end]), 0
    while match := _BEGINNING.search(text, behind):
        try:
            _, behind = _JSON.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return
        place, last = start + match.start(), start + behind
        if (document := decode_document(decoder, data[place:last])) is not None:
            yield place, last, document


def _by_bytes(data: bytes) -> str:
    """Return one character for each byte: JSON's own characters are the same in UTF-8, and offsets are those of the bytes."""
    return data.decode("latin-1")
