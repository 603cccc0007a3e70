"""Definitions of a report's charts, as they stand in charts.yaml: its own words, and how they are drawn from samples.

name, title, note
report: {kind, x, y, series, comment, source_lines}    the report's own caption, axes and scale, as free text
not_drawn: why it cannot be drawn                      instead of `drawn`
drawn:
  kind: line                                           line, bar, paired, heat; or topology, with `host`
  pick: {operation: write}                             what all points have in common
  x: {title, places: [{label, pick, by_series: {series' label: pick}, absent: {series' label: why}}]}
  y: {title, unit, factor, scale: linear, low: 0, high: 350000}     in the unit of the axis
  series: [{label, pick, absent: why places without a sample have none}]
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.studies.report.sample_selection import NAMES, Pick
from apps.studies.report.table_definitions import FormError

KINDS = ("line", "bar", "paired", "heat", "topology")
SCALES = ("linear", "log")
REPORTED = {
    "kind": "Kind", "x": "Across", "y": "Upwards", "z": "Height or colour", "series_in_legend_order": "Series, in the legend's order",
    "series": "Series", "points_per_series": "Points of each series", "nodes": "Nodes", "edges": "Links",
    "related_configuration": "Belongs to", "host": "Host", "comment": "Remark", "source_lines": "Lines of the report",
}  # fmt: skip


@dataclass(frozen=True)
class AxisPlace:
    label: str
    pick: Pick = field(default_factory=dict)
    by_series: Mapping[str, Pick] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeriesDefinition:
    label: str
    pick: Pick = field(default_factory=dict)
    absent: str = ""


@dataclass(frozen=True)
class AxisForm:
    """`factor`: base units in one of the axis; `low` and `high` in the axis's own unit."""

    title: str
    unit: str = ""
    factor: float = 1.0
    scale: str = "linear"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Drawn:
    kind: str
    pick: Pick
    x_title: str
    places: tuple[AxisPlace, ...]
    y: AxisForm
    series: tuple[SeriesDefinition, ...]
    host: str = ""


@dataclass(frozen=True)
class ChartDefinition:
    name: str
    title: str
    reported: tuple[tuple[str, str], ...]  # the report's own words, labelled
    drawn: Drawn | None
    not_drawn: str = ""
    note: str = ""

    @property
    def is_topology(self) -> bool:
        return self.drawn is not None and self.drawn.kind == "topology"

    @property
    def is_chart(self) -> bool:
        return self.drawn is not None and not self.is_topology


def chart_form(entry: Mapping[str, Any]) -> ChartDefinition:
    """Parse an entry of charts.yaml.

    Raises:
        FormError: It does not fit.
    """
    name = str(entry.get("name") or "")
    if not name:
        raise FormError("a chart", entry.get("title"), "a name")
    if ("drawn" in entry) == ("not_drawn" in entry):
        raise FormError(name, sorted(entry), "either `drawn` or `not_drawn`")
    reported = entry.get("report", {})
    return ChartDefinition(
        name=name,
        title=str(entry.get("title", name)),
        reported=tuple((word, in_words(reported[key])) for key, word in REPORTED.items() if reported.get(key)),
        drawn=_drawn(name, entry["drawn"]) if "drawn" in entry else None,
        not_drawn=str(entry.get("not_drawn", "")),
        note=str(entry.get("note", "")),
    )


def in_words(described: object) -> str:
    """Format what a report says of an axis: `{label: file size, unit: MB, scale: category}` → `file size; MB; category`."""
    if isinstance(described, Mapping) and "label" in described:
        limits = f"{described['min']} to {described['max']}" if {"min", "max"} <= set(described) else ""
        ticks = f"ticks {in_words(described['ticks'])}" if described.get("ticks") else ""
        named = [
            str(described["label"]),
            str(described.get("unit", "")),
            str(described.get("scale", "")),
            limits,
            ticks,
        ]
        return "; ".join(filter(None, named))
    if isinstance(described, Mapping):
        return "; ".join(f"{name}: {in_words(value)}" for name, value in described.items())
    return ", ".join(map(in_words, described)) if isinstance(described, list) else str(described)


def _drawn(name: str, reported: Mapping[str, Any]) -> Drawn:
    if reported.get("kind") not in KINDS:
        raise FormError(name, reported.get("kind"), f"one of: {', '.join(KINDS)}")
    if reported["kind"] == "topology":
        return Drawn("topology", {}, "", (), AxisForm(""), (), str(reported["host"]))
    y = AxisForm(**reported["y"])
    if y.scale not in SCALES:
        raise FormError(name, y.scale, f"one of: {', '.join(SCALES)}")
    places = tuple(AxisPlace(**place) for place in reported["x"]["places"])
    series = tuple(SeriesDefinition(**entry) for entry in reported["series"])
    common = reported.get("pick", {})
    picks = [common, *(place.pick for place in places), *(drawn.pick for drawn in series)]
    picks += [pick for place in places for pick in place.by_series.values()]
    for pick in picks:
        if strange := sorted(set(pick) - set(NAMES)):
            raise FormError(name, strange[0], f"one of: {', '.join(NAMES)}")
    return Drawn(reported["kind"], common, str(reported["x"]["title"]), places, y, series)
