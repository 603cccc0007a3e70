"""The fields of a search for saturation, declared once for all forms that write a plan."""

from typing import Any

from django import forms

from apps.core.forms import SiteForm
from apps.studies.plans.stopping_rule import BOUNDS_MS, DEFAULTS, MOST_POINTS, PERCENTILES


class SaturationFields(SiteForm):
    """The percentile, its bound and the least number of points; what is left empty is as usual."""

    percentile = forms.TypedChoiceField(
        choices=[(percentile, f"p{percentile}") for percentile in PERCENTILES], coerce=int, required=False,
        initial=DEFAULTS["percentile"], empty_value=None, label="Latency percentile",
        help_text="for saturation: of the whole latency, from submission to completion",
    )  # fmt: skip
    bound_ms = forms.FloatField(
        required=False, min_value=BOUNDS_MS[0], max_value=BOUNDS_MS[1], label="Latency bound, ms",
        help_text=f"for saturation; empty: {DEFAULTS['bound_ms']:g}",
    )  # fmt: skip
    least_points = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_POINTS, label="Points at least",
        help_text=f"for saturation: go on to so many, even past the bound; empty: {DEFAULTS['least_points']}",
    )  # fmt: skip

    @property
    def saturation(self) -> dict[str, Any]:
        """Return what was typed, for the stopping rule, which has the usual values of the rest. After `is_valid`."""
        typed = self.cleaned_data
        names = SaturationFields.base_fields
        return {name: typed[name] for name in names if typed[name] is not None}
