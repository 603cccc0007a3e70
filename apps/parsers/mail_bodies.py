"""Where the bodies of a mail, or of a mailbox, lie that travel in another form than they were written in (RFC 2045)."""

import re
from collections.abc import Iterator

_BLANK = re.compile(rb"^\r?\n", re.MULTILINE)
_BOUNDARY = re.compile(rb"boundary=\"?([^\s\";]{1,70})", re.IGNORECASE)
_NEXT_MAIL = rb"From \S{1,200} [^\n]{0,80}\d{4}\r?\n"
_MOST_BOUNDARIES = 50


def header(encoding: bytes) -> re.Pattern[bytes]:
    """The line of a header that names this encoding."""
    return re.compile(rb"^content-transfer-encoding:[ \t]*\"?" + encoding, re.IGNORECASE | re.MULTILINE)


def bodies(data: bytes, named: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """(start, end) of each: from the blank line below a header of `named` to the next part or the next mail."""
    ending, place = None, 0
    while (found := named.search(data, place)) and (blank := _BLANK.search(data, found.end())):
        ending = ending or _ending(data)
        end = ending.search(data, blank.end())
        place = end.start() if end else len(data)
        yield blank.end(), place


def _ending(data: bytes) -> re.Pattern[bytes]:
    boundaries = list(dict.fromkeys(_BOUNDARY.findall(data)))[:_MOST_BOUNDARIES]
    return re.compile(b"^(?:%s)" % b"|".join([_NEXT_MAIL, *(b"--" + re.escape(one) for one in boundaries)]), re.M)
