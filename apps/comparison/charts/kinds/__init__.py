"""The kinds of charts, one module for each; a module with a `KIND` is found by itself.

The same kind is drawn on pages by its entry of `KINDS` in `static/js/chart-marks.js`.
"""

import importlib
import pkgutil

from apps.comparison.charts.chart import ChartKind
from apps.comparison.charts.chart_kind import DrawnKind


def _load() -> dict[ChartKind, DrawnKind]:
    """Return all kinds in the order of `ChartKind`."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    drawn: dict[ChartKind, DrawnKind] = {module.KIND.kind: module.KIND for module in modules}
    return {kind: drawn[kind] for kind in ChartKind}


KINDS = _load()
