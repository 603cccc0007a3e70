"""A check as a sentence for people."""

from apps.comparison.claims.checks.amounts import format_range
from apps.comparison.claims.checks.definition import (
    AnyCheck,
    Arithmetic,
    Equality,
    Monotony,
    NotCheckable,
    Ranking,
    RatioCheck,
    SampleGroup,
    Sets,
    Stated,
    Term,
    TextAgainstTable,
    Threshold,
    Where,
)
from apps.comparison.claims.checks.terms import Labels, name_of, unit_of
from apps.comparison.labels import label_of, text_of
from apps.core.units import significant

_SIGNS = {"sum": " + ", "difference": " − ", "product": " × ", "quotient": " ÷ "}
_BOUNDS = {"at_least": "at least", "above": "above", "at_most": "at most", "below": "below"}
_ALIKE = ("sum", "difference")  # what these make has the unit of its parts
_RELATIONS = {
    "disjoint": "share nothing", "equal": "are the same", "subset": "lie one in the other", "count": "have {} each",
}  # fmt: skip


def sentence_of(check: AnyCheck, labels: Labels) -> str:
    """Return a check as a sentence, such as `largest read bandwidth of a > largest read bandwidth of b; for each file size`."""
    per = f"; for each {' and '.join(label_of(name) for name in check.per)}" if check.per else ""
    denied = "not so: " if check.is_denied else ""
    return f"{denied}{_describe_term(check, labels)}{per}"


def _describe_term(check: AnyCheck, labels: Labels) -> str:
    if isinstance(check, Ranking):
        return (" > " if check.is_strict else " ≥ ").join(term_words(term, labels) for term in check.chain)
    if isinstance(check, NotCheckable):
        return check.reason
    if isinstance(check, Sets):
        return f"{', '.join(one.name for one in check.sets)} {_RELATIONS[check.relation].format(check.count)}"
    return _of_one(check, labels)


def _of_one(check: RatioCheck | Threshold | Equality | Monotony | TextAgainstTable, labels: Labels) -> str:
    of = term_words(check.of, labels)
    if isinstance(check, RatioCheck):
        bounds = [f"{words} {significant(b)}" for n, words in _BOUNDS.items() if (b := getattr(check, n)) is not None]
        return f"{of} ÷ {term_words(check.over, labels)} is {' and '.join(bounds)}"
    if isinstance(check, Threshold):
        limits = [
            f"{words} {term_words(b, labels)}" for n, words in _BOUNDS.items() if (b := getattr(check, n)) is not None
        ]
        return f"{of} is {' and '.join(limits)}"
    if isinstance(check, Equality):
        return f"{of} = {term_words(check.to, labels)}{_margin(check)}"
    if isinstance(check, Monotony):
        slack = f", slips of {format_range(check.slack, check.slack, 'fraction')} allowed" if check.slack else ""
        return f"{of} is {check.direction} along {label_of(check.along)}{slack}"
    quoted = check.quoted
    text = (quoted.text or f"{quoted.value} {quoted.unit}") if quoted else ""
    return f"the text's “{text}” is {of}"


def _margin(check: Equality) -> str:
    if check.relative:
        return f" within {format_range(check.relative, check.relative, 'fraction')}"
    return f" within {format_range(check.absolute, check.absolute, _unit_of(check.of))}" if check.absolute else ""


def _unit_of(term: Term | None) -> str:
    if isinstance(term, Arithmetic):
        return next((unit for part in term.of if (unit := _unit_of(part))), "") if term.operator in _ALIKE else ""
    return unit_of(term) if isinstance(term, SampleGroup) else term.unit if term else ""


def term_words(term: Term | None, labels: Labels) -> str:
    if isinstance(term, SampleGroup):
        conditions = "" if term.name else ", ".join(_condition(condition) for condition in term.where)
        return f"{name_of(term, labels)} ({conditions})" if conditions else name_of(term, labels)
    if isinstance(term, Stated):
        return term.name or format_range(term.value, term.value, term.unit)
    if isinstance(term, Arithmetic):
        return term.name or f"({_SIGNS[term.operator].join(term_words(part, labels) for part in term.of)})"
    return "–"


def _condition(condition: Where) -> str:
    name = label_of(condition.name)
    if condition.is_unknown:
        return f"{name} unknown"
    parts = [f"{text_of(condition.name, b)}" for b in condition.equals]
    said_bounds = [
        f"{words} {text_of(condition.name, b)}"
        for n, words in _BOUNDS.items()
        if (b := getattr(condition, n)) is not None
    ]
    return f"{name} {' or '.join(parts)}{' and '.join(said_bounds)}"
