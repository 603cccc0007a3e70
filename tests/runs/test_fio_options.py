"""The tables of fio's options, of the server and of the agent, and what is made from them."""

from pathlib import Path

import pytest

from apps.runs.fio_options import OPTIONS, FioOption, FormSection, OneOf, WholeNumber, Written, YesOrNo, options_in
from apps.runs.forms import JobForm
from worker.agent import options, render

PROTOCOL = Path(__file__).resolve().parents[2] / "docs" / "reference" / "agent-protocol.md"
each = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)


def values_of(option: FioOption) -> list[object]:
    """Return values at the limits of what the option takes."""
    kind = option.kind
    if isinstance(kind, WholeNumber):
        return [kind.low, kind.high, *([None] if kind.is_optional else [])]
    if isinstance(kind, OneOf):
        return list(kind.words)
    assert isinstance(kind, YesOrNo)
    return [True, False]


def test_both_tables_have_the_same_options() -> None:
    assert {option.name for option in OPTIONS} == set(options.OPTIONS)


@each
def test_a_host_accepts_what_the_server_accepts(option: FioOption) -> None:
    _, is_right = options.OPTIONS[option.name].rule
    for value in values_of(option):
        assert option.kind.accepts(value), value
        assert is_right(value), value


@each
def test_both_refuse_a_value_of_another_type(option: FioOption) -> None:
    _, is_right = options.OPTIONS[option.name].rule
    for value in ("$(id)", -1, 2**70, 1.5, [], {}, b"read"):
        assert not option.kind.accepts(value), value
        assert not is_right(value), value
    if not isinstance(option.kind, YesOrNo):
        assert not option.kind.accepts(True)
        assert not is_right(True)


@each
def test_both_write_it_by_the_same_name(option: FioOption) -> None:
    if option.written is not Written.WITH_SYNC:
        assert option.key == options.OPTIONS[option.name].fio_name
        assert option.key in render.OPTIONS


@each
def test_the_form_and_the_protocol_have_it(option: FioOption) -> None:
    assert f"`{option.name}" in PROTOCOL.read_text() or f'"{option.name}"' in PROTOCOL.read_text()
    if option.section:
        field = JobForm.base_fields[option.name]
        assert (field.label, field.help_text, field.initial) == (option.label, option.help, option.initial)
    else:
        assert option.name not in JobForm.base_fields


def test_the_form_is_in_sections() -> None:
    sections = JobForm().sections
    assert {name: [field.name for field in fields] for name, fields in sections.items()} == {
        section.value: [option.name for option in options_in(section)] for section in FormSection
    }
