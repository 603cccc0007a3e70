"""Forms in the site's look."""

from django import forms

from apps.core.forms import SiteForm


class GuardsForm(SiteForm):
    guards = forms.MultipleChoiceField(
        choices=[("idle", "idle host"), ("space", "space")], widget=forms.CheckboxSelectMultiple
    )


def test_the_boxes_of_a_list_look_like_single_ones_and_the_list_does_not() -> None:
    whole = str(GuardsForm({"guards": ["space"]})["guards"])
    assert whole.count('class="form-check-input"') == whole.count('type="checkbox"') == 2
    assert '<div id="id_guards">' in whole
    each = [box.tag() for box in GuardsForm()["guards"]]
    assert all('class="form-check-input"' in box for box in each)
