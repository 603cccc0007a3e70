"""Effects of one factor in several matched sets, combined into one answer. Everything is on natural logarithms.

One set gives a log ratio with Welch's variance and degrees of freedom. Several sets are combined by random effects:
between-set variance by restricted maximum likelihood, interval by Hartung and Knapp. Their interval takes its width from
the scatter of the sets alone, so with few sets it is far wider than the runs warrant (two sets: 12.7 standard errors).
With fewer than `ENOUGH_SETS` sets that agree within noise, the spread of the runs is used instead: the inverse-variance
mean with Meier's standard error. `docs/reference/statistics.md` has the formulae, their sources and how often the
intervals hold the truth.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apps.core.student_t import student

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

LEAST_VARIANCE = 1e-6  # of a logarithm: 0.1 %. Equal printed figures hide a spread, and no run repeats better than this
ENOUGH_SETS = 6  # from here on the scatter of the sets alone gives the interval
AGREE = 0.01  # p of the test for heterogeneity below which sets disagree beyond noise
MOST_STEPS = 200
CLOSE = 1e-10


@dataclass(frozen=True)
class Moments:
    """Number, mean and variance (n - 1) of the logarithms of one side's runs."""

    n: int
    mean: float
    variance: float = 0.0

    def __add__(self, other: "Moments") -> "Moments":
        """Return the moments of both groups of runs together (Chan, Golub and LeVeque 1979)."""
        n = self.n + other.n
        apart = other.mean - self.mean
        squares = _squares(self) + _squares(other) + apart**2 * self.n * other.n / n
        return Moments(n, self.mean + apart * other.n / n, squares / (n - 1) if n > 1 else 0.0)


def _squares(moments: Moments) -> float:
    return moments.variance * (moments.n - 1)


@dataclass(frozen=True)
class LogRatio:
    """A log ratio, its variance and Welch and Satterthwaite's degrees of freedom."""

    value: float
    variance: float
    freedom: float

    @property
    def interval(self) -> tuple[float, float]:
        """Return the bounds of the 95 % interval, on logarithms."""
        half = student(self.freedom) * math.sqrt(self.variance)
        return self.value - half, self.value + half


@dataclass(frozen=True)
class Combination:
    """The combined log ratio with its 95 % interval and p.

    `method`: `welch` (one set), `common` (few sets that agree) or `hartung-knapp`. `tau2` is the variance between sets,
    `i2` its share of the whole, `q_p` the probability of so much scatter where all sets have one effect. The prediction
    interval is that of a further set; there is none for fewer than three.
    """

    sets: int
    value: float
    error: float
    freedom: float
    low: float
    high: float
    p: float
    method: str
    tau2: float = 0.0
    i2: float = 0.0
    q: float = 0.0
    q_p: float = 1.0
    prediction: tuple[float, float] | None = None


def log_ratio(ours: Moments, theirs: Moments) -> LogRatio:
    """Return Welch's log ratio of geometric means. Both sides have at least two runs."""
    parts = [max(side.variance, LEAST_VARIANCE) / side.n for side in (ours, theirs)]
    total = sum(parts)
    freedom = total**2 / sum(part**2 / (side.n - 1) for part, side in zip(parts, (ours, theirs), strict=True))
    return LogRatio(ours.mean - theirs.mean, total, freedom)


def combine(effects: Sequence[LogRatio]) -> Combination:
    """Combine the log ratios of at least one set."""
    if len(effects) == 1:
        (only,) = effects
        return _finish(only.value, math.sqrt(only.variance), only.freedom, sets=1, method="welch")
    import numpy as np

    y, v = np.array([effect.value for effect in effects]), np.array([effect.variance for effect in effects])
    freedoms = np.array([effect.freedom for effect in effects])
    q, tau2 = cochran_q(y, v), reml(y, v)
    q_p = welch_anova_p(y, v, freedoms)
    spread: dict[str, Any] = {"sets": len(y), "tau2": tau2, "i2": i_squared(v, tau2), "q": q, "q_p": q_p}
    if len(y) < ENOUGH_SETS and q_p >= AGREE:
        return _finish(*common_effect(y, v, freedoms), method="common", **spread)
    value, error = hartung_knapp(y, v, tau2)
    error = max(error, common_effect(y, v, freedoms)[1])  # no narrower than the runs allow (Knapp and Hartung 2003)
    return _finish(value, error, len(y) - 1, method="hartung-knapp", **spread)


def _finish(value: float, error: float, freedom: float, *, sets: int, method: str, **spread: Any) -> Combination:
    from scipy.special import stdtr

    half = student(freedom) * error
    p = 2 * float(stdtr(freedom, -abs(value) / error)) if error else float(value == 0)
    prediction = None
    if sets > 2:
        wide = student(freedom) * math.sqrt(error**2 + spread["tau2"])
        prediction = (value - wide, value + wide)
    return Combination(
        sets, value, error, freedom, value - half, value + half, p, method, prediction=prediction, **spread
    )


def reml(y: "Vector", v: "Vector") -> float:
    """Return the variance between sets by restricted maximum likelihood, by Fisher's scoring (Viechtbauer 2005)."""
    import numpy as np

    tau2 = max(0.0, float(np.var(y, ddof=1) - v.mean()))
    for _ in range(MOST_STEPS):
        w = 1 / (v + tau2)
        total = w.sum()
        mean = (w * y).sum() / total
        squares = (w**2).sum()
        trace = total - squares / total
        score = (w**2 * (y - mean) ** 2).sum() - trace
        information = squares - 2 * (w**3).sum() / total + (squares / total) ** 2
        step = float(score / information)
        new = max(0.0, tau2 + step)
        if abs(new - tau2) <= CLOSE * (tau2 + float(v.mean())):
            return new
        tau2 = new
    return tau2


def cochran_q(y: "Vector", v: "Vector") -> float:
    """Return Cochran's Q: the weighted squares of the sets about their common mean."""
    w = 1 / v
    mean = (w * y).sum() / w.sum()
    return float((w * (y - mean) ** 2).sum())


def welch_anova_p(y: "Vector", v: "Vector", freedoms: "Vector") -> float:
    """Return p of the test that all sets have one effect (Welch, Biometrika 38, 1951).

    Cochran's Q against χ² takes the variances as known, and with five runs a side finds differences too often.
    """
    from scipy.special import fdtrc

    sets, w = len(y), 1 / v
    inner = float(((1 - w / w.sum()) ** 2 / freedoms).sum())
    statistic = cochran_q(y, v) / (sets - 1) / (1 + 2 * (sets - 2) / (sets**2 - 1) * inner)
    return float(fdtrc(sets - 1, (sets**2 - 1) / (3 * inner), statistic))


def i_squared(v: "Vector", tau2: float) -> float:
    """Return the share of the spread that lies between sets, 0 to 1 (Higgins and Thompson 2002)."""
    w = 1 / v
    typical = (len(v) - 1) * w.sum() / (w.sum() ** 2 - (w**2).sum())
    return float(tau2 / (tau2 + typical))


def common_effect(y: "Vector", v: "Vector", freedoms: "Vector") -> tuple[float, float, float]:
    """Return the inverse-variance mean, its standard error and its degrees of freedom.

    The error allows for weights that are estimated (Meier, Biometrics 9, 1953); without that, intervals are too narrow.
    """
    w = 1 / v
    share = w / w.sum()
    variance = (1 + 4 * (share * (1 - share) / freedoms).sum()) / w.sum()
    return float((share * y).sum()), math.sqrt(variance), float(1 / (share**2 / freedoms).sum())


def hartung_knapp(y: "Vector", v: "Vector", tau2: float) -> tuple[float, float]:
    """Return the random-effects mean and its standard error (Hartung and Knapp 2001), with k - 1 degrees of freedom."""
    w = 1 / (v + tau2)
    mean = (w * y).sum() / w.sum()
    return float(mean), math.sqrt(float((w * (y - mean) ** 2).sum() / (len(y) - 1) / w.sum()))
