"""The typed form: what is wrong is named with its place; what people type and what is kept are the same."""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from apps.comparison.claims.check_fields import WRITTEN, check_of, fields_of
from apps.comparison.claims.checks.definition import DefinitionError, Stated, as_data
from apps.comparison.claims.checks.quantities import quantity_of, spelled
from apps.comparison.claims.checks.unit_meanings import meanings_of
from apps.comparison.claims.checks.validation import definition_of
from apps.comparison.claims.checks.yaml_file import claims_of
from tests.comparison.claims.test_reports import WRITTEN as REPORTS
from tests.sampling import for_each

GROUP = {"is": "samples"}


def ranking(**more: Any) -> dict[str, Any]:
    return {"checks": [{"kind": "ranking", "chain": [GROUP, {**GROUP, **more}]}]}


@for_each("data, field, expected", [
        ({}, "definition", "required field `checks`"),
        ({"checks": []}, "checks", "1 to 16"),
        ({"checks": [{"kind": "rank"}]}, "checks[0].kind", "Invalid value 'rank'"),
        ({"checks": [{"kind": "ranking", "chain": [GROUP]}]}, "checks[0].chain", "2 to 12"),
        (ranking(operations=["wriet"]), "checks[0].chain[1].operations[0]", "one of: write, read"),
        (ranking(metric="speed"), "checks[0].chain[1].metric", "one of: bandwidth"),
        (ranking(times=10**400), "checks[0].chain[1].times", "a number"),
        ({"checks": [{"kind": "ratio", "of": GROUP, "over": GROUP, "above": math.nan}]}, "checks[0].above", "a number"),
        ({"checks": [{"kind": "equality", "of": GROUP, "to": GROUP, "absolute": 10**400}]}, "checks[0].absolute", "0 or more"),
        (ranking(times="4"), "checks[0].chain[1].times", "got `str`"),
        (ranking(where=[{"name": "ram"}]), "checks[0].chain[1].where[0]", "what it is"),
        (ranking(where=[{"name": "ram'; --", "at_least": 1}]), "checks[0].chain[1].where[0].name", "letters, digits"),
        (ranking(colour="red"), "checks[0].chain[1]", "unknown field `colour`"),
        ({"checks": [{"kind": "ratio", "of": GROUP, "over": GROUP}]}, "checks[0].at_least", "at least one of"),
        ({"checks": [{"kind": "ratio", "of": GROUP, "above": 1}]}, "checks[0].over", "samples, a stated number"),
        ({"checks": [{"kind": "equality", "of": GROUP, "to": GROUP, "relative": -1}]}, "checks[0].relative", "0 or more"),
        ({"checks": [{"kind": "not_checkable"}]}, "checks[0].reason", "why"),
        ({"checks": [{"kind": "text_against_table", "of": GROUP, "quoted": {"value": 1, "unit": "MB/h"}}]}, "checks[0].quoted.unit", "such as MB/s"),
        ({"checks": [{"kind": "facts", "sets": [{"name": "a"}]}]}, "checks[0].sets", "2 to 12"),
    ])  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(data: Any, field: str, expected: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        definition_of(data)
    assert caught.value.field == field
    assert expected in str(caught.value)


def test_terms_within_terms_end_somewhere() -> None:
    term: dict[str, Any] = GROUP
    for _ in range(3000):
        term = {"is": "arithmetic", "operator": "sum", "of": [term, GROUP]}
    with pytest.raises(DefinitionError, match="at most 6 deep"):
        definition_of({"checks": [{"kind": "threshold", "of": term, "above": {"is": "stated", "value": 1}}]})


def test_a_file_of_claims_names_the_claim_that_is_wrong() -> None:
    with pytest.raises(DefinitionError, match=r"C2: checks\[0\].reason"):
        claims_of("{study: s, claims: [{id: C2, statement: x, checks: [{kind: not_checkable}]}]}")
    twice = "{id: C1, statement: x, checks: [{kind: not_checkable, reason: plots only}]}"
    with pytest.raises(DefinitionError, match="that no other claim has"):
        claims_of(f"{{study: s, claims: [{twice}, {twice}]}}")
    with pytest.raises(DefinitionError, match="YAML"):
        claims_of("{study: [")


def test_every_check_of_the_reports_comes_back_from_its_fields_as_it_was() -> None:
    kinds = []
    for claims in REPORTS.values():
        for claim in claims:
            assert definition_of(as_data(claim.definition)) == claim.definition
            for check in claim.definition.checks:
                fields, groups = fields_of(check)
                assert check_of(fields, groups) == check
                kinds.append(fields["kind"])
    assert kinds.count(WRITTEN) < len(kinds) / 5, "most checks are to be edited without JSON"


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("120 MB/s", 120_000_000, "B/s"), ("1.5 GiB/s", 1_610_612_736, "B/s"), ("2000 MiB", 2_097_152_000, "B"), ("12 %", 0.12, "fraction"),
        ("7200 s", 7.2e12, "ns"), ("10 Gbit/s", 1.25e9, "B/s"), ("632 /s", 632, "1/s"), ("-0.5", -0.5, ""),
    ],
)  # fmt: skip
def test_quantities_are_read_and_spelled_again(text: str, value: float, unit: str) -> None:
    stated = quantity_of(text)
    assert (stated.value, stated.unit) == (pytest.approx(value), unit)
    again = quantity_of(spelled(stated))
    assert (again.value, again.unit) == (stated.value, stated.unit)


@pytest.mark.parametrize("text", ["", "fast", "12 parsecs", "1,5 MB/s"])
def test_what_is_no_quantity_is_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number, with a unit"):
        quantity_of(text)


def test_odd_numbers_are_spelled_in_full() -> None:
    assert spelled(Stated(495327771.781, "B/s")) == "495327771.781 B/s"
    assert spelled(Stated(7.5e8, "B/s")) == "750 MB/s"


def test_a_unit_in_prose_has_its_usual_meanings() -> None:
    assert [(one.name, one.factor) for one in meanings_of("MB/s")] == [
        ("MB", 1e6),
        ("MiB", 2**20),
        ("MB of 1 000 KiB", 1_024_000),
    ]
    assert next(one.factor for one in meanings_of("Gb/s")) == 1.25e8
    assert meanings_of("GiB") == meanings_of("GiB/s")
    assert meanings_of("furlongs") == []


FIRST = """
import sys
from apps.comparison.claims.checks.definition import ClaimDefinition, Stated
import msgspec
asked = []
sys.setprofile(lambda frame, event, _: asked.append(frame.f_code.co_name) if event == "call" else None)
msgspec.convert({"checks": []}, ClaimDefinition)
msgspec.convert({"value": 1}, Stated)
sys.setprofile(None)
print(asked)
"""


def test_the_first_two_claims_may_be_read_by_two_threads_at_once() -> None:
    """While msgspec works a type out in Python, another thread may come, and it crashes on what is half done."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", FIRST], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
