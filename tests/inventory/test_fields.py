"""Every field that `apps/inventory/fields.py` declares is known to form, page, REST, files, history, filters and topology."""

from typing import Any

import pytest
from django.db import models

from apps.api.resources import topology
from apps.api.resources.parts import body_serializer_of, serializer_of
from apps.dashboard.views.host import FACTS
from apps.inventory.bulk.edit import fields_of
from apps.inventory.descriptions import described
from apps.inventory.editing.form import PartForm
from apps.inventory.editing.payload import rows_of, wanted_of
from apps.inventory.editing.registry import BY_NAME, KINDS, MEMBERS, SECTIONS, PartKind
from apps.inventory.exchange import registry as exchange
from apps.inventory.fields import COMMON, FIELDS, FieldSpec, label_of, unit_of
from apps.inventory.filters import filterset_of, searched_in
from apps.inventory.history.log import told
from apps.inventory.history.triggers import WATCHED
from apps.inventory.models import Change
from apps.inventory.snapshots.content import _state
from apps.inventory.topology.tree import _fields
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

MODELS = {str(one.model._meta.model_name): one.model for one in WATCHED}
SHAPES: dict[str, Any] = {
    shape.part_kind: shape
    for shape in topology.PartShapeSerializer.__subclasses__()
    if hasattr(shape, "part_kind")
}  # fmt: skip
EVERY = [(kind, spec) for kind in KINDS for spec in kind.specs]
EDITABLE = [(kind, spec) for kind, spec in EVERY if spec.editable]


def _ids(pairs: list[tuple[PartKind, FieldSpec]]) -> list[str]:
    return [f"{kind.name}.{spec.name}" for kind, spec in pairs]


every = pytest.mark.parametrize(("kind", "spec"), EVERY, ids=_ids(EVERY))
each_editable = pytest.mark.parametrize(("kind", "spec"), EDITABLE, ids=_ids(EDITABLE))


def _value(field: "models.Field[Any, Any]") -> Any:
    """Something that is not the default, as it stands in a script's body."""
    if field.is_relation:
        return None
    if isinstance(field, models.BooleanField):
        return not field.get_default()
    if isinstance(field, models.JSONField):
        return ["x"] if field.get_default() == [] else {"x": "1"}
    if isinstance(field, models.IntegerField):
        return 4096
    if isinstance(field, models.DateTimeField):
        return "2026-01-01T00:00:00Z"
    return next((value for value, _ in reversed(field.flatchoices) if value), "x")


def _part(kind: PartKind, spec: FieldSpec) -> Any:
    """A part that has nothing but this field."""
    return kind.model(
        pk=1,
        **{kind.field(spec.name).attname: 7 if kind.field(spec.name).is_relation else _value(kind.field(spec.name))},
    )


@pytest.mark.parametrize("name", FIELDS)
def test_every_column_is_declared_and_nothing_else(name: str) -> None:
    own = {field.name for field in MODELS[name]._meta.concrete_fields}
    parents = {places.parent for places in (MEMBERS, SECTIONS) if places.model is MODELS[name]}
    rest = {"id", "lab", "created_at", "updated_at", *COMMON} | ({"position"} | parents if parents else set())
    assert sorted(own - rest) == sorted(spec.name for spec in FIELDS[name])


def test_every_kind_is_declared() -> None:
    assert set(FIELDS) == {kind.name for kind in KINDS} | {"arraymember", "pathsection"} == set(MODELS)


@every
def test_fields_of_one_name_have_one_label_and_unit(kind: PartKind, spec: FieldSpec) -> None:
    assert (label_of(spec.name), unit_of(spec.name)) == (spec.label, spec.unit)


@each_editable
def test_form_knows_it(kind: PartKind, spec: FieldSpec) -> None:
    with lab_scope(1):
        form = PartForm(kind, Lab(pk=1), None, None)
    inputs = {one.field.name: title for title, inputs in form.groups for one in inputs}
    if spec.has_own_page or spec.name in form.fixed:
        assert spec.name not in inputs
    else:
        assert inputs[spec.name] == spec.section
        assert form.fields[spec.name].label == spec.form_label
        assert (f"why-{spec.name}" in form.fields) <= spec.explains_absence


@each_editable
def test_form_for_many_knows_it(kind: PartKind, spec: FieldSpec) -> None:
    assert not (spec.individual or spec.has_own_page) or spec.name not in fields_of(kind)
    assert spec.individual or spec.has_own_page or spec.name == "host" or spec.name in fields_of(kind)


@every
def test_page_describes_it(kind: PartKind, spec: FieldSpec) -> None:
    assert (spec.name in kind.facts) == spec.on_page
    if not kind.field(spec.name).is_relation:
        (fact,) = described(_part(kind, spec), spec.name)
        assert (fact.label, fact.unit) == (spec.label, spec.unit)
        assert fact.value is not None


def test_page_of_a_host_lists_the_same() -> None:
    assert BY_NAME["host"].facts == FACTS


@each_editable
def test_rest_reads_and_writes_it(kind: PartKind, spec: FieldSpec) -> None:
    field, part = kind.field(spec.name), _part(kind, spec)
    if not kind.places:
        (row,) = rows_of(kind, [part])
        assert row[spec.name] == getattr(part, field.attname)
    wanted = wanted_of(kind, Lab(pk=1), {spec.name: _value(field)})
    assert wanted.values == {spec.name: _value(field)}
    assert spec.name in serializer_of(kind)().fields
    assert spec.name in body_serializer_of(kind)().fields


@each_editable
def test_list_is_filtered_by_it(kind: PartKind, spec: FieldSpec) -> None:
    is_document = isinstance(kind.field(spec.name), models.JSONField)
    assert (spec.name in filterset_of(kind).base_filters) != is_document
    assert (spec.name in searched_in(kind.name)) == spec.searched


@every
def test_files_have_a_column_for_it(kind: PartKind, spec: FieldSpec) -> None:
    assert spec.name in exchange.BY_MODEL[kind.model].columns


@every
def test_history_names_it(kind: PartKind, spec: FieldSpec) -> None:
    field = kind.field(spec.name)
    new = None if field.is_relation else _value(field)
    change = Change(
        act=Change.Act.CHANGED, row_kind=kind.name, part_kind=kind.name, part_id=1, row_id=1, part_name="x",
        before={field.attname: None}, after={field.attname: new},
    )  # fmt: skip
    if field.attname == "array_id":
        return  # also the parent of a member, which history does not name
    ((line,),) = [entry.lines for entry in told([change])]
    assert line.label in (spec.label, f"{spec.name} x")


@every
def test_topology_and_snapshot_have_it(kind: PartKind, spec: FieldSpec) -> None:
    part = _part(kind, spec)
    assert (spec.name in _fields(part)) == spec.in_topology
    shape = topology.TopologySerializer() if kind.name == "host" else SHAPES[kind.name]()
    assert not spec.in_topology or spec.name in shape.fields
    if not kind.field(spec.name).is_relation:
        assert (spec.name in _state(part)) == spec.in_snapshot


@pytest.mark.parametrize("watched", WATCHED, ids=lambda one: one.model.__name__)
def test_history_leaves_out_what_is_not_watched(watched: Any) -> None:
    specs = FIELDS[str(watched.model._meta.model_name)]
    assert watched.volatile == tuple(spec.name for spec in specs if not spec.watched)
