"""Formatting of log lines: one line per event, of limited length and number, so that strangers can neither fill nor forge the log.

Tracebacks are written for faults of this program only, not for faulty requests.
"""

import logging
import re
import time
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404

from apps.core.server.outages import outage

LONGEST = 1000  # characters of a message
LONGEST_TRACE = 6000  # characters of a trace, of which the end says most
MOST = 50  # lines of one logger and level in
WINDOW = 10.0  # seconds
# Addresses in mails that open something: whoever reads the log shall not be able to.
SECRET = re.compile(r"(/accounts/(?:password/reset/key|email/confirm)/)[^\s/?]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
NOT_OURS = (Http404, PermissionDenied, SuspiciousOperation, BadRequest)  # faults of whoever asked


class LineFormatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (the standard library's name)
        message = SECRET.sub(r"\1…", CONTROL.sub(lambda match: repr(match[0])[1:-1], record.message))
        left_out = getattr(record, "left_out", 0)
        record.message = _shortened(message) + (
            f" (before it {left_out} lines like it were left out)" if left_out else ""
        )
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info and not is_our_fault(record):
            record = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        trace = super().formatException(ei)
        return trace if len(trace) <= LONGEST_TRACE else f"… {trace[-LONGEST_TRACE:]}"


def is_our_fault(record: logging.LogRecord) -> bool:
    """Return whether the traceback helps to repair this program."""
    error = record.exc_info[1] if record.exc_info else None
    status = getattr(record, "status_code", 500)
    return record.levelno >= logging.ERROR and status >= 500 and not isinstance(error, NOT_OURS) and not outage(error)


def _shortened(message: str) -> str:
    return message if len(message) <= LONGEST else f"{message[:LONGEST]}… ({len(message)} characters)"


class FloodFilter(logging.Filter):
    """Lets a number of lines of one logger and level through in each window; the next one says how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[tuple[str, int], list[float]] = {}  # begin, lines

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        window = self._windows.setdefault((record.name, record.levelno), [now, 0])
        if now - window[0] >= WINDOW:
            record.left_out = max(0, int(window[1]) - MOST)
            window[:] = now, 0
        window[1] += 1
        return window[1] <= MOST
