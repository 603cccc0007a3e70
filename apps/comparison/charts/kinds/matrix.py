"""A matrix of configurations and places, with holes where nothing was measured."""

from apps.comparison.charts.chart import ChartKind
from apps.comparison.charts.chart_kind import DrawnKind
from apps.comparison.charts.kinds import heat

KIND = DrawnKind(ChartKind.MATRIX, "Matrix", heat.draw, "Matrix with holes")
