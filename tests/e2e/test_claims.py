"""A claim is written without knowing its form: kind, groups and bounds are chosen, and the verdict is seen before saving."""

import pytest
from playwright.sync_api import expect

from tests.comparison.claims.conftest import make_study
from tests.e2e.looking import broken_rules

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_ratio_is_written_seen_and_saved(signed_in, cast, complaints):
    make_study(cast.lab)
    page = signed_in("engineer")
    page.goto("/studies/paper/claims/new/")
    page.get_by_label("Statement", exact=True).fill("the stripe is twice as fast")
    page.get_by_label("Kind").select_option("ratio")
    dividend, divisor = page.get_by_role("group", name="Of", exact=True), page.get_by_role("group", name="Divided by")
    expect(divisor).to_be_visible()
    expect(page.get_by_label("Kind")).to_be_focused()
    dividend.get_by_label("stripe").check()
    divisor.get_by_label("mirror").check()
    page.locator("#id_c0-low").fill("2.5")
    expect(page.locator("#preview")).to_contain_text("contradicted")
    page.locator("#id_c0-low").fill("2")
    expect(page.locator("#preview")).to_contain_text("supported")
    assert broken_rules(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("supported")
    assert broken_rules(page) == []
    assert complaints == []
