"""A check from the fields that people fill in; `filling.py` goes the other way."""

import json
from typing import Any

import msgspec

from apps.comparison.claims.checked import MOST_TERMS, definition_of
from apps.comparison.claims.form import AnyCheck, DefinitionError, Samples, Term, Where
from apps.comparison.claims.quantities import number_of, quantity_of
from apps.runs.sizes import parse_size

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
    """ValueError, or DefinitionError with the field's name, for what does not fit."""
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
    found: Fields = {}
    for side, word in _sides(fields):
        stated = quantity_of(fields[side], fields.get(f"{side}_name", ""), fields.get(f"{side}_line", ""))
        found[word] = as_data_of(stated)
    if len(terms) > 1:
        found[fields.get("group_bound") or "at_least"] = terms[1]
    return found


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
    found = {name: fields[name] for name in ("along", "direction") if fields.get(name)}
    return found | ({"slack": quantity_of(slack).value} if slack else {})


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
            one: Fields = {"name": name.strip(), "values": [word.strip() for word in values.split(",") if word.strip()]}
            sets.append(one | ({"line": where.strip()} if where.strip() else {}))
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
    where = [one for one in (_range(group), _fact(group)) if one]
    return Samples(
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
