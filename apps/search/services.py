"""The search: each kind is queried once; the best hits come first, and of equal ones the lab's own."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Case, IntegerField, Model, Q, QuerySet, Value, When
from django.db.models.expressions import RawSQL
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from apps.core.text import whole_number
from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.search.registry import BY_NAME, KINDS, SearchKind

HostsByWord = Mapping[str, list[int]]
MAX_ASKED = 200  # characters
MOST_PUT_IN_ORDER = 1000  # of more rows the newest are found soon
EXACT, PREFIX, WORD = 0, 1, 2
_HASH = re.compile(r"[0-9a-f]{4,64}")
_RUN = re.compile(r"(?:run\s*)?#?\s*([0-9]{1,18})", re.IGNORECASE)
_LABEL = re.compile(r"([^=]+)=(.+)")
_HAS_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class SearchHit:
    kind: str
    id: int
    title: str
    detail: str
    url: str
    rank: int
    lab_id: int
    is_own: bool


@dataclass(frozen=True)
class SearchGroup:
    """One kind's hits. `more_url` leads to the list that shows all of them, where there is one."""

    name: str
    title: str
    hits: tuple[SearchHit, ...]
    has_more: bool = False
    more_url: str = ""


def find(query: str, lab: Lab, limit: int, kinds: Sequence[SearchKind] = KINDS) -> list[SearchGroup]:
    """Return at most `limit` hits of each kind; the kind with the best hit comes first, then in the registry's order."""
    query = query.strip()[:MAX_ASKED].replace("\0", "")
    if not _HAS_WORD.search(query):
        return []
    hosts = hosts_by_word(query.removeprefix("/dev/")) if any(kind.is_in_host for kind in kinds) else {}
    groups = [group for kind in kinds if (group := _of_kind(kind, query, lab, limit, hosts)).hits]
    groups.sort(key=lambda group: min(hit.rank for hit in group.hits))
    labels = _labels(query, lab, kinds)
    return [labels, *groups] if labels.hits else groups


def _of_kind(kind: SearchKind, query: str, lab: Lab, limit: int, hosts: HostsByWord) -> SearchGroup:
    hits_by_id: dict[int, SearchHit] = {}
    for rank, rows in _questions(kind, query, lab, hosts):
        for row in rows[: limit + 1]:
            hits_by_id.setdefault(row.pk, _hit(kind, row, getattr(row, "found_rank", rank), lab))
    hits = sorted(hits_by_id.values(), key=lambda hit: hit.rank)  # stable: within a rank as the database ordered them
    more = f"{_reversed(kind.listed)}?{urlencode({'q': query})}" if _reversed(kind.listed) else ""
    return SearchGroup(kind.name, kind.title, tuple(hits[:limit]), len(hits) > limit, more)


def _questions(kind: SearchKind, query: str, lab: Lab, hosts: HostsByWord) -> list[tuple[int, "QuerySet[Any]"]]:
    """Return the queries for a kind that the text allows: by number, by hash, by words."""
    questions: list[tuple[int, QuerySet[Any]]] = []
    if kind.name == "runs" and (number := _RUN.fullmatch(query)):
        questions.append((EXACT, kind.rows().filter(pk=whole_number(number[1]) or 0)))
    if kind.is_found_by_hash and _HASH.fullmatch(query.lower()):
        questions.append((PREFIX if len(query) < 64 else EXACT, _by_hash(kind, query.lower())))
    if kind.words:
        questions.append((WORD, _by_words(kind, query, lab, hosts)))
    return questions


def _by_hash(kind: SearchKind, query: str) -> "QuerySet[Any]":
    """Return a range query that the index of every collation can use: all digits after `query` sort below `g`."""
    field = kind.is_found_by_hash
    rows: QuerySet[Any] = kind.rows().filter(**{f"{field}__gte": query, f"{field}__lt": f"{query}g"})
    return rows.order_by("-id")


def _by_words(kind: SearchKind, query: str, lab: Lab, hosts: HostsByWord) -> "QuerySet[Any]":
    meant = holds_words_or_host(kind.model, kind.words, query.removeprefix("/dev/"), hosts if kind.is_in_host else {})
    rows = kind.rows().filter(meant)
    if kind.newest_first:
        return _newest(kind, rows)
    own = Case(When(**{kind.model._default_manager.model.lab_path: lab.pk}, then=Value(0)), default=Value(1))  # type: ignore[attr-defined]
    ranked: QuerySet[Any] = rows.annotate(found_rank=_rank(kind, query))
    return ranked.order_by("found_rank", own, *kind.keys[:1], "id")


def _newest(kind: SearchKind, rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Return rows newest first.

    Few of them are found by their words and put in order then: asked for the newest ones, PostgreSQL would go through all
    rows from the newest on, which takes half a second for a word that none of 100,000 has.
    """
    some = list(rows.order_by().values_list("pk", flat=True)[: MOST_PUT_IN_ORDER + 1])
    few = kind.rows().filter(pk__in=some) if len(some) <= MOST_PUT_IN_ORDER else rows
    newest: QuerySet[Any] = few.order_by("-id")
    return newest


def _rank(kind: SearchKind, query: str) -> Any:
    """Return an expression that ranks exact before prefix before word matches; a leading /dev/ is ignored."""
    names = [query.lower(), *([query.lower().removeprefix("/dev/")] if query.startswith("/dev/") else [])]
    exact, prefix = Q(), Q()
    for field in kind.keys:
        for name in names:
            exact |= Q(**{f"{field}__iexact": name})
            prefix |= Q(**{f"{field}__istartswith": name})
    if not kind.keys:
        return Value(WORD, output_field=IntegerField())
    whens = [When(exact, then=Value(EXACT)), When(prefix, then=Value(PREFIX))]
    return Case(*whens, default=Value(WORD), output_field=IntegerField())


def _hit(kind: SearchKind, row: Any, rank: int, lab: Lab) -> SearchHit:
    lab_id = _lab_of(row)
    title = kind.shown(row) or f"{kind.name} {row.pk}"
    return SearchHit(kind.name, row.pk, title, kind.detail(row), kind.url_of(row), rank, lab_id, lab_id == lab.pk)


def _lab_of(row: Any) -> int:
    """Return a row's lab, through its parent where it has none itself; parents are read with the rows."""
    *parents, last = type(row).lab_path.split("__")
    for parent in parents:
        row = getattr(row, parent)
    return int(getattr(row, last))


def _labels(typed: str, lab: Lab, kinds: Sequence[SearchKind]) -> SearchGroup:
    """Return how many of each kind have exactly this label, such as `rack=3`."""
    if not (pair := _LABEL.fullmatch(typed)):
        return SearchGroup("labels", "Labels", ())
    name, value = pair[1].strip(), pair[2].strip()
    hits = []
    for kind in (kind for kind in kinds if kind.has_labels):
        rows = kind.rows().filter(holds_words(kind.model, kind.words, typed), labels__contains={name: value})
        if (count := rows.count()) and (url := _reversed(kind.listed)):
            query = urlencode({"label": f"{name}={value}"})
            hits.append(
                SearchHit(
                    "labels",
                    0,
                    f"{name}={value}",
                    f"{count} {kind.title.lower()}",
                    f"{url}?{query}",
                    EXACT,
                    lab.pk,
                    True,
                )
            )
    return SearchGroup("labels", "Labels", tuple(hits))


def _reversed(name: str) -> str:
    try:
        return reverse(name) if name else ""
    except NoReverseMatch:
        return ""


def of_kind(name: str) -> Sequence[SearchKind] | None:
    """Return the kinds of a request: one by name, all for no name, None for an unknown name."""
    if not name:
        return KINDS
    return (BY_NAME[name],) if name in BY_NAME else None


def indexed_text(fields: Sequence[str], table: str = "") -> str:
    """Return the SQL of a kind's text, which is the same in its index and its query.

    `facts>host` is a key of a JSON field.
    """
    return " || ' ' || ".join(_column(name, f'"{table}".' if table else "") for name in fields)


def _column(name: str, before: str) -> str:
    column, _, key = name.partition(">")
    if key:
        return f"""coalesce({before}"{column}" ->> '{key}', '')"""
    return f'{before}"{column}"::text'


def holds_words(model: type[Model], fields: Sequence[str], query: str) -> Any:
    """Return a condition that all words of `query` begin a word of these fields."""
    text = indexed_text(fields, model._meta.db_table)
    # the fields are ours, from registry.py; what a person typed is a parameter
    return RawSQL(f"search_words({text}) @@ search_query(%s)", [query], output_field=BooleanField())  # noqa: S611


MOST_WORDS = 8
_WORD = re.compile(r"[^\W_]+")


def hosts_by_word(query: str) -> HostsByWord:
    """Return for each word the ids of hosts in whose name it begins a word, in one query.

    The list is empty where there are none.
    """
    words = list(dict.fromkeys(_words(query)))[:MOST_WORDS]
    if not words:
        return {}
    somewhere = Q()
    for word in words:
        somewhere |= Q(name__icontains=word) | Q(fqdn__icontains=word)
    named = [(pk, _words(f"{name} {fqdn}")) for pk, name, fqdn in _names(somewhere)]
    return {word: [pk for pk, names in named if any(name.startswith(word) for name in names)] for word in words}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _names(condition: Q) -> Iterable[tuple[int, str, str]]:
    hosts: Iterable[tuple[int, str, str]] = Host.objects.filter(condition).order_by().values_list("pk", "name", "fqdn")
    return hosts


def holds_words_or_host(model: type, fields: tuple[str, ...], query: str, hosts: HostsByWord) -> Q:
    """Return a condition that each word begins a word of the part's own fields or of its host's name.

    The host comes first because it is the cheaper condition.
    """
    if not any(hosts.values()):
        return Q(holds_words(model, fields, query))
    own = " ".join(word for word, ids in hosts.items() if not ids)
    condition = Q(holds_words(model, fields, own)) if own else Q()
    for word, ids in hosts.items():
        if ids:
            condition &= Q(host_id__in=ids) | Q(holds_words(model, fields, word))
    return condition
