"""Sentences keep their quantities, and are written late: in either base, with the exact values at hand."""

import math

import numpy as np
import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from apps.core import units
from apps.core.quantities import Form, all_written, parts_of, quantity, written

N = units.NO_BREAK


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("kept", "in_1000", "in_1024"),
    [
        (quantity(181_715_456, "B/s"), "182 MB/s", "173 MiB/s"),
        (quantity(3.077e9, "B/s", Form.FINE), "3.077 GB/s", "2.866 GiB/s"),
        (quantity(7.2e9, "B/s", Form.MEGA), "7 200 MB/s", "6 866.5 MiB/s"),
        (quantity(1 << 30, "B", Form.SIZE), "1 GiB", "1 GiB"),
        (quantity(4_080_218_931, "B", Form.SIZE), "4.08 GB", "3.80 GiB"),
        (quantity(12_345, "ns"), "12.3 µs", "12.3 µs"),
        (quantity(-0.25, "fraction"), "−25.0 %", "−25.0 %"),
        (quantity(1.5312, ""), "1.53", "1.53"),
        (quantity(np.float64(2e6), "B/s"), "2.00 MB/s", "1.91 MiB/s"),
    ],
)
def test_a_quantity_is_written_in_the_base_of_who_reads(kept: str, in_1000: str, in_1024: str) -> None:
    sentence = f"it is {kept}, no more"
    assert plain(written(sentence)) == f"it is {in_1000}, no more"
    assert plain(written(sentence, 1024)) == f"it is {in_1024}, no more"


def test_the_parts_say_exact_values_in_both_bases() -> None:
    sentence = f"{quantity(2e8, 'B/s')} > {quantity(1e8, 'B/s')}: yes"
    assert [(plain(words), plain(exact)) for words, exact in parts_of(sentence, 1024)] == [
        ("191 MiB/s", "200 000 000 B/s = 200.0 MB/s = 190.7 MiB/s"), (" > ", ""),
        ("95.4 MiB/s", "100 000 000 B/s = 100.0 MB/s = 95.37 MiB/s"), (": yes", ""),
    ]  # fmt: skip
    assert parts_of("nothing to write") == [("nothing to write", "")]


def test_values_that_round_alike_make_one_sentence() -> None:
    lines = [f"at {quantity(value, 'B/s')}" for value in (100_000_001.0, 100_000_002.0, 2e8)]
    assert [plain(line) for line in all_written(lines)] == ["at 100 MB/s", "at 200 MB/s"]


@pytest.mark.parametrize(
    "text",
    [
        "⟦x B/s short⟧",
        "⟦nan B/s short⟧",
        "⟦inf B size⟧",
        "⟦1 MB/s short⟧",
        "⟦1 B/s huge⟧",
        f"⟦{'9' * 5000} B short⟧",
        "⟦",
        "⟦٣ B short⟧",
    ],
)
def test_what_people_type_is_no_quantity(text: str) -> None:
    assert written(text) == text
    assert parts_of(text) == [(text, "")]


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["B/s", "1/s", "ns", "fraction", ""]),
    st.sampled_from(list(Form)),
)
def test_every_finite_number_can_be_kept_and_written(value: float, unit: str, form: Form) -> None:
    kept = quantity(value, unit, form)
    assert "⟦" not in written(kept)
    assert math.isclose(float(kept[1:].split()[0]), value)


def test_a_page_has_the_exact_values_on_hover_and_all_of_them_on_focus_and_escapes_the_rest() -> None:
    line = f"<b> {quantity(2e8, 'B/s')} & {quantity(1e8, 'B/s')}"
    html = plain(Template("{{ line|in_units }}").render(Context({"line": line})))
    first, second = "200 000 000 B/s = 200.0 MB/s = 190.7 MiB/s", "100 000 000 B/s = 100.0 MB/s = 95.37 MiB/s"
    assert html == (
        f'<span class="quantities" tabindex="0" title="{first}; {second}">&lt;b&gt; <span title="{first}">200 MB/s</span>'
        f' &amp; <span title="{second}">100 MB/s</span></span>'
    )
    assert Template("{{ line|in_units }}").render(Context({"line": "<b>"})) == "&lt;b&gt;"
    assert (
        plain(Template("{{ line|as_written }}").render(Context({"line": line}))) == "&lt;b&gt; 200 MB/s &amp; 100 MB/s"
    )
