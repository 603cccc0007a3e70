"""The contrasts of an answer as tables for pages: one row for each matched set, with a link to its runs."""

from typing import Any

from django.utils.translation import gettext as _

from apps.comparison.labels import label_of
from apps.comparison.like_for_like.answers import FactorAnswer, LevelContrast, StratumEffect
from apps.comparison.like_for_like.dependence import Dependence
from apps.comparison.like_for_like.free_comparison import address_of_stratum
from apps.comparison.like_for_like.sentences import finding_words, labels_of_strata, ratio_text, sizes_text, value_text
from apps.comparison.like_for_like.strata import IDENTITIES
from apps.comparison.questions.factor import Factor

MOST_SETS, FEWEST_SETS = 120, 12  # in the tables of one page together, and in each of them at least
CHIPS = {"effect": "approved", "depends": "warning", "no difference shown": "none", "too few runs": "pending"}


def contrast_tables(answer: FactorAnswer, factor: Factor) -> list[dict[str, Any]]:
    """Return each contrast with its combined effect and the rows of its sets with most runs, in the reader's language."""
    return [_contrast(contrast, answer, factor) for contrast in answer.contrasts]


def _contrast(contrast: LevelContrast, answer: FactorAnswer, factor: Factor) -> dict[str, Any]:
    combined = contrast.combination
    most = max(FEWEST_SETS, MOST_SETS // len(answer.contrasts))
    labels = labels_of_strata(contrast.effects, most)
    return {
        "title": f"{factor.level_name(contrast.level)} ÷ {factor.level_name(contrast.against)}",
        "finding": finding_words(contrast.finding),
        "chip": CHIPS[contrast.finding.value],
        "ratio": ratio_text(contrast.ratio) if contrast.ratio else "",
        "interval": interval_text(contrast.interval),
        "combined": combined,
        "tau": ratio_text(contrast.tau) if contrast.tau else "",
        "i2": f"{100 * combined.i2:.0f} %" if combined else "",
        "p": f"{contrast.p_adjusted:.2g}" if contrast.p_adjusted is not None else "",
        "prediction": interval_text(contrast.prediction),
        "range": interval_text(contrast.range) if contrast.combination and contrast.ratio is None else "",
        "dependence": _dependence(contrast.dependence) if contrast.dependence else [],
        "is_not_all": bool(contrast.dependence and contrast.dependence.ranges),
        "depends_on": _(label_of(contrast.dependence.fact)) if contrast.dependence and contrast.dependence.fact else "",
        "rows": [
            _row(effect, label, answer, factor) for effect, label in zip(contrast.effects[:most], labels, strict=True)
        ],
        "left_out": max(0, len(contrast.effects) - most),
    }


def _dependence(dependence: Dependence) -> list[tuple[str, str]]:
    """Return each value of the fact with the ratio there, or the ratios where its sets disagree among themselves."""
    ranges = {value: interval_text((low, high)) for value, low, high in dependence.ranges}
    return [
        (value_text(dependence.fact, value or None), ranges.get(value) or ratio_text(ratio))
        for value, ratio in dependence.values
    ]


def _row(effect: StratumEffect, label: str, answer: FactorAnswer, factor: Factor) -> dict[str, Any]:
    groups = [group for level in (effect.level, effect.against) for group in effect.stratum.sides[level].groups]
    differs = [name for name in effect.stratum.differs if name not in (*factor.facts, *IDENTITIES)]
    known = [name for name in differs if any(name in group.facts for group in groups)]
    return {
        "label": label,
        "n": effect.n,
        "ratio": ratio_text(effect.ratio),
        "interval": interval_text(effect.interval),
        "differs": [_(label_of(name)) for name in known],
        "untold": [_(label_of(name)) for name in differs if name not in known],
        "unknown": [_(label_of(name)) for name in effect.stratum.unknown],
        "apart": effect.is_apart_in_time,
        "sizes": sizes_text(effect) if factor.one_of else "",
        "facts": [(_(label_of(name)), value_text(name, value)) for name, value in sorted(effect.stratum.facts.items())],
        "runs": address_of_stratum(effect, answer, factor),
    }


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return `0.98 to 1.06`; empty where there is none."""
    if interval is None:
        return ""
    return _("%(low)s to %(high)s") % {"low": ratio_text(interval[0]), "high": ratio_text(interval[1])}
