"""Random effects held against the published results of R's metafor.

Data and results: the worked examples of the metafor package (Viechtbauer, Journal of Statistical Software 36(3), 2010):
its README and its tests `test_analysis_example_raudenbush2009.r`, `test_analysis_example_normand1999.r` and
`test_misc_influence.r`.
"""

import math

import numpy as np
import pytest
from scipy import stats

from apps.comparison.statistics.meta_analysis import (
    AGREE,
    ENOUGH_SETS,
    LogRatio,
    Moments,
    cochran_q,
    combine,
    common_effect,
    hartung_knapp,
    i_squared,
    log_ratio,
    reml,
    welch_anova_p,
)
from apps.core.student_t import student

# Thirteen trials of the BCG vaccine (Colditz and others, JAMA 271, 1994): ill and well, vaccinated and not.
BCG = (
    (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
    (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232), (17, 1699, 65, 1600),
    (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825),
)  # fmt: skip
# Nineteen studies of teachers' expectations (Raudenbush and Bryk 1985): standardised differences and their variances.
EXPECTATIONS = (
    (0.03, 0.0156), (0.12, 0.0216), (-0.14, 0.0279), (1.18, 0.1391), (0.26, 0.1362), (-0.06, 0.0106), (-0.02, 0.0106),
    (-0.32, 0.0484), (0.27, 0.0269), (0.80, 0.0630), (0.54, 0.0912), (0.18, 0.0497), (-0.02, 0.0835), (0.23, 0.0841),
    (-0.18, 0.0253), (-0.06, 0.0279), (0.30, 0.0193), (0.07, 0.0088), (-0.07, 0.0303),
)  # fmt: skip
# Nine studies of the length of stay in hospital (Normand 1999, table VIII): differences in days and their variances.
STAYS = (
    (-20.0, 40.5863), (-2.0, 2.0468), (-55.0, 15.2809), (-71.0, 150.2222), (-4.0, 20.1923), (1.0, 1.2235),
    (11.0, 95.3756), (-10.0, 8.0321), (7.0, 20.6936),
)  # fmt: skip
# Six studies of lidocaine (Hine and others 1989, in Normand 1999, table III): differences of risks in percent.
LIDOCAINE = (
    (2.8026, 17.7575), (0.0, 37.5657), (1.9711, 8.1323), (1.7961, 10.8998), (3.5334, 8.0114), (4.4031, 6.1320),
)  # fmt: skip


def arrays(rows):
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def risk_ratios():
    y = [math.log(a / (a + b) * (c + d) / c) for a, b, c, d in BCG]
    v = [1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) for a, b, c, d in BCG]
    return np.array(y), np.array(v)


def test_bcg_vaccine() -> None:
    y, v = risk_ratios()
    assert reml(y, v) == pytest.approx(0.313243325980895, rel=1e-6)
    assert cochran_q(y, v) == pytest.approx(152.233008082373)
    assert i_squared(v, reml(y, v)) == pytest.approx(0.9222139, abs=1e-6)
    mean, error = hartung_knapp(y, v, reml(y, v))
    half = student(12) * error  # `test="knha"`, as the package's README prints it
    assert (error, mean / error) == (pytest.approx(0.1808, abs=5e-5), pytest.approx(-3.9522, abs=5e-5))
    assert (mean - half, mean + half) == (pytest.approx(-1.1084, abs=5e-5), pytest.approx(-0.3206, abs=5e-5))
    wald = math.sqrt(1 / (1 / (v + reml(y, v))).sum())
    bounds = [math.exp(mean + sign * 1.959964 * wald) for sign in (-1, 1)]
    assert bounds == pytest.approx([0.3441, 0.6962], abs=5e-5)  # predict(res, transf=exp) of dat.bcg
    assert mean == pytest.approx(-0.7145, abs=5e-5)


def test_teachers_expectations_by_knapp_and_hartung() -> None:
    """Raudenbush 2009, table 16.3, as metafor repeats it: REML with `test="knha"`."""
    y, v = arrays(EXPECTATIONS)
    assert reml(y, v) == pytest.approx(0.0188, abs=5e-5)
    assert cochran_q(y, v) == pytest.approx(35.8295, abs=1e-4)
    mean, error = hartung_knapp(y, v, reml(y, v))
    assert (mean, error) == (pytest.approx(0.0837, abs=5e-5), pytest.approx(0.0616, abs=5e-5))
    assert mean / error == pytest.approx(1.3593, abs=1e-3)
    half = student(18) * error
    assert (mean - half, mean + half) == (pytest.approx(-0.0457, abs=5e-5), pytest.approx(0.2131, abs=5e-5))


def test_stays_in_hospital() -> None:
    y, v = arrays(STAYS)
    assert reml(y, v) == pytest.approx(685.1965, abs=1e-3)
    mean, _ = hartung_knapp(y, v, reml(y, v))
    assert mean == pytest.approx(-15.1217, abs=1e-4)
    wald = 1.959964 * math.sqrt(1 / (1 / (v + reml(y, v))).sum())
    assert (mean - wald, mean + wald) == (pytest.approx(-32.6716, abs=1e-3), pytest.approx(2.4282, abs=1e-3))


def test_lidocaine_has_no_spread_between_studies() -> None:
    y, v = arrays(LIDOCAINE)
    assert reml(y, v) == 0.0
    assert hartung_knapp(y, v, 0.0)[0] == pytest.approx(2.9444, abs=1e-4)
    known = np.full(6, 1e9)  # degrees of freedom: variances that are known
    mean, error, _ = common_effect(y, v, known)
    assert (mean - 1.959964 * error, mean + 1.959964 * error) == (
        pytest.approx(0.3831, abs=1e-3),
        pytest.approx(5.5058, abs=1e-3),
    )


def test_one_set_is_welchs_test() -> None:
    random = np.random.default_rng(5)
    ours, theirs = random.normal(0.1, 0.03, 7), random.normal(0, 0.05, 4)
    sides = [Moments(len(side), float(side.mean()), float(side.var(ddof=1))) for side in (ours, theirs)]
    combined = combine([log_ratio(*sides)])
    test = stats.ttest_ind(ours, theirs, equal_var=False)
    assert combined.p == pytest.approx(test.pvalue)
    assert (combined.low, combined.high) == pytest.approx(tuple(test.confidence_interval(0.95)))


def test_the_moments_of_two_groups_are_those_of_all_runs() -> None:
    values = np.random.default_rng(6).normal(3, 1, 9)
    parts = [Moments(len(part), float(part.mean()), float(part.var(ddof=1))) for part in (values[:4], values[4:])]
    whole = parts[0] + parts[1]
    assert (whole.n, whole.mean, whole.variance) == (9, pytest.approx(values.mean()), pytest.approx(values.var(ddof=1)))
    one = Moments(1, 2.0) + Moments(1, 4.0)
    assert (one.n, one.mean, one.variance) == (2, 3.0, pytest.approx(2.0))


def test_the_test_for_heterogeneity_of_two_sets_is_welchs() -> None:
    random = np.random.default_rng(8)
    a, b = random.normal(0, 1, 6), random.normal(1, 2, 9)
    y, v = np.array([a.mean(), b.mean()]), np.array([a.var(ddof=1) / 6, b.var(ddof=1) / 9])
    assert welch_anova_p(y, v, np.array([5, 8])) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


def test_it_keeps_its_level_with_few_runs() -> None:
    random = np.random.default_rng(9)
    found = 0
    for _ in range(2000):
        runs = random.normal(0, 1, (5, 6))
        found += welch_anova_p(runs.mean(axis=1), runs.var(axis=1, ddof=1) / 6, np.full(5, 5.0)) < 0.05
    assert 0.035 < found / 2000 < 0.065


def test_few_sets_that_agree_borrow_from_the_runs_and_others_do_not() -> None:
    near = [LogRatio(0.1, 4e-4, 8.0), LogRatio(0.12, 4e-4, 8.0)]
    assert combine(near).method == "common"
    far = [LogRatio(0.0, 1e-4, 8.0), LogRatio(0.5, 1e-4, 8.0)]
    combined = combine(far)
    assert (combined.method, combined.q_p < AGREE) == ("hartung-knapp", True)
    many = [LogRatio(0.1 + 0.001 * n, 4e-4, 8.0) for n in range(ENOUGH_SETS)]
    assert combine(many).method == "hartung-knapp"
    assert combine(many).error >= math.sqrt(4e-4 / ENOUGH_SETS)  # no narrower than the runs allow


def test_equal_figures_do_not_make_an_endless_weight() -> None:
    flat = log_ratio(Moments(3, 1.0), Moments(3, 1.0))
    assert flat.variance > 0
    assert combine([flat, LogRatio(0.05, 1e-3, 6.0)]).low > -0.2


def test_only_more_than_two_sets_have_a_prediction() -> None:
    some = [LogRatio(0.1 * n, 1e-3, 8.0) for n in range(4)]
    assert combine(some[:2]).prediction is None
    combined = combine(some)
    assert combined.prediction is not None
    assert combined.prediction[0] < combined.low < combined.high < combined.prediction[1]
