"""What templates of inventory and run pages say in many places."""

import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import pgettext

from apps.comparison.words import label_of
from apps.inventory.vocabulary import Absence
from apps.lib import units

register = template.Library()

WHY = {
    Absence.NOT_PRINTED: "The source does not print it; the machine may well have it.",
    Absence.UNKNOWN: "Nobody has said, and no tool reported it.",
    Absence.NONE: "There is none.",
}


@register.simple_tag
def absence(part: Any, field: str) -> SafeString:
    """`not printed`, `unknown` or `none`, each shown as what it is."""
    return why_empty(part.absent.get(field, Absence.UNKNOWN))


@register.filter
def why_empty(reason: str) -> SafeString:
    word = Absence(reason)
    label = pgettext("why a field is empty", str(word.label))
    return format_html('<span class="absent absent-{}" title="{}">{}</span>', word.value, WHY[word], label)


@register.filter
def items_sorted(mapping: Any) -> list[tuple[str, Any]]:
    """A mapping's pairs in the order of their names, for facts and labels."""
    return sorted(mapping.items()) if isinstance(mapping, dict) else []


@register.filter
def words(name: Any) -> str:
    """`raid_level` → `raid level`."""
    return str(name).replace("_", " ")


register.filter("fact_name", label_of)


@register.filter
def shown(value: Any) -> Any:
    """A fact's value for people: lists joined, booleans in words, nothing as a dash."""
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(str(one) for one in value) if isinstance(value, list) else value


@register.filter
def json_text(value: Any) -> str:
    """Indented JSON, to read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def bytes_or_text(value: Any) -> Any:
    """A fact in bytes as a size; one that is a word (`none`, `not printed`) as it is."""
    return units.size(value) if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)


@register.filter
def percent(fraction: Any) -> str:
    """`0.425` → `42 %`."""
    return f"{int(float(fraction or 0) * 100)}{units.NO_BREAK}%"


@register.filter
def unlocalized(value: Any) -> str:
    """A number as attributes and scripts want it."""
    return units.machine(value)


@register.filter
def took(run: Any) -> str:
    """How long a run took, from its start to its end."""
    return units.elapsed(run.seconds)


@register.filter
def seconds(value: Any) -> str:
    """`95.2` → `1 min 35 s`."""
    return units.elapsed(value)


@register.filter
def words_in(text: str) -> list[str]:
    return text.split()


@register.filter
def field_named(form: Any, name: str) -> Any:
    return form[name]


@register.filter
def policy_word(name: str) -> str:
    """`max_runtime_s` → `at most runtime`: the agent's policy in words."""
    bare = name.removesuffix("_s").removesuffix("_bytes").replace("_", " ")
    return bare.replace("max ", "largest ")
