"""Template filters for parts, facts and runs."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext

from apps.comparison.labels import IN_BYTES, YES_OR_NO, label_of, operation_of
from apps.core import units
from apps.inventory.vocabulary import Absence
from apps.runs.host_guards.labels import label_guard
from apps.runs.metrics import METRICS

register = template.Library()
MOST = 1e30  # of what units are found for; NaN and infinity are not below it

WHY = {
    Absence.NOT_PRINTED: "The source does not print it; the machine may well have it.",
    Absence.UNKNOWN: "Nobody has said, and no tool reported it.",
    Absence.NONE: "There is none.",
}


@register.simple_tag
def absence(part: Any, field: str) -> SafeString:
    """Return `not reported`, `unknown` or `none` as markup that tells them apart."""
    return why_empty(part.absent.get(field, Absence.UNKNOWN))


@register.filter
def why_empty(reason: str) -> SafeString:
    word = Absence(reason)
    label = pgettext("why a field is empty", str(word.label))
    return format_html('<span class="absent absent-{}" title="{}">{}</span>', word.value, WHY[word], label)


@register.filter
def items_sorted(mapping: object) -> list[tuple[str, Any]]:
    """Return a mapping's pairs sorted by name."""
    return sorted(mapping.items()) if isinstance(mapping, dict) else []


@register.filter
def words(name: object) -> str:
    """Return a name in words: `raid_level` → `raid level`."""
    return str(name).replace("_", " ")


register.filter("fact_name", label_of)
register.filter("guard_name", label_guard)


@register.filter
def fact_value(value: Any, name: str) -> Any:
    """Return a fact's value for people: a size where the fact is one, and yes or no where it is stored as 1 or 0."""
    if name in IN_BYTES:
        return bytes_or_text(value)
    return shown(bool(value) if name in YES_OR_NO and value in (0, 1) else value)


@register.filter
def operation_name(name: str) -> str:
    """Return an operation in the reader's words: `randread` → `random read`."""
    return gettext(operation_of(name))


@register.filter
def metric_name(name: str) -> str:
    """Return a metric in the reader's words: `clat_p99` → `p99 completion latency (clat)`."""
    return gettext(METRICS[name].label) if name in METRICS else words(name)


@register.filter
def shown(value: object) -> Any:
    """Return a fact's value for people: lists joined, booleans in words, a dash for nothing."""
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(str(item) for item in value) if isinstance(value, list) else value


@register.filter
def json_text(value: object) -> str:
    """Return indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _is_number(value: object) -> bool:
    """Return whether the value is a size or a time that units can express; hosts and files may have given anything."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST


@register.filter
def bytes_or_text(value: Any) -> Any:
    """Return a fact in bytes as a size, and a word (`none`, `not printed`) as it is."""
    return units.size(value) if _is_number(value) else shown(value)


@register.filter
def percent(fraction: Any) -> str:
    """Return a fraction in percent: `0.425` → `42 %`."""
    return f"{int(float(fraction or 0) * 100)}{units.NO_BREAK}%" if _is_number(fraction or 0) else str(shown(fraction))


@register.filter
def unlocalized(value: Any) -> str:
    """Return a number as attributes and scripts need it."""
    return units.machine(value)


@register.filter
def took(run: Any) -> str:
    """Return how long a run took from start to end."""
    return units.elapsed(run.seconds)


@register.filter
def seconds(value: Any) -> str:
    """Return seconds as a duration, `95.2` → `1 min 35 s`, and anything else as it is."""
    return units.elapsed(value) if _is_number(value) else str(shown(value))


@register.filter
def words_in(text: str) -> list[str]:
    return text.split()


@register.filter
def field_named(form: Any, name: str) -> Any:
    return form[name]


@register.filter
def policy_word(name: str) -> str:
    """Return a setting of the agent's policy in words: `max_runtime_s` → `at most runtime`."""
    bare = name.removesuffix("_s").removesuffix("_bytes").replace("_", " ")
    return bare.replace("max ", "largest ")
