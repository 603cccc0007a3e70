"""The typed definition of a claim, as in claims.yaml, as stored JSON, and as made by the page's form.

`definition_of(data) -> Definition` checks everything; what is wrong is a `DefinitionError` that names the field, what
was found and what was expected. Nothing in it is ever run as code. All numbers are in base units (bytes, bytes/s, 1/s,
ns, fractions), but for what a report's prose says (`Quoted`), which keeps the unit that the report prints.
"""

from typing import Any, Literal

import msgspec

Unit = Literal["B/s", "B", "1/s", "ns", "fraction", ""]
Aggregate = Literal["mean", "median", "max", "min", "sum", "count", "largest_file", "smallest_file"]
Number = int | float
Value = str | bool | int | float


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Bounds(Strict, frozen=True):
    """At least one of them; `above` and `below` exclude the bound itself."""

    at_least: Number | None = None
    above: Number | None = None
    at_most: Number | None = None
    below: Number | None = None


class Where(Bounds, frozen=True):
    """One condition on a sample: a point's dimension, `file_size_over_ram`, `file_size_over_cache`, a fact or a label."""

    name: str = ""
    equals: list[Value] = []
    is_unknown: bool = False


class SampleGroup(Strict, frozen=True, tag="samples", tag_field="is"):
    """A group of samples and the one number that stands for it.

    No configurations or operations means all of them. `take` is `value`, or a point's dimension or fact (`file_size`,
    `ram`, `threads`), or `decimals`, the digits behind the point of what was printed. `times` multiplies the number.
    `is_matched: false`: the same number for every comparison, whatever the check is made `per`.
    """

    name: str = ""
    configurations: list[str] = []
    operations: list[str] = []
    metric: str = "bandwidth"
    where: list[Where] = []
    take: str = "value"
    aggregate: Aggregate = "mean"
    times: Number = 1
    is_matched: bool = True


class Stated(Strict, frozen=True, tag="stated", tag_field="is"):
    """A number that the report states and no sample holds, or a limit that the claim sets."""

    value: Number
    unit: Unit = ""
    name: str = ""
    line: str = ""


class Arithmetic(Strict, frozen=True, tag="arithmetic", tag_field="is"):
    """Numbers put together from left to right: a − b − c, a ÷ b ÷ c."""

    operator: Literal["sum", "difference", "product", "quotient"]
    of: list["Term"]
    name: str = ""


Term = SampleGroup | Stated | Arithmetic


class Check(Strict, frozen=True):
    """`per`: what comparisons are made for, each value by itself (`file_size`, `configuration`, `interface` …).

    `is_denied`: the claim says that it is not so. `name` is a remark for people.
    """

    per: list[str] = []
    is_denied: bool = False
    name: str = ""


class Ranking(Check, frozen=True, tag="ranking", tag_field="kind"):
    """Each of the chain is above the next one, or, if not strictly, not below it."""

    chain: list[Term] = []
    is_strict: bool = True


class RatioCheck(Check, frozen=True, tag="ratio", tag_field="kind"):
    """`of` ÷ `over` lies within the bounds."""

    of: Term | None = None
    over: Term | None = None
    at_least: Number | None = None
    above: Number | None = None
    at_most: Number | None = None
    below: Number | None = None


class Threshold(Check, frozen=True, tag="threshold", tag_field="kind"):
    """`of` lies within bounds that are numbers, samples or arithmetic themselves."""

    of: Term | None = None
    at_least: Term | None = None
    above: Term | None = None
    at_most: Term | None = None
    below: Term | None = None


class Equality(Check, frozen=True, tag="equality", tag_field="kind"):
    """|of − to| ≤ `absolute` (base unit), or ≤ `relative` × |to|; neither means exactly."""

    of: Term | None = None
    to: Term | None = None
    absolute: Number | None = None
    relative: Number | None = None


class Monotony(Check, frozen=True, tag="monotony", tag_field="kind"):
    """Values rise (or fall) along a dimension, one series for each value of `per`.

    Steps of up to `slack` the other way, a fraction, are no step.
    """

    of: SampleGroup | None = None
    along: str = "file_size"
    direction: Literal["rising", "falling"] = "rising"
    slack: Number = 0


class Quoted(Strict, frozen=True):
    """A figure as the report's text has it: 120 with the unit `MB/s`, which may mean more than one thing."""

    value: Number
    unit: str
    text: str = ""
    line: str = ""


class Meaning(Strict, frozen=True):
    """What the quoted unit may mean: `factor` base units."""

    name: str
    factor: Number


class TextAgainstTable(Check, frozen=True, tag="text_against_table", tag_field="kind"):
    """The quoted figure is `of` within `within`, under at least one meaning of its unit.

    `within` is in the quoted unit; left out, it is half a unit of its last digit. All usual meanings of the unit are
    tried where none is given.
    """

    quoted: Quoted | None = None
    of: Term | None = None
    meanings: list[Meaning] = []
    within: Number | None = None


class Members(Strict, frozen=True):
    """A set of words: as the report states it, and what a fact of samples holds."""

    name: str
    values: list[str] = []
    line: str = ""
    taken: SampleGroup | None = None


class Sets(Check, frozen=True, tag="facts", tag_field="kind"):
    """Sets of things, such as the member disks of arrays.

    No two share one, all are equal, the first lies in the second, or each has `count` of them.
    """

    relation: Literal["disjoint", "equal", "subset", "count"] = "disjoint"
    sets: list[Members] = []
    count: int | None = None


class NotCheckable(Check, frozen=True, tag="not_checkable", tag_field="kind"):
    """What these data cannot say, and why: the numbers are elsewhere, or it is a judgement."""

    reason: str = ""


AnyCheck = Ranking | RatioCheck | Threshold | Equality | Monotony | TextAgainstTable | Sets | NotCheckable
KINDS = {
    "ranking": "Ranking",
    "ratio": "Ratio",
    "threshold": "Threshold",
    "equality": "Equality",
    "monotony": "Monotony",
    "text_against_table": "Text against table",
    "facts": "Facts",
    "not_checkable": "Not checkable",
}


class ClaimDefinition(Strict, frozen=True):
    checks: list[AnyCheck]

    @property
    def kind(self) -> str:
        """Return the kind of the first check that asks the data something."""
        kinds = [kind_of(check) for check in self.checks]
        return next((kind for kind in kinds if kind != "not_checkable"), "not_checkable")


def kind_of(check: AnyCheck) -> str:
    return str(type(check).__struct_config__.tag)


class DefinitionError(ValueError):
    """`field` is a path: `checks[0].chain[1].operations[0]`."""

    def __init__(self, field: str, value: Any, expected: str) -> None:
        self.field, self.found, self.expected = field, value, expected
        super().__init__(f"{field}: found {value!r}, expected {expected}")


def as_data(definition: ClaimDefinition) -> dict[str, Any]:
    """Return plain JSON without defaults."""
    data: dict[str, Any] = msgspec.to_builtins(definition)
    return data


# msgspec looks at a type when it is first asked to fill one, and the process dies where two threads ask together: so it looks here, once.
msgspec.json.Decoder(ClaimDefinition)
