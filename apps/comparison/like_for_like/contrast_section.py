"""A contrast as a section of a document for wikis: one row for each matched set, the last one combined."""

from django.utils.translation import gettext as _

from apps.comparison.like_for_like.answers import LevelContrast
from apps.comparison.like_for_like.sentences import finding_words, labels_of_strata, ratio_text
from apps.comparison.questions.factor import Factor
from apps.core import units
from apps.core.tables import Section, Table


def contrast_section(contrast: LevelContrast, factor: Factor, before: str = "") -> Section:
    """Return the section; `before` stands before its title, such as the code of a claim."""
    titles = [_("Matched set"), "n", "×", _("95 % interval")]
    rows = [
        [label, f"{effect.n[0]} / {effect.n[1]}", ratio_text(effect.ratio), _interval(effect.interval)]
        for effect, label in zip(contrast.effects, labels_of_strata(contrast.effects), strict=True)
    ]
    if contrast.combination:
        rows.append([finding_words(contrast.finding), "", *_common(contrast)])
    title = f"{before}{factor.level_name(contrast.level)} ÷ {factor.level_name(contrast.against)}"
    return Section(title, table=Table.of(titles, rows, numbers=titles[2:3], row_heads=True))


def _common(contrast: LevelContrast) -> tuple[str, str]:
    if contrast.ratio is None:  # sets disagree
        return units.NO_VALUE, units.NO_VALUE
    return ratio_text(contrast.ratio), _interval(contrast.interval)


def _interval(interval: tuple[float, float] | None) -> str:
    return f"{ratio_text(interval[0])} – {ratio_text(interval[1])}" if interval else _("too few runs")
