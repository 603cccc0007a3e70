"""What a published report says besides its samples: its description, tables and charts, as they lie in `data/<slug>/`.

report_of(study) → Report | None      None for a lab's own study, which has no printed report
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from apps.studies.models import Study
from apps.studies.report.chart_definitions import ChartDefinition, chart_form
from apps.studies.report.table_definitions import TableDefinition, table_form
from apps.studies.source import DATA

Form = TypeVar("Form")
KEPT = ("study.yaml", "results.csv", "provenance.csv", "claims.yaml", "tables.yaml", "charts.yaml")


@dataclass(frozen=True)
class StudyReport:
    slug: str

    @property
    def folder(self) -> Path:
        return DATA / self.slug

    @cached_property
    def told(self) -> Mapping[str, Any]:
        """Return the content of study.yaml."""
        description: dict[str, Any] = self._yaml("study.yaml") or {}
        return description

    @cached_property
    def tables(self) -> dict[str, TableDefinition]:
        return self._forms("tables", table_form)

    @cached_property
    def charts(self) -> dict[str, ChartDefinition]:
        return self._forms("charts", chart_form)

    def _forms(self, kind: str, read: Callable[[Mapping[str, Any]], Form]) -> dict[str, Form]:
        entries = (self._yaml(f"{kind}.yaml") or {}).get(kind) or []
        return {str(entry["name"]): read(entry) for entry in entries}

    def _yaml(self, name: str) -> Any:
        path = self.folder / name
        return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None


@lru_cache(maxsize=32)
def report(slug: str) -> StudyReport:
    """Read a report's files once; they ship with the program and do not change while it runs."""
    return StudyReport(slug)


def report_of(study: Study) -> StudyReport | None:
    """Return the report of a published study; a lab's own study may have the same name, and has none."""
    is_there = study.lab.is_published and (DATA / study.slug / "study.yaml").exists()
    return report(study.slug) if is_there else None
