"""The draft of a claim: the posted fields, its checks and groups, and the parsed definition."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.db import IntegrityError, transaction
from django.forms import Form
from django.http import QueryDict

from apps.comparison.claims.check_fields import LEAST, MOST, WRITTEN, Fields, check_of, fields_of
from apps.comparison.claims.checks.definition import AnyCheck, ClaimDefinition, DefinitionError, as_data
from apps.comparison.claims.checks.validation import MOST_CHECKS, MOST_TERMS, definition_of
from apps.comparison.claims.evaluation import evaluate
from apps.comparison.claims.forms import CheckForm, ClaimForm, GroupForm, Offered, offered
from apps.comparison.claims.models import Claim
from apps.comparison.saved_comparisons.references import LostReferenceError
from apps.core.text import whole_number
from apps.studies.models import Study

Typed = list[tuple[Fields, list[Fields]]]
TITLES = {
    "ranking": ("Highest",), "ratio": ("Of", "Divided by"), "threshold": ("What lies within limits", "The limit"),
    "equality": ("This", "equals this"), "monotony": ("What rises or falls",), "text_against_table": ("What it is in the samples",),
}  # fmt: skip
_CHOSEN = ("configurations", "operations", "name", "number", "start", "end", "fact_value")
_ORDER = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth")
_WORDS = ("code", "statement", "language", "statement_english", "source_lines", "quote", "comment")


class CheckPart:
    """One check's forms, and what is wrong with it."""

    def __init__(self, offer: Offered, place: int, fields: Fields, groups: list[Fields], is_bound: bool) -> None:
        self.place, self.problem = place, ""
        self.fields, self.typed = fields, groups
        self.form = CheckForm(initial=fields, prefix=f"c{place}")
        self.groups = [GroupForm(offer, initial=group, prefix=f"c{place}g{at}") for at, group in enumerate(groups)]
        self.check = self._made() if is_bound else None

    @property
    def kind(self) -> str:
        return str(self.fields.get("kind") or "ranking")

    @property
    def titles(self) -> list[str]:
        """Return the headings of the groups' fields."""
        named = TITLES.get(self.kind, ())
        return [named[at] if at < len(named) else f"{_ORDER[min(at, 5)]}, below it" for at in range(len(self.groups))]

    @property
    def may_add_group(self) -> bool:
        return len(self.groups) < MOST.get(self.kind, 0)

    @property
    def may_drop_group(self) -> bool:
        return len(self.groups) > LEAST.get(self.kind, 0)

    def _made(self) -> AnyCheck | None:
        try:
            return check_of(self.fields, self.typed)
        except DefinitionError as error:
            self.problem = str(error).removeprefix("checks[0].")
        except ValueError as error:
            self.problem = str(error)
        return None


def _checks_of(claim: Claim) -> list[AnyCheck]:
    """Return the checks with current names.

    Where something was deleted, as they were written, so that the author can replace it.
    """
    try:
        return claim.form.checks
    except LostReferenceError:
        return definition_of(claim.definition).checks


class ClaimDraft:
    """From the claim as it is, or from what was posted."""

    def __init__(self, study: Study, claim: Claim | None, posted: QueryDict | None) -> None:
        self.study, self.claim, self.posted = study, claim, posted
        self.act = posted.get("act", "preview") if posted is not None else ""
        self.offer = offered(study)
        self.form = ClaimForm(study, claim, self._typed_words(), initial=self._words())
        typed = self._typed() if posted is not None else self._kept()
        self.parts = [
            CheckPart(self.offer, at, *part, posted is not None) for at, part in enumerate(_acted(typed, self.act))
        ]

    @property
    def may_add(self) -> bool:
        return len(self.parts) < MOST_CHECKS

    def _typed_words(self) -> Mapping[str, Any] | None:
        """Bound only when it is to be saved: nobody is told off while they add a check."""
        return self.posted if self.act == "save" else None

    def _words(self) -> Fields:
        if self.posted is not None:
            return {name: self.posted.get(name, "") for name in _WORDS}
        if self.claim:
            return {name: getattr(self.claim, name) for name in _WORDS}
        return {"language": self.study.language, "code": next_code(self.study)}

    def _kept(self) -> Typed:
        checks = _checks_of(self.claim) if self.claim else []
        return [fields_of(check) for check in checks] or [({"kind": "ranking"}, [])]

    def _typed(self) -> Typed:
        posted: Any = self.posted
        return [self._typed_check(posted, at) for at in range(_count(posted, "checks", MOST_CHECKS))]

    def _typed_check(self, posted: QueryDict, at: int) -> tuple[Fields, list[Fields]]:
        fields = _raw(CheckForm(prefix=f"c{at}"), posted)
        places = range(_count(posted, f"c{at}-groups", MOST_TERMS))
        groups = [_raw(GroupForm(self.offer, prefix=f"c{at}g{place}"), posted) for place in places]
        if posted.get(f"c{at}-was") != fields["kind"]:
            del fields["is_strict"]  # it was not asked for yet: as a new check has it
            while groups and not any(groups[-1][name] for name in _CHOSEN):
                groups.pop()  # nobody chose anything in it: the new kind has as many as it needs
        return fields, groups

    @cached_property
    def definition(self) -> ClaimDefinition | None:
        checks = [part.check for part in self.parts]
        made = [check for check in checks if check is not None]
        return ClaimDefinition(made) if made and len(made) == len(checks) else None

    @property
    def is_good(self) -> bool:
        return self.definition is not None and self.form.is_valid()

    def save(self, actor: str) -> Claim | None:
        """Save and evaluate the claim; return None where something does not fit."""
        if self.definition is None or not self.form.is_valid():
            return None
        fields = {**self.form.cleaned_data, "definition": as_data(self.definition), "kind": self.definition.kind}
        claim = self.claim or Claim(study=self.study, position=Claim.objects.of_study(self.study).count())
        for name, value in {**fields, "changed_by": actor}.items():
            setattr(claim, name, value)
        return store_claim(claim, self.form)


def store_claim(claim: Claim, form: Form) -> Claim | None:
    """Save and evaluate a claim; None, with an error at the form's code, where somebody took its code a moment ago."""
    try:
        with transaction.atomic():
            claim.save()
    except IntegrityError:
        form.add_error("code", "Another claim of this study has this code; give this one a code of its own.")
        return None
    evaluate(claim)
    return claim


def next_code(study: Study) -> str:
    """Return the first code that no claim of the study has."""
    taken = set(Claim.objects.of_study(study).values_list("code", flat=True))
    return next(code for number in range(1, len(taken) + 2) if (code := f"C{number:02}") not in taken)


def _count(posted: QueryDict, name: str, most: int) -> int:
    text = posted.get(name, "")
    return min(whole_number(text, most=999) or 0, most)


def _raw(form: Any, posted: QueryDict) -> Fields:
    """Return the posted values as they are; the definition's validation reports what is wrong with them."""
    typed: Fields = {}
    for name, field in form.fields.items():
        value = field.widget.value_from_datadict(posted, {}, form.add_prefix(name))
        typed[name] = value.strip() if isinstance(value, str) else value if value is not None else ""
    if "count" in typed:
        typed["count"] = whole_number(typed["count"] or "")
    return typed


def _acted(typed: Typed, act: str) -> Typed:
    """Add or remove checks and groups as the pressed button says: `add`, `remove-1`, `more-0`, `less-0`."""
    word, _, number = act.partition("-")
    place = whole_number(number, most=len(typed) - 1)
    if word == "add":
        typed = [*typed, ({"kind": "ranking"}, [])]
    if place is not None and word == "remove":
        typed = typed[:place] + typed[place + 1 :]
    if place is not None and word == "more":
        typed[place][1].append({})
    if place is not None and word == "less":
        del typed[place][1][-1:]
    return [(fields, _enough(fields, groups)) for fields, groups in typed]


def _enough(fields: Fields, groups: list[Fields]) -> list[Fields]:
    """Return as many groups as the kind of check needs at least and takes at most."""
    kind = fields.get("kind") or "ranking"
    if kind == WRITTEN:
        return []
    more = max(0, LEAST.get(kind, 0) - len(groups))
    return (groups + [{"source": "samples"} for _ in range(more)])[: MOST.get(kind, 0)]
