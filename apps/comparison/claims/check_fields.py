"""A check as form fields and back.

A check that its fields cannot say to the last word (arithmetic in arithmetic) is edited as it is written, in JSON: nothing is ever
lost by opening the form.
"""

import json
from typing import Any

import msgspec

from apps.comparison.claims.checks.definition import (
    AnyCheck,
    ClaimDefinition,
    DefinitionError,
    SampleGroup,
    Stated,
    Term,
    Where,
    as_data,
)
from apps.comparison.claims.checks.quantities import number_of, quantity_of, spelled
from apps.comparison.claims.checks.validation import BOUNDS, MOST_TERMS, definition_of
from apps.core.quantities import parse_size, spell_size
from apps.core.units import machine

Fields = dict[str, Any]
WRITTEN = "written"
IN_BYTES = ("file_size", "block_size")
RANGES = {
    "file_size": "file size", "file_size_over_ram": "file size ÷ RAM", "file_size_over_cache": "file size ÷ controller cache",
    "block_size": "block size", "threads": "threads", "iodepth": "I/O depth",
}  # fmt: skip
NAMES = {"ranking": ("chain",), "ratio": ("of", "over"), "threshold": ("of",), "equality": ("of", "to"),
         "monotony": ("of",), "text_against_table": ("of",)}  # fmt: skip
LEAST = {"ranking": 2, "ratio": 2, "threshold": 1, "equality": 2, "monotony": 1, "text_against_table": 1}
MOST = {"ranking": MOST_TERMS, "ratio": 2, "threshold": 2, "equality": 2, "monotony": 1, "text_against_table": 1}


def check_of(fields: Fields, groups: list[Fields]) -> AnyCheck:
    """Parse a check from its form fields.

    Raises:
        ValueError: A field does not fit; a DefinitionError names it.
    """
    if fields["kind"] == WRITTEN:
        return _written(fields.get("written", ""))
    kind, data = fields["kind"], {name: fields[name] for name in ("kind", "name", "per") if fields.get(name)}
    if fields.get("is_denied"):
        data["is_denied"] = True
    terms = [as_data_of(term_of(group)) for group in groups]
    data |= _named(kind, terms) | _OWN[kind](fields, terms)
    return definition_of({"checks": [data]}).checks[0]


def _written(text: str) -> AnyCheck:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError("written", text[:60], f"JSON: {error}") from None
    return definition_of({"checks": [data]}).checks[0]


def as_data_of(term: Term) -> Fields:
    data: Fields = msgspec.to_builtins(term)
    return data


def _named(kind: str, terms: list[Fields]) -> Fields:
    if kind == "ranking":
        return {"chain": terms}
    return dict(zip(NAMES.get(kind, ()), terms, strict=False))


def _ranking(fields: Fields, terms: list[Fields]) -> Fields:
    return {} if fields.get("is_strict", True) else {"is_strict": False}


def _ratio(fields: Fields, terms: list[Fields]) -> Fields:
    return {word: _plain(number_of(fields[side])) for side, word in _sides(fields)}


def _threshold(fields: Fields, terms: list[Fields]) -> Fields:
    result: Fields = {}
    for side, word in _sides(fields):
        stated = quantity_of(fields[side], fields.get(f"{side}_name", ""), fields.get(f"{side}_line", ""))
        result[word] = as_data_of(stated)
    if len(terms) > 1:
        result[fields.get("group_bound") or "at_least"] = terms[1]
    return result


def _sides(fields: Fields) -> list[tuple[str, str]]:
    words = {"low": "at_least", "high": "at_most"}
    return [(side, fields.get(f"{side}_word") or word) for side, word in words.items() if fields.get(side)]


def _equality(fields: Fields, terms: list[Fields]) -> Fields:
    text = str(fields.get("tolerance") or "").strip()
    if not text:
        return {}
    stated = quantity_of(text)
    return {"relative" if stated.unit == "fraction" else "absolute": stated.value}


def _monotony(fields: Fields, terms: list[Fields]) -> Fields:
    slack = str(fields.get("slack") or "").strip()
    result = {name: fields[name] for name in ("along", "direction") if fields.get(name)}
    return result | ({"slack": quantity_of(slack).value} if slack else {})


def _text(fields: Fields, terms: list[Fields]) -> Fields:
    quoted = {name: fields[f"quoted_{name}"] for name in ("text", "line") if fields.get(f"quoted_{name}")}
    quoted |= {"value": _plain(number_of(str(fields.get("quoted_value", "")))), "unit": fields.get("quoted_unit") or ""}
    within = str(fields.get("within") or "").strip()
    return {"quoted": quoted} | ({"within": _plain(number_of(within))} if within else {})


def _facts(fields: Fields, terms: list[Fields]) -> Fields:
    sets = []
    for line in str(fields.get("sets") or "").splitlines():
        if line.strip():
            name, colon, rest = line.rpartition(":")
            if not colon or not name.strip():
                raise DefinitionError("sets", line, "a line such as “md1: sda, sdb”")
            values, _, where = rest.partition("@")
            entry: Fields = {
                "name": name.strip(),
                "values": [word.strip() for word in values.split(",") if word.strip()],
            }
            sets.append(entry | ({"line": where.strip()} if where.strip() else {}))
    count = {"count": fields["count"]} if fields.get("count") is not None else {}
    return {"sets": sets, "relation": fields.get("relation") or "disjoint"} | count


def _not_checkable(fields: Fields, terms: list[Fields]) -> Fields:
    return {"reason": fields.get("reason", "")}


_OWN = {
    "ranking": _ranking, "ratio": _ratio, "threshold": _threshold, "equality": _equality, "monotony": _monotony,
    "text_against_table": _text, "facts": _facts, "not_checkable": _not_checkable,
}  # fmt: skip


def term_of(group: Fields) -> Term:
    if group.get("source") == "number":
        return quantity_of(group.get("number", ""), group.get("name", ""), group.get("line", ""))
    where = [condition for condition in (_range(group), _fact(group)) if condition]
    return SampleGroup(
        name=group.get("name", ""),
        configurations=list(group.get("configurations") or []),
        operations=list(group.get("operations") or []),
        metric=group.get("metric") or "bandwidth",
        where=where,
        take=group.get("take") or "value",
        aggregate=group.get("aggregate") or "mean",
        times=_plain(number_of(group["times"])) if group.get("times") else 1,
        is_matched=not group.get("is_fixed"),
    )


def _range(group: Fields) -> Where | None:
    name = group.get("range") or "file_size"
    read = parse_size if name in IN_BYTES else number_of
    start, end = (read(group[side]) if group.get(side) else None for side in ("start", "end"))
    if start is None and end is None:
        return None
    if start == end and start is not None:
        return Where(name=name, equals=[_plain(start)])
    return Where(name=name, at_least=start, at_most=end)


def _fact(group: Fields) -> Where | None:
    name, value = group.get("fact", ""), group.get("fact_value", "")
    return Where(name=name, equals=[value]) if name and value else None


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else value


_OWN_NAMES = ("kind", "name", "per", "is_denied", "along", "direction", "relation", "reason")


def fields_of(check: AnyCheck) -> tuple[Fields, list[Fields]]:
    """Return (the check's own fields, the fields of each group)."""
    try:
        fields, groups = _fields(as_data(ClaimDefinition([check]))["checks"][0])
        if as_data(ClaimDefinition([check_of(fields, groups)])) == as_data(ClaimDefinition([check])):
            return fields, groups
    except (ValueError, KeyError, TypeError):
        pass
    text = json.dumps(as_data(ClaimDefinition([check]))["checks"][0], indent=2, ensure_ascii=False)
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
    """Split a bound into the fields `low` and `high`; a bound that is a group of samples becomes a group of its own."""
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
    """Format sets as `md1: sda, sdb @ 108`: name, members, and the source line."""
    lines = [
        (named_set["name"], ", ".join(named_set["values"]), f" @ {named_set['line']}" if "line" in named_set else "")
        for named_set in sets
    ]
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
    show = spell_size if name in IN_BYTES else machine
    same = condition.get("equals", [None])[0]
    ends = [condition.get("at_least", same), condition.get("at_most", same)]
    return {
        "range": name,
        "start": show(ends[0]) if ends[0] is not None else "",
        "end": show(ends[1]) if ends[1] is not None else "",
    }
