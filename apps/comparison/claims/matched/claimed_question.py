"""What a claim says of a question: of two levels of its factor, which way and by how much they differ, and in which runs.

The ratio that is claimed is a range (`claimed_ratios`), so that one rule gives every verdict.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from apps.comparison.claims.checks.definition import DefinitionError, Number, Strict
from apps.comparison.labels import UNKNOWN
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.like_for_like.strata import MovedFacts
from apps.comparison.question import MOST_FILTERS, NAME
from apps.comparison.questions import BY_NAME
from apps.comparison.questions.factor import Factor
from apps.runs.metrics import METRICS, OPERATIONS

Direction = Literal["higher", "lower", "same", "not_higher", "not_lower"]
DIRECTIONS: tuple[str, ...] = get_args(Direction)
USUAL_MARGIN = 0.05
MOST_SIZE = 1000.0
LONGEST_LEVEL = 200


class RunFilter(Strict, frozen=True):
    """A fact of runs and the values that count; the shape is that of a check's conditions, so that names are followed."""

    name: str
    equals: list[str]


class ClaimedQuestion(Strict, frozen=True):
    """One contrast of a question.

    `direction` is of the level against the other one. `size`: of `higher` the least ratio, of `lower` the greatest one,
    of the others how far from equal (0.05 is 5 %); None is any size, and 5 % for `same`, `not_higher` and `not_lower`.
    `hold` and `ignore` are facts that were moved; `published` adds the published reports; a study is a filter.
    """

    factor: str
    level: str
    against: str
    operation: str
    metric: str
    direction: Direction = "higher"
    size: Number | None = None
    hold: list[str] = []
    ignore: list[str] = []
    published: bool = False
    where: list[RunFilter] = []

    @property
    def data(self) -> dict[str, Any]:
        """Return plain JSON without defaults."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @property
    def rules(self) -> Factor:
        """Return the factor that it asks about."""
        return BY_NAME[self.factor]

    @property
    def study(self) -> str:
        """Return the slug of the study whose runs alone count; empty for all."""
        return next((one.equals[0] for one in self.where if one.name == "study" and one.equals), "")

    @property
    def selection(self) -> FactorSelection:
        """Return the address of the question, without the level."""
        filters = tuple((one.name, value) for one in self.where if one.name != "study" for value in one.equals)
        moved = MovedFacts(tuple(self.hold), tuple(self.ignore))
        return FactorSelection(
            self.operation, self.metric, self.against, moved, self.published, self.study, tuple(sorted(filters))
        )

    @property
    def claimed_ratios(self) -> tuple[float, float]:
        """Return the least and the greatest ratio that the claim allows."""
        near = 1 + (USUAL_MARGIN if self.size is None else self.size)
        return {
            "higher": (float(self.size or 1), math.inf),
            "lower": (0.0, float(self.size or 1)),
            "same": (1 / near, near),
            "not_higher": (0.0, near),
            "not_lower": (1 / near, math.inf),
        }[self.direction]

    @property
    def named_things(self) -> dict[str, Any]:
        """Return everything in it that may be renamed, in the shape of a check's conditions."""
        levels = [{"name": self.rules.fact, "equals": [level]} for level in (self.level, self.against)]
        return {"where": [*levels, *msgspec.to_builtins(self.where)]}

    def renamed(self, named_things: Mapping[str, Any]) -> "ClaimedQuestion":
        """Return the question with current names, as `named_things` has them."""
        level, against, *where = named_things["where"]
        filters = [RunFilter(one["name"], list(one["equals"])) for one in where]
        return msgspec.structs.replace(self, level=level["equals"][0], against=against["equals"][0], where=filters)


def claimed_question_of(data: Any) -> ClaimedQuestion:
    """Parse what a claim says of a question.

    Raises:
        DefinitionError: A field does not fit; the error names it.
    """
    try:
        question = msgspec.convert(data, ClaimedQuestion)
    except msgspec.ValidationError as error:
        raise DefinitionError("question", "something else", str(error)) from None
    for field, value, known in (
        ("factor", question.factor, BY_NAME), ("operation", question.operation, OPERATIONS),
        ("metric", question.metric, METRICS),
    ):  # fmt: skip
        if value not in known:
            raise DefinitionError(field, value, f"one of: {', '.join(known)}")
    for field, level in (("level", question.level), ("against", question.against)):
        if not 0 < len(level) <= LONGEST_LEVEL:
            raise DefinitionError(field, level[:80], "a level of the factor")
    if question.level == question.against:
        raise DefinitionError("against", question.against, "another level")
    _check_size(question)
    _check_runs(question)
    return question


def _check_size(question: ClaimedQuestion) -> None:
    size = question.size
    if size is None:
        return
    low, high = {"higher": (1.0, MOST_SIZE), "lower": (0.0, 1.0)}.get(question.direction, (0.0, 1.0))
    if not (math.isfinite(size) and low <= size <= high and size > 0):
        raise DefinitionError("size", size, f"a number above 0, from {low:g} to {high:g}")


def _check_runs(question: ClaimedQuestion) -> None:
    if both := {*question.hold} & {*question.ignore}:
        raise DefinitionError("ignore", ", ".join(sorted(both)), "facts that are not held as well")
    if len(question.where) > MOST_FILTERS:
        raise DefinitionError("where", f"{len(question.where)} entries", f"at most {MOST_FILTERS}")
    for place, one in enumerate(question.where):
        if not NAME.fullmatch(one.name) or not one.equals:
            raise DefinitionError(f"where[{place}]", one.name, f"the name of a fact, and its values or {UNKNOWN}")


def question_from(selection: FactorSelection, factor: Factor, level: str, direction: Direction) -> ClaimedQuestion:
    """Return a claim's question from an address with its measure and the level to hold against."""
    filters: dict[str, list[str]] = {"study": [selection.study]} if selection.study else {}
    for name, value in selection.filters:
        filters.setdefault(name, []).append(value)
    return ClaimedQuestion(
        factor=factor.name, level=level, against=selection.against, operation=selection.operation,
        metric=selection.metric, direction=direction, hold=list(selection.moved.held),
        ignore=list(selection.moved.ignored), published=selection.published,
        where=[RunFilter(name, values) for name, values in filters.items()],
    )  # fmt: skip


# As for checks: msgspec looks at a type when it is first asked to fill one, which two threads must not do together.
msgspec.json.Decoder(ClaimedQuestion)
