"""The shape of a comparison in the REST interface's description."""

from typing import Any

from rest_framework import serializers as s

from apps.publishing.schema import Caveat


class Outlier(s.Serializer[Any]):
    run = s.IntegerField()
    value = s.FloatField()


class Mode(s.Serializer[Any]):
    n = s.IntegerField()
    value = s.FloatField(help_text="median of its runs")


class Cell(s.Serializer[Any]):
    x = s.JSONField(help_text="number in base units, word, or null where unknown")
    series = s.CharField()
    n = s.IntegerField()
    mean = s.FloatField(allow_null=True)
    median = s.FloatField(allow_null=True)
    stdev = s.FloatField(allow_null=True)
    minimum = s.FloatField(allow_null=True)
    maximum = s.FloatField(allow_null=True)
    ci_low = s.FloatField(allow_null=True)
    ci_high = s.FloatField(allow_null=True)
    merged = s.FloatField(allow_null=True, help_text="percentile of the merged histograms")
    ratio = s.FloatField(allow_null=True)
    ratio_low = s.FloatField(allow_null=True)
    ratio_high = s.FloatField(allow_null=True)
    verdict = s.CharField(allow_null=True, help_text="better, worse, no significant difference, too few runs")
    runs = s.ListField(child=s.IntegerField())
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    quality = s.CharField()
    missing = s.CharField(allow_null=True)
    method = s.CharField(help_text="of the ratio: welch, bootstrap, means, medians, or empty")
    effect_size = s.FloatField(allow_null=True, help_text="Hedges' g against the baseline")
    p = s.FloatField(allow_null=True)
    p_adjusted = s.FloatField(allow_null=True, help_text="for all cells; the verdict follows it")
    more_runs = s.IntegerField(allow_null=True, help_text="of this series and of the baseline, to settle what is open")
    advice = s.CharField()
    outliers = Outlier(many=True)
    modes = Mode(many=True)


class Correction(s.Serializer[Any]):
    method = s.CharField()
    tests = s.IntegerField()
    level = s.FloatField()


class Confounder(s.Serializer[Any]):
    fact = s.CharField()
    kind = s.CharField(help_text="differs, mixed or unknown")
    values = s.DictField(child=s.ListField(child=s.CharField()))
    text = s.CharField()


class Filter(s.Serializer[Any]):
    name = s.CharField()
    value = s.CharField()


class Contrast(s.Serializer[Any]):
    series = s.ListField(child=s.CharField(), help_text="two series, or two configurations")
    differs = Confounder(many=True)
    unknown = Confounder(many=True, help_text="known of one only")
    equal = s.ListField(child=s.CharField())


class MostEqual(s.Serializer[Any]):
    contrast = Contrast()
    filters = Filter(many=True, help_text="leave just these two")


class HeldRatio(s.Serializer[Any]):
    x = s.JSONField()
    ratio = s.FloatField()


class Held(s.Serializer[Any]):
    at = s.ListField(child=s.CharField(), help_text="levels of the other factors")
    contrast = Contrast()
    ratios = HeldRatio(many=True)


class Effect(s.Serializer[Any]):
    factor = s.CharField()
    level = s.CharField()
    against = s.CharField()
    held = Held(many=True)


class Comparison(s.Serializer[Any]):
    metric = s.CharField()
    unit = s.CharField()
    higher_is_better = s.BooleanField()
    operation = s.CharField()
    x = s.CharField()
    series = s.ListField(child=s.CharField())
    series_by = s.ListField(child=s.CharField())
    baseline = s.CharField(allow_null=True)
    filters = Filter(many=True)
    samples = s.IntegerField()
    cells = Cell(many=True)
    correction = Correction(allow_null=True)
    method = s.CharField(help_text="how the numbers were come by, in words")
    confounders = Confounder(many=True)
    contrasts = Contrast(many=True, help_text="pairs of series; of more than 12 series, those with the baseline")
    most_equal = MostEqual(allow_null=True)
    effects = Effect(many=True, help_text="each of several factors by itself")
    caveats = Caveat(many=True)
    permalink = s.URLField()


class SavedComparison(s.Serializer[Any]):
    id = s.IntegerField()
    name = s.CharField()
    url = s.URLField()
    page = s.URLField(help_text="the short permalink")
    compare_url = s.URLField(help_text="its answer, computed now")
    created_by = s.CharField()
    created_at = s.DateTimeField()
