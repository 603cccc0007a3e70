"""Finding: each kind is asked once, whatever the lab's size; the best come first, and within a rank the lab's own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from apps.labs.models import Lab
from apps.search.hosts import HostsByWord, holds_words_or_host, hosts_by_word
from apps.search.kinds import BY_NAME, KINDS, Kind
from apps.search.words import holds_words

MAX_ASKED = 200  # characters
EXACT, PREFIX, WORD = 0, 1, 2
_HASH = re.compile(r"[0-9a-f]{4,64}")
_RUN = re.compile(r"(?:run\s*)?#?\s*([0-9]{1,18})", re.IGNORECASE)
_LABEL = re.compile(r"([^=]+)=(.+)")
_HAS_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Hit:
    kind: str
    id: int
    title: str
    detail: str
    url: str
    rank: int
    lab_id: int
    is_own: bool


@dataclass(frozen=True)
class Group:
    """One kind's hits. `more_url` leads to the list that shows all of them, where there is one."""

    name: str
    title: str
    hits: tuple[Hit, ...]
    has_more: bool = False
    more_url: str = ""


def find(asked: str, lab: Lab, limit: int, kinds: Sequence[Kind] = KINDS) -> list[Group]:
    """At most `limit` of each kind. The kind with the best hit comes first, then in the order of the registry."""
    asked = asked.strip()[:MAX_ASKED].replace("\0", "")
    if not _HAS_WORD.search(asked):
        return []
    hosts = hosts_by_word(asked.removeprefix("/dev/")) if any(kind.is_in_host for kind in kinds) else {}
    groups = [group for kind in kinds if (group := _of_kind(kind, asked, lab, limit, hosts)).hits]
    groups.sort(key=lambda group: min(hit.rank for hit in group.hits))
    labels = _labels(asked, lab, kinds)
    return [labels, *groups] if labels.hits else groups


def _of_kind(kind: Kind, asked: str, lab: Lab, limit: int, hosts: HostsByWord) -> Group:
    found: dict[int, Hit] = {}
    for rank, rows in _questions(kind, asked, lab, hosts):
        for row in rows[: limit + 1]:
            found.setdefault(row.pk, _hit(kind, row, getattr(row, "found_rank", rank), lab))
    hits = sorted(found.values(), key=lambda hit: hit.rank)  # stable: within a rank as the database ordered them
    more = f"{_reversed(kind.listed)}?{urlencode({'q': asked})}" if _reversed(kind.listed) else ""
    return Group(kind.name, kind.title, tuple(hits[:limit]), len(hits) > limit, more)


def _questions(kind: Kind, asked: str, lab: Lab, hosts: HostsByWord) -> list[tuple[int, "QuerySet[Any]"]]:
    """What is asked of the database for this kind: by number, by hash, by words; only what the text can be."""
    questions: list[tuple[int, QuerySet[Any]]] = []
    if kind.name == "runs" and (number := _RUN.fullmatch(asked)):
        questions.append((EXACT, kind.rows().filter(pk=int(number[1]))))
    if kind.is_found_by_hash and _HASH.fullmatch(asked.lower()):
        questions.append((PREFIX if len(asked) < 64 else EXACT, _by_hash(kind, asked.lower())))
    if kind.words:
        questions.append((WORD, _by_words(kind, asked, lab, hosts)))
    return questions


def _by_hash(kind: Kind, asked: str) -> "QuerySet[Any]":
    """A range, which the index of every collation can answer: all digits after `asked` sort below `g`."""
    field = kind.is_found_by_hash
    rows: QuerySet[Any] = kind.rows().filter(**{f"{field}__gte": asked, f"{field}__lt": f"{asked}g"})
    return rows.order_by("-id")


def _by_words(kind: Kind, asked: str, lab: Lab, hosts: HostsByWord) -> "QuerySet[Any]":
    meant = holds_words_or_host(kind.model, kind.words, asked.removeprefix("/dev/"), hosts if kind.is_in_host else {})
    rows = kind.rows().filter(meant)
    if kind.newest_first:
        newest: QuerySet[Any] = rows.order_by("-id")
        return newest
    own = Case(When(**{kind.model._default_manager.model.lab_path: lab.pk}, then=Value(0)), default=Value(1))  # type: ignore[attr-defined]
    ranked: QuerySet[Any] = rows.annotate(found_rank=_rank(kind, asked))
    return ranked.order_by("found_rank", own, *kind.keys[:1], "id")


def _rank(kind: Kind, asked: str) -> Any:
    """Exact before prefix before word, by the fields that identify; a leading /dev/ is no difference."""
    names = [asked.lower(), *([asked.lower().removeprefix("/dev/")] if asked.startswith("/dev/") else [])]
    exact, prefix = Q(), Q()
    for field in kind.keys:
        for name in names:
            exact |= Q(**{f"{field}__iexact": name})
            prefix |= Q(**{f"{field}__istartswith": name})
    if not kind.keys:
        return Value(WORD, output_field=IntegerField())
    whens = [When(exact, then=Value(EXACT)), When(prefix, then=Value(PREFIX))]
    return Case(*whens, default=Value(WORD), output_field=IntegerField())


def _hit(kind: Kind, row: Any, rank: int, lab: Lab) -> Hit:
    lab_id = _lab_of(row)
    title = kind.shown(row) or f"{kind.name} {row.pk}"
    return Hit(kind.name, row.pk, title, kind.detail(row), kind.url_of(row), rank, lab_id, lab_id == lab.pk)


def _lab_of(row: Any) -> int:
    """Through the parent, for rows without a lab of their own; the parents are read with the rows."""
    *parents, last = type(row).lab_path.split("__")
    for parent in parents:
        row = getattr(row, parent)
    return int(getattr(row, last))


def _labels(asked: str, lab: Lab, kinds: Sequence[Kind]) -> Group:
    """`rack=3`: how many of each kind carry exactly this label."""
    if not (pair := _LABEL.fullmatch(asked)):
        return Group("labels", "Labels", ())
    name, value = pair[1].strip(), pair[2].strip()
    hits = []
    for kind in (one for one in kinds if one.has_labels):
        rows = kind.rows().filter(holds_words(kind.model, kind.words, asked), labels__contains={name: value})
        if (count := rows.count()) and (url := _reversed(kind.listed)):
            query = urlencode({"label": f"{name}={value}"})
            hits.append(
                Hit(
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
    return Group("labels", "Labels", tuple(hits))


def _reversed(name: str) -> str:
    try:
        return reverse(name) if name else ""
    except NoReverseMatch:
        return ""


def of_kind(name: str) -> Sequence[Kind] | None:
    """The kinds that a request asks for: one by name, all for no name, None for a name that is none."""
    if not name:
        return KINDS
    return (BY_NAME[name],) if name in BY_NAME else None
