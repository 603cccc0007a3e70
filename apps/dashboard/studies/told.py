"""What a report says of itself besides figures: question, source, year, tools, units, remarks, contradictions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.studies.models import Study
from apps.studies.reports import Report

LANGUAGES = {"en": "English", "it": "Italian", "ru": "Russian"}


@dataclass(frozen=True)
class Remark:
    line: str
    text: str
    check: str = ""


@dataclass(frozen=True)
class Tool:
    name: str
    version: str  # empty: not printed
    remark: str
    commands: list[str]


@dataclass(frozen=True)
class Told:
    """Everything is there for a lab's own study as well, from its own fields."""

    year: str
    year_basis: str
    language: str
    source: list[str]
    authors: str = ""
    file: str = ""
    tools: list[Tool] = field(default_factory=list)
    units: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    not_in_report: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)
    notes: str = ""

    @property
    def has_remarks(self) -> bool:
        return bool(self.remarks or self.contradictions or self.not_in_report or self.stated or self.notes)


def told_of(study: Study, report: Report | None) -> Told:
    language = LANGUAGES.get(study.language, study.language)
    source = [line for line in study.source.splitlines() if line]
    if report is None:
        return Told(study.year, "", language, source, notes=study.notes)
    told = report.told
    return Told(
        study.year, str(told.get("year_basis") or told.get("date_printed") or ""), language, source,
        authors=_joined(told.get("authors")),
        file=str(told.get("source_file", "")),
        tools=[_tool(one) for one in told.get("tools", [])],
        units=list(told.get("units", [])),
        remarks=[_remark(one) for one in told.get("author_remarks", [])],
        contradictions=_lines(told.get("contradictions", [])),
        not_in_report=_lines(told.get("not_in_document", [])),
        stated=_lines(told.get("stated_not_measured", [])),
    )  # fmt: skip


def _joined(found: Any) -> str:
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found or "")


def _lines(found: Iterable[Any]) -> list[str]:
    """A sentence with a colon may have been read as a mapping."""
    return [
        "; ".join(f"{name}: {value}" for name, value in one.items()) if isinstance(one, dict) else str(one)
        for one in found
    ]


def _tool(one: dict[str, Any]) -> Tool:
    version = str(one.get("version") or "")
    commands = [str(each) for each in one.get("commands", [one["command"]] if "command" in one else [])]
    remark = str(one.get("note") or one.get("role") or "")
    return Tool(str(one["name"]), "" if version == "not printed" else version, remark, commands)


def _remark(one: dict[str, Any]) -> Remark:
    return Remark(str(one.get("line", "")), str(one["remark"]), str(one.get("check", "")))
