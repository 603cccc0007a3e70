"""Saved questions and claims note whose names they have. What is here already is looked up by the names of today."""

from django.db import migrations, models
from django.db.models import Q
from django.http import QueryDict

NAMES = {"study": ("slug",), "configuration": ("label", "name"), "host": ("name",), "target": ("name",)}
LAB = {"study": "lab", "configuration": "study__lab", "host": "lab", "target": "lab"}
MODELS = {
    "study": ("studies", "Study"), "configuration": ("studies", "Configuration"), "host": ("inventory", "Host"),
    "target": ("inventory", "Target"),
}  # fmt: skip
QUERY = "whose names are in the query, by id: see apps/comparison/references.py"
DEFINITION = "whose names are in the definition, by id: see apps/comparison/references.py"


def ids_named(apps, lab_id, kind, name, studies=(), **where):
    """In the lab itself or in published ones, which is what the lab sees."""
    named = Q()
    for field in NAMES[kind]:
        named |= Q(**{field: name})
    seen = Q(**{f"{LAB[kind]}_id": lab_id}) | Q(**{f"{LAB[kind]}__is_published": True})
    rows = apps.get_model(*MODELS[kind]).objects.filter(named, seen, **where)
    if kind == "configuration" and studies:
        rows = rows.filter(study__slug__in=studies)
    return sorted(rows.values_list("pk", flat=True))


def references_of(apps, lab_id, query):
    pairs = [(name, value) for name, values in QueryDict(query).lists() for value in values]
    studies = [value for name, value in pairs if name == "study"]
    filters = {}
    for kind, name in pairs:
        if kind in NAMES and (ids := ids_named(apps, lab_id, kind, name, studies)):
            filters.setdefault(kind, {})[name] = ids
    baseline = baseline_of(apps, lab_id, QueryDict(query), studies)
    return {"filters": filters, "baseline": baseline} if filters or baseline else {}


def baseline_of(apps, lab_id, asked, studies):
    """Of series by one fact. With several, a baseline that is renamed is said to be gone."""
    name, series = asked.get("baseline", ""), asked.get("series", "label") or "label"
    if name in ("", "none") or "," in series:
        return []
    kinds = [series] if series in NAMES else ["configuration", "host"] if series == "label" else []
    for kind in kinds:
        if ids := ids_named(apps, lab_id, kind, name, studies):
            return [[kind, ids]]
    host, _, target = name.partition(" · ")
    if series == "label" and (ids := ids_named(apps, lab_id, "target", target, host__name=host)):
        return [["target", ids]]
    return []


def names_in(data):
    if isinstance(data, dict):
        yield from (("configuration", str(name)) for name in data.get("configurations", ()))
        for one in data.get("where", ()):
            if isinstance(one, dict) and one.get("name") in (*NAMES, "label"):
                kind = "configuration" if one["name"] == "label" else one["name"]
                yield from ((kind, str(value)) for value in one.get("equals", ()))
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for value in values:
        yield from names_in(value)


def note_references(apps, schema_editor):
    for model, lab in (("SavedComparison", "lab_id"), ("Watch", "lab_id"), ("StudyComparison", "study__lab_id")):
        rows = apps.get_model("comparison", model).objects
        for pk, lab_id, query in rows.values_list("pk", lab, "query"):
            if found := references_of(apps, lab_id, query):
                rows.filter(pk=pk).update(refers_to=found)
    claims = apps.get_model("comparison", "Claim").objects
    for pk, study, lab_id, definition in claims.values_list("pk", "study_id", "study__lab_id", "definition"):
        found = {}
        for kind, name in set(names_in(definition)):
            where = {"study_id": study} if kind == "configuration" else {}
            if ids := ids_named(apps, lab_id, kind, name, **where):
                found.setdefault(kind, {})[name] = ids
        if found:
            claims.filter(pk=pk).update(refers_to=found)


def refers_to(said):
    return models.JSONField(blank=True, default=dict, help_text=said)


class Migration(migrations.Migration):
    dependencies = [
        ("comparison", "0005_watch_drift_told"),
        ("studies", "0005_labels_of_plan_rows_by_identity"),
    ]

    operations = [
        migrations.AddField("claim", "refers_to", refers_to(DEFINITION)),
        migrations.AddField("savedcomparison", "refers_to", refers_to(QUERY)),
        migrations.AddField("studycomparison", "refers_to", refers_to(QUERY)),
        migrations.AddField("watch", "refers_to", refers_to(QUERY)),
        migrations.RunPython(note_references, migrations.RunPython.noop),
    ]
