"""What saved things refer to by name, kept by identity: a configuration that is renamed takes its comparisons along.

A saved question is an address, and says `configuration=tmpfs` and `baseline=tmpfs`. Beside it stands whose names these are:

    references_of(question)   -> {"filters": {"configuration": {"tmpfs": [12]}}, "baseline": [["configuration", [12]]]}
                                 and "series" for those in its order and choice, each as the baseline, by the name it has now
    resolve([(question, references), …]) -> [Resolved, …]     with the names as they are now; at most one query for each kind of thing

What is gone is said in a sentence (`Resolved.problems`), and the rest is kept as far as it still asks the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.comparison.question import NO_BASELINE, Identity, Question, QuestionError
from apps.comparison.readings import LABEL
from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs
from apps.studies.models import Configuration, Study

References = dict[str, Any]
MODELS: dict[str, Any] = {"study": Study, "configuration": Configuration, "host": Host, "target": Target}
NAMES = {"study": ("slug",), "configuration": ("label", "name"), "host": ("name",), "target": ("name",)}
SHOWN = {**NAMES, "target": ("name", "host__name")}
SEPARATOR = " · "  # between the values of a series' facts, and between host and target of a label


@dataclass(frozen=True)
class Missing:
    """What a saved thing refers to and is not there any more. `str` is the sentence about it, in the language of who reads."""

    kind: str  # study, configuration, host, target or baseline
    name: str
    is_all: bool = False  # nothing is left to show without it

    def __str__(self) -> str:
        if self.kind == "baseline":
            sentence = _("The baseline “%(name)s” is not there any more, so nothing is held against one.")
        elif self.is_all:
            sentence = _("The %(kind)s “%(name)s”, which this is about, was deleted.")
        else:
            sentence = _("The %(kind)s “%(name)s” was deleted and is left out.")
        return sentence % {"kind": _(self.kind), "name": self.name}


class LostReferenceError(QuestionError):
    """What a saved thing is about does not exist any more. `str(error)` is the sentence that says so."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(kind, name, "what is there")
        self.missing = Missing(kind, name, is_all=True)

    def __str__(self) -> str:
        return str(self.missing)


@dataclass(frozen=True)
class Resolved:
    """`lost` where the question cannot be asked any more; `problems` are about what is left out of it."""

    question: Question
    problems: tuple[Missing, ...] = ()
    lost: LostReferenceError | None = None


def references_of(question: Question) -> References:
    """Return the ids behind the names in the question, of what is in scope now.

    A text that names nothing is no reference.
    """
    filters: dict[str, dict[str, list[int]]] = {}
    studies = [value for name, value in question.filters if name == "study"]
    for kind, name in question.filters:
        if kind in MODELS and (ids := ids_named(kind, name, studies)):
            filters.setdefault(kind, {})[name] = ids
    found_baseline = _series_of(question.baseline, question, studies) if question.baseline != NO_BASELINE else []
    names = dict.fromkeys((*question.order, *question.draw))
    series = {name: identities for name in names if (identities := _series_of(name, question, studies))}
    if not filters and not found_baseline and not series:
        return {}
    return {"filters": filters, "baseline": found_baseline} | ({"series": series} if series else {})


def ids_named(kind: str, name: str, studies: Sequence[str] = (), **where: Any) -> list[int]:
    """Return the ids of this kind and name; of configurations those of the given studies, where there are any."""
    named = Q()
    for field in NAMES[kind]:
        named |= Q(**{field: name})
    rows = MODELS[kind].objects.filter(named, **where)
    if kind == "configuration" and studies:
        rows = rows.filter(study__slug__in=studies)
    return sorted(rows.values_list("pk", flat=True))


def _series_of(name: str, question: Question, studies: Sequence[str]) -> list[list[Any]]:
    """Return for each fact of a series `[kind, ids]` or `["", text]`; empty where the series' name is of nothing stored."""
    if not name:
        return []
    parts, facts = name.split(SEPARATOR), question.series
    for cuts in combinations(range(1, len(parts)), len(facts) - 1):
        ends = (0, *cuts, len(parts))
        texts = [SEPARATOR.join(parts[a:b]) for a, b in pairwise(ends)]
        identities = [_identity(fact, text, studies) for fact, text in zip(facts, texts, strict=True)]
        if all(identities) and any(identity[0] for identity in identities):
            return identities
    return []


def _identity(fact: str, text: str, studies: Sequence[str]) -> list[Any]:
    """Return the identity behind a fact's text; empty where it is no name that the fact could have."""
    if fact == LABEL:
        return _of_label(text, studies)
    if fact in MODELS:
        ids = ids_named(fact, text, studies)
        return [fact, ids] if ids else []
    return ["", text]


def _of_label(text: str, studies: Sequence[str]) -> list[Any]:
    """Return the identity of a label: a configuration's, else host and target; the study follows where two have it."""
    if ids := ids_named("configuration", text, studies):
        return ["configuration", ids]
    before, _, behind = text.rpartition(" (")
    if before and (ids := ids_named("configuration", before, [behind.removesuffix(")")])):
        return ["configuration", ids]
    host, _, target = text.partition(SEPARATOR)
    if target and (ids := ids_named("target", target, host__name=host)):
        return ["target", ids]
    ids = ids_named("host", text)
    return ["host", ids] if ids else []


Pair = tuple[Question, Mapping[str, Any]]


def resolve(saved: Iterable[Pair]) -> list[Resolved]:
    """Resolve saved questions with their references, in the order of `saved`."""
    pairs = list(saved)
    known = current_names(_ids_in(references for _, references in pairs))
    return [_resolved(question, references, known) for question, references in pairs]


Known = Mapping[str, Mapping[int, tuple[str, ...]]]


def current_names(wanted: Mapping[str, set[int]]) -> Known:
    """Return kind → id → current names, those of `SHOWN`.

    They were in scope when they were referred to, so the scope is not checked again.
    """
    with all_labs():
        return {
            kind: {
                pk: tuple(names)
                for pk, *names in MODELS[kind].objects.filter(pk__in=ids).values_list("pk", *SHOWN[kind])
            }
            for kind, ids in wanted.items()
            if ids
        }


def _ids_in(every: Iterable[Mapping[str, Any]]) -> dict[str, set[int]]:
    wanted_ids: dict[str, set[int]] = {kind: set() for kind in MODELS}
    for references in every:
        for kind, names in references.get("filters", {}).items():
            for ids in names.values():
                wanted_ids[kind].update(ids)
        for kind, ids in _of_series(references):
            wanted_ids[kind].update(ids)
    return wanted_ids


def _of_series(references: Mapping[str, Any]) -> Iterator[tuple[str, list[int]]]:
    """Yield the kind and ids of all that series' names refer to: the baseline's, and those in order or drawn."""
    for identities in (references.get("baseline", ()), *references.get("series", {}).values()):
        yield from ((kind, ids) for kind, ids in identities if kind)


def _resolved(question: Question, references: Mapping[str, Any], known: Known) -> Resolved:
    pairs, problems, lost = _filters(question, references, known)
    baseline = _identities(references.get("baseline", ()))
    named = _series_text(question.baseline, question, baseline, known) if baseline else question.baseline
    now = {
        name: _current(name, question, _identities(identities), known)
        for name, identities in references.get("series", {}).items()
    }
    changed = question.with_(
        filters=tuple(sorted(pairs)), baseline=named, baseline_of=baseline,
        order=tuple(now.get(name, name) for name in question.order),
        draw=tuple(now.get(name, name) for name in question.draw),
    )  # fmt: skip
    gone = _gone_baseline(baseline, known)
    if gone and lost is None:
        last = [
            _last_name(references, identity.kind, identity.ids, "") if identity.kind else identity.text
            for identity in baseline
        ]
        problems.append(Missing("baseline", SEPARATOR.join(last) if all(last) else question.baseline))
        changed = changed.with_(baseline=NO_BASELINE, baseline_of=())
    return Resolved(changed, tuple(problems), lost)


def _identities(stored: Iterable[Any]) -> tuple[Identity, ...]:
    return tuple(Identity(kind, tuple(value)) if kind else Identity("", text=value) for kind, value in stored)


def _current(name: str, question: Question, identities: Sequence[Identity], known: Known) -> str:
    """Return the current name of a series; as it was saved where only its study stands behind, to tell two apart."""
    now = _series_text(name, question, identities, known)
    return name if name.startswith(f"{now} (") else now


def _series_text(saved: str, question: Question, identities: Sequence[Identity], known: Known) -> str:
    """Return the current name of a series; the saved one where what it is of is gone."""
    texts = []
    for fact, identity in zip(question.series, identities, strict=False):
        names_found = next((names for pk in identity.ids if (names := known.get(identity.kind, {}).get(pk))), None)
        if identity.kind and not names_found:
            return saved
        is_place = fact == LABEL and identity.kind == "target"
        texts.append(
            identity.text if not names_found else SEPARATOR.join(reversed(names_found)) if is_place else names_found[0]
        )
    return SEPARATOR.join(texts) if len(texts) == len(question.series) else saved


def _filters(
    question: Question, references: Mapping[str, Any], known: Known
) -> tuple[set[tuple[str, str]], list[Missing], LostReferenceError | None]:
    """Return the filters with current names, what is missing, and an error where a filter has lost all it refers to."""
    names: Mapping[str, Mapping[str, Sequence[int]]] = references.get("filters", {})
    pairs: set[tuple[str, str]] = set()
    gone: dict[str, list[str]] = {}
    for kind, name in question.filters:
        ids = names.get(kind, {}).get(name, ())
        here = [names_now for pk in ids if (names_now := known.get(kind, {}).get(pk))]
        if ids and not here:
            gone.setdefault(kind, []).append(_last_name(references, kind, ids, name))
        elif not ids:
            pairs.add((kind, name))
        for current in here:
            pairs.add((kind, current[0]))
    left = {kind for kind, _ in pairs}
    lost = next((LostReferenceError(kind, ", ".join(some)) for kind, some in gone.items() if kind not in left), None)
    return pairs, [Missing(kind, name) for kind, some in gone.items() for name in some], lost


def _gone_baseline(baseline: Iterable[Identity], known: Known) -> bool:
    return any(
        identity.kind and not any(pk in known.get(identity.kind, {}) for pk in identity.ids) for identity in baseline
    )


def replaced(references: Mapping[str, Any], kind: str, old: int, new: int) -> References:
    """Return the references of a saved question or claim with another id in the place of `old`."""

    def ids(pks: Sequence[int]) -> list[int]:
        return sorted({new if pk == old else pk for pk in pks})

    def names(things: Mapping[str, Any]) -> dict[str, Any]:
        return {
            fact: {name: ids(some) for name, some in of.items()} if fact == kind else of for fact, of in things.items()
        }

    if "baseline" not in references:
        return names(references)

    def identities(stored: Iterable[Any]) -> list[Any]:
        return [[identity, ids(value) if identity == kind else value] for identity, value in stored]

    changed = {"filters": names(references["filters"]), "baseline": identities(references["baseline"])}
    series = {name: identities(stored) for name, stored in references.get("series", {}).items()}
    return {**references, **changed} | ({"series": series} if series else {})


LAST_NAMES = "last_names"  # kind → id → the name it had when it was deleted


def note_name(references: Mapping[str, Any], kind: str, row: Any) -> Mapping[str, Any]:
    """Return the references of a saved question or claim with the last name of a row that is deleted."""
    if row.pk not in _ids_of(references, kind):
        return references
    last = references.get(LAST_NAMES, {})
    names = {**last.get(kind, {}), str(row.pk): str(getattr(row, NAMES[kind][0]))}
    return {**references, LAST_NAMES: {**last, kind: names}}


def _ids_of(references: Mapping[str, Any], kind: str) -> set[int]:
    names = references.get("filters", references)
    ids_found = {pk for ids in names.get(kind, {}).values() for pk in ids}
    return ids_found | {pk for fact, ids in _of_series(references) if fact == kind for pk in ids}


def _last_name(references: Mapping[str, Any], kind: str, ids: Sequence[int], saved: str) -> str:
    """Return the name at deletion; for deletions from before that was recorded, the name when the question was saved."""
    last = references.get(LAST_NAMES, {}).get(kind, {})
    return next((last[str(pk)] for pk in ids if str(pk) in last), saved)


def broken_text(error: QuestionError) -> str:
    """Return a sentence that says why a saved comparison shows nothing."""
    if isinstance(error, LostReferenceError):
        return str(error)
    if error.field == "baseline":
        return str(Missing("baseline", str(error.found)))
    return _("This comparison cannot be made any more: %(why)s.") % {"why": error}


def kinds_of_names(data: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of everything that a claim's definition names: configurations, hosts, targets and labels."""
    if isinstance(data, dict):
        for name in data.get("configurations", ()):
            yield "configuration", str(name)
        for condition in data.get("where", ()):
            if isinstance(condition, dict) and condition.get("name") in (*MODELS, LABEL):
                kind = "configuration" if condition["name"] == LABEL else condition["name"]
                yield from ((kind, str(value)) for value in condition.get("equals", ()))
        for value in data.values():
            yield from kinds_of_names(value)
    elif isinstance(data, list):
        for value in data:
            yield from kinds_of_names(value)


def claim_references(study: Study, definition: Any) -> References:
    """Return kind → name → ids for a claim; one query for each kind.

    A claim refers to its own study's configurations, and to hosts and targets in scope.
    """
    wanted: dict[str, set[str]] = {}
    for kind, name in kinds_of_names(definition):
        wanted.setdefault(kind, set()).add(name)
    references_found: References = {}
    for kind, names in wanted.items():
        named = Q()
        for field in NAMES[kind]:
            named |= Q(**{f"{field}__in": names})
        rows = MODELS[kind].objects.filter(named, **({"study": study} if kind == "configuration" else {}))
        for pk, *values in rows.order_by("pk").values_list("pk", *NAMES[kind]):
            for name in names.intersection(values):
                references_found.setdefault(kind, {}).setdefault(name, []).append(pk)
    return references_found


def names_of_claims(every: Iterable[Mapping[str, Any]]) -> Known:
    """Return the current names of all that these claims refer to; one query for each kind."""
    wanted: dict[str, set[int]] = {}
    for references in every:
        for kind in MODELS.keys() & references.keys():
            names = references[kind]
            wanted.setdefault(kind, set()).update(pk for ids in names.values() for pk in ids)
    return current_names(wanted)


def with_current_names(definition: Any, references: Mapping[str, Any], known: Known) -> Any:
    """Return a claim's definition with current names.

    Raises:
        LostReferenceError: Something that it names was deleted.
    """
    if not references:
        return definition

    def named(kind: str, value: Any, *, by_slug: bool = False) -> list[Any]:
        ids = references.get(kind, {}).get(str(value), ())
        here = [entry for pk in ids if (entry := known.get(kind, {}).get(pk))]
        if ids and not here:
            raise LostReferenceError(kind, _last_name(references, kind, ids, str(value)))
        return [entry[-1] if by_slug else entry[0] for entry in here] or [value]

    def changed(data: Any) -> Any:
        if isinstance(data, list):
            return [changed(item) for item in data]
        if not isinstance(data, dict):
            return data
        made = {key: changed(value) for key, value in data.items()}
        if "configurations" in made:
            made["configurations"] = [
                new for entry in made["configurations"] for new in named("configuration", entry, by_slug=True)
            ]
        if made.get("name") in (*MODELS, LABEL) and "equals" in made:
            kind = "configuration" if made["name"] == LABEL else made["name"]
            by_slug = made["name"] == "configuration"
            made["equals"] = [new for entry in made["equals"] for new in named(kind, entry, by_slug=by_slug)]
        return made

    return changed(definition)
