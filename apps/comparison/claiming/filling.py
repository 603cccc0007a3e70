"""A check's fields as people see them, from its typed form; `typed.py` goes the other way.

A check that its fields cannot say to the last word (arithmetic in arithmetic) is edited as it is written, in JSON: nothing is ever
lost by opening the form.
"""

import json

import msgspec

from apps.comparison.claiming.typed import IN_BYTES, NAMES, RANGES, WRITTEN, Fields, check_of
from apps.comparison.claims.checked import BOUNDS
from apps.comparison.claims.form import AnyCheck, Definition, Stated, as_data
from apps.comparison.claims.quantities import spelled
from apps.lib.units import machine
from apps.runs.sizes import spelled as size_spelled

_OWN_NAMES = ("kind", "name", "per", "is_denied", "along", "direction", "relation", "reason")


def fields_of(check: AnyCheck) -> tuple[Fields, list[Fields]]:
    """(the check's own fields, those of each group)."""
    try:
        fields, groups = _fields(as_data(Definition([check]))["checks"][0])
        if as_data(Definition([check_of(fields, groups)])) == as_data(Definition([check])):
            return fields, groups
    except (ValueError, KeyError, TypeError):
        pass
    text = json.dumps(as_data(Definition([check]))["checks"][0], indent=2, ensure_ascii=False)
    return {"kind": WRITTEN, "written": text}, []


def _fields(data: Fields) -> tuple[Fields, list[Fields]]:
    kind = data["kind"]
    fields: Fields = {name: data[name] for name in _OWN_NAMES if name in data}
    terms: list[Fields] = data.get("chain") or [data[name] for name in NAMES.get(kind, ()) if name in data]
    if kind == "ranking":
        fields["is_strict"] = data.get("is_strict", True)
    elif kind in ("ratio", "threshold"):
        terms += _bound_fields(data, fields)
    elif kind == "equality":
        fields["tolerance"] = _tolerance(data)
    elif kind == "monotony":
        fields["slack"] = f"{machine(data['slack'] * 100)} %" if data.get("slack") else ""
    elif kind == "text_against_table":
        fields |= {f"quoted_{name}": value for name, value in data["quoted"].items()}
        fields["within"] = machine(data["within"]) if "within" in data else ""
    elif kind == "facts":
        fields |= {"sets": _sets_text(data["sets"]), "count": data.get("count")}
    return fields, [_group(term) for term in terms]


def _bound_fields(data: Fields, fields: Fields) -> list[Fields]:
    """Numbers go into the fields `low` and `high`; a bound that is a group of samples is a group of its own."""
    more = []
    for name in BOUNDS:
        if name not in data:
            continue
        bound, side = data[name], "low" if name in ("at_least", "above") else "high"
        if isinstance(bound, dict) and bound["is"] == "samples":
            fields["group_bound"] = name
            more.append(bound)
            continue
        stated = msgspec.convert(bound, Stated) if isinstance(bound, dict) else None
        fields |= {side: spelled(stated) if stated else machine(bound), f"{side}_word": name}
        if stated and (stated.name or stated.line):
            fields |= {f"{side}_name": stated.name, f"{side}_line": stated.line}
    return more


def _tolerance(data: Fields) -> str:
    if "relative" in data:
        percent = float(format(data["relative"] * 100, ".12g"))
        return f"{machine(percent)} %" if "absolute" not in data else ""
    return machine(data["absolute"]) if "absolute" in data else ""


def _sets_text(sets: list[Fields]) -> str:
    """`md1: sda, sdb @ 108`: name, members, and the line that says so."""
    lines = [(one["name"], ", ".join(one["values"]), f" @ {one['line']}" if "line" in one else "") for one in sets]
    return "\n".join(f"{name}: {values}{line}" for name, values, line in lines)


def _group(term: Fields) -> Fields:
    if term["is"] == "stated":
        stated = msgspec.convert(term, Stated)
        return {"source": "number", "name": stated.name, "number": spelled(stated), "line": stated.line}
    group = {"source": "samples", "is_fixed": not term.get("is_matched", True), "take": term.get("take", "value")}
    group |= {
        name: term[name] for name in ("name", "configurations", "operations", "metric", "aggregate") if name in term
    }
    group["times"] = machine(term["times"]) if "times" in term else ""
    for condition in term.get("where", []):
        group |= _condition(condition)
    return group


def _condition(condition: Fields) -> Fields:
    name = condition["name"]
    if name not in RANGES:
        return {"fact": name, "fact_value": str(condition["equals"][0])}
    show = size_spelled if name in IN_BYTES else machine
    same = condition.get("equals", [None])[0]
    ends = [condition.get("at_least", same), condition.get("at_most", same)]
    return {
        "range": name,
        "start": show(ends[0]) if ends[0] is not None else "",
        "end": show(ends[1]) if ends[1] is not None else "",
    }
