"""fio's logs whose latencies are ns, by the word of somebody who knows which fio wrote them: the logs do not tell
(`fio_log_units`), and the wrong unit is a thousand times off. Never recognised by itself.
"""

from apps.parsers import fio_logs
from apps.parsers.shape import ParsedFile
from apps.parsers.source_text import SourceText

NAME = "fio log ns"
TITLE = "fio log, latencies in ns (fio 2.99 and later)"
IS_ASKED_FOR = True


def looks_like(text: SourceText) -> float:
    return 0.0


def parse(text: SourceText) -> ParsedFile:
    """As `fio_logs.parse`."""
    return fio_logs.parse(text, "ns")
