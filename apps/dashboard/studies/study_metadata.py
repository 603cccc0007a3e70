"""The metadata of a report: question, source, year, tools, units, remarks, contradictions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.studies.models import Study
from apps.studies.report_files import StudyReport

LANGUAGES = {"en": "English", "it": "Italian", "ru": "Russian"}


@dataclass(frozen=True)
class AuthorRemark:
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
class StudyMetadata:
    """Everything is there for a lab's own study as well, from its own fields."""

    year: str
    year_basis: str
    language: str
    source: list[str]
    authors: str = ""
    file: str = ""
    tools: list[Tool] = field(default_factory=list)
    units: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[AuthorRemark] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    not_in_report: list[str] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)
    notes: str = ""

    @property
    def has_remarks(self) -> bool:
        return bool(self.remarks or self.contradictions or self.not_in_report or self.stated or self.notes)


def told_of(study: Study, report: StudyReport | None) -> StudyMetadata:
    language = LANGUAGES.get(study.language, study.language)
    source = [line for line in study.source.splitlines() if line]
    if report is None:
        return StudyMetadata(study.year, "", language, source, notes=study.notes)
    reported = report.told
    return StudyMetadata(
        study.year, str(reported.get("year_basis") or reported.get("date_printed") or ""), language, source,
        authors=_joined(reported.get("authors")),
        file=str(reported.get("source_file", "")),
        tools=[_tool(tool) for tool in reported.get("tools", [])],
        units=list(reported.get("units", [])),
        remarks=[_remark(remark) for remark in reported.get("author_remarks", [])],
        contradictions=_lines(reported.get("contradictions", [])),
        not_in_report=_lines(reported.get("not_in_document", [])),
        stated=_lines(reported.get("stated_not_measured", [])),
    )  # fmt: skip


def _joined(result: object) -> str:
    return ", ".join(map(str, result)) if isinstance(result, list) else str(result or "")


def _lines(result: Iterable[object]) -> list[str]:
    """Return the entries as text; YAML reads a sentence with a colon as a mapping."""
    return [
        "; ".join(f"{name}: {value}" for name, value in item.items()) if isinstance(item, dict) else str(item)
        for item in result
    ]


def _tool(item: dict[str, Any]) -> Tool:
    version = str(item.get("version") or "")
    commands = [str(each) for each in item.get("commands", [item["command"]] if "command" in item else [])]
    remark = str(item.get("note") or item.get("role") or "")
    return Tool(str(item["name"]), "" if version == "not printed" else version, remark, commands)


def _remark(item: dict[str, Any]) -> AuthorRemark:
    return AuthorRemark(str(item.get("line", "")), str(item["remark"]), str(item.get("check", "")))
