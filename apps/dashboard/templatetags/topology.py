"""Findings by rule, and the pages of their parts."""

from collections.abc import Iterable
from dataclasses import dataclass

from django import template

from apps.dashboard.tree import page_of
from apps.inventory.descriptions import Fact
from apps.inventory.findings import Finding
from apps.inventory.findings.rule import PartName

register = template.Library()
FIRST, MOST = 4, 200


@dataclass(frozen=True)
class FindingGroup:
    """All that one rule finds with one severity; of very many the first 200."""

    title: str
    text: str
    severity: str
    first: list[Finding]
    rest: list[Finding]


@register.filter
def by_rule(findings: Iterable[Finding]) -> list[FindingGroup]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.rule, finding.severity), []).append(finding)
    return [
        FindingGroup(some[0].title, some[0].text, some[0].severity, some[:FIRST], some[FIRST:MOST])
        for some in groups.values()
    ]


@register.filter
def known(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if not fact.absence]


@register.filter
def absent_by_word(facts: Iterable[Fact]) -> list[tuple[str, list[str]]]:
    """Return the absent facts by `not_printed`, `unknown` and `none`."""
    result: dict[str, list[str]] = {}
    for fact in facts:
        if fact.absence:
            result.setdefault(fact.absence, []).append(fact.label)
    return list(result.items())


@register.filter
def page(part: PartName) -> str:
    return page_of(part.kind, part.id)
