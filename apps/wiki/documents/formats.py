"""Formats that depend on the language of a document: numbers, dates, and words for values and verdicts.

Only numbers of our own get the language's decimal mark. What a tool or a report printed stays as it was printed.
"""

import re
from datetime import UTC, datetime

from django.conf import settings
from django.utils import formats
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from apps.comparison.claims.checks import outcomes
from apps.inventory.vocabulary import Absence

ENGLISH = "en"
LANGUAGES = tuple(code for code, _name in settings.LANGUAGES)
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_DATES = {"en": "Y-m-d H:i", "it": "j F Y, H:i", "ru": "j E Y г., H:i"}


def language_for(language: str) -> str:
    """Return the study's own language where documents can be written in it, else English."""
    return language if language in LANGUAGES else ENGLISH


def number(text: str) -> str:
    """Write decimal commas where the language has them: `1.5 MB/s` → `1,5 MB/s`."""
    return _POINT.sub(",", text) if get_language() in ("it", "ru") else text


def date(at: datetime) -> str:
    """Format a time in UTC, such as `21 novembre 2026, 20:30 UTC`."""
    language = get_language() or ENGLISH
    # Django begins the months of Italian with a capital
    return f"{formats.date_format(at.astimezone(UTC), _DATES.get(language, _DATES[ENGLISH])).lower()} UTC"


def absence(reason: str) -> str:
    return {
        Absence.NOT_PRINTED: pgettext("why a field is empty", "not reported"),
        Absence.UNKNOWN: pgettext("why a field is empty", "unknown"),
        Absence.NONE: pgettext("why a field is empty", "none"),
    }[Absence(reason)]


def verdict(word: str) -> str:
    return {
        outcomes.SUPPORTED: _("supported"),
        outcomes.PARTLY: _("partly"),
        outcomes.CONTRADICTED: _("contradicted"),
        outcomes.NOT_SHOWN: _("not shown"),
        outcomes.NOT_CHECKABLE: _("not checkable"),
    }[word]


def language_name(code: str) -> str:
    return {"en": _("English"), "it": _("Italian"), "ru": _("Russian")}.get(code, code)
