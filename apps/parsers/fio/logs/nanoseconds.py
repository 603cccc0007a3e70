"""Parser of fio's logs whose latencies are ns, for users who know which fio wrote them.

The logs do not tell (`units.py`), and the wrong unit is off by a factor of a thousand. It is never recognised by
itself.
"""

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.logs import format as logs_format

NAME = "fio log ns"
TITLE = "fio log, latencies in ns (fio 2.99 and later)"
IS_ASKED_FOR = True


def looks_like(text: SourceText) -> float:
    """Return 0: the format is only used where a user chooses it."""
    return 0.0


def parse(text: SourceText) -> ParsedFile:
    """Parse a log as `format.parse` does, with latencies in ns."""
    return logs_format.parse(text, "ns")
