"""Search for the bodies of a mail or mailbox that have a given transfer encoding (RFC 2045)."""

import re
from collections.abc import Iterator

_BLANK = re.compile(rb"^\r?\n", re.MULTILINE)
_BOUNDARY = re.compile(rb"boundary=\"?([^\s\";]{1,70})", re.IGNORECASE)
_NEXT_MAIL = rb"From \S{1,200} [^\n]{0,80}\d{4}\r?\n"
_MOST_BOUNDARIES = 50


def make_header_pattern(encoding: bytes) -> re.Pattern[bytes]:
    """Return the pattern of the header line that names this encoding."""
    return re.compile(rb"^content-transfer-encoding:[ \t]*\"?" + encoding, re.IGNORECASE | re.MULTILINE)


def find_bodies(data: bytes, named: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each body below a header that matches `named`.

    It begins behind the blank line below the header and ends at the next part or the next mail.
    """
    ending, place = None, 0
    while (match := named.search(data, place)) and (blank := _BLANK.search(data, match.end())):
        ending = ending or _make_end_pattern(data)
        end = ending.search(data, blank.end())
        place = end.start() if end else len(data)
        yield blank.end(), place


def _make_end_pattern(data: bytes) -> re.Pattern[bytes]:
    boundaries = list(dict.fromkeys(_BOUNDARY.findall(data)))[:_MOST_BOUNDARIES]
    return re.compile(
        b"^(?:%s)" % b"|".join([_NEXT_MAIL, *(b"--" + re.escape(boundary) for boundary in boundaries)]), re.M
    )
