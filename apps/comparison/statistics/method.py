"""The statistical methods of a comparison in words; only those that were used."""

from collections.abc import Iterator

from apps.comparison.cells import Comparison
from apps.comparison.statistics.ratios import ENOUGH_FOR_BOOTSTRAP, ENOUGH_FOR_SHAPE, RESAMPLES
from apps.comparison.statistics.summary import ENOUGH, OUTLIER

RATIOS = {
    "welch": "Welch's 95 % interval on logarithms around the ratio of geometric means",
    "bootstrap": f"the BCa bootstrap's 95 % interval of the ratio of medians (fixed seed, {RESAMPLES} resamples)",
}
WITHHELD = (
    "Cells that hold unlike configurations have no interval and no verdict; nor have cells that differ from the "
    "baseline's in more than what is compared, or may differ in what is known of neither."
)
WHEN = (
    f"The bootstrap stands where the data are skewed, and with {ENOUGH_FOR_BOOTSTRAP} to {ENOUGH_FOR_SHAPE - 1} runs "
    "where it is the wider of the two."
)


def method_of(comparison: Comparison) -> str:
    return " ".join(_sentences(comparison))


def _sentences(comparison: Comparison) -> Iterator[str]:
    cells = comparison.cells
    if any(cell.merged is not None for cell in cells):
        yield "Percentiles of several runs are of their merged histograms, never averages of percentiles."
    if any(cell.mean is not None for cell in cells):
        yield f"Means, with Student's 95 % interval from {ENOUGH} runs on; one run has no interval."
    used = [text for name, text in RATIOS.items() if any(cell.method == name for cell in cells)]
    if used:
        yield f"Ratios with {', or '.join(used)}, from {ENOUGH} runs on each side."
    if any(cell.method == "bootstrap" for cell in cells):
        yield WHEN
    if any(cell.withheld for cell in cells):
        yield WITHHELD
    if comparison.correction:
        yield _correction(comparison.correction.tests, comparison.correction.level)
    if any(cell.outliers for cell in cells):
        yield f"Outliers lie beyond {OUTLIER} scaled median absolute deviations; they are marked and not left out."
    if any(cell.modes for cell in cells):
        yield "Two modes: Hartigan's dip test finds that the runs of a cell do not have one speed."


def _correction(tests: int, level: float) -> str:
    if tests == 1:
        return f"A verdict needs p < {level:.2f}. g is Hedges' effect size."
    return f"A verdict needs p < {level:.2f} after Holm's correction for {tests} cells. g is Hedges' effect size."
