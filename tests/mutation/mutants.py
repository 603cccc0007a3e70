"""Mutants of the product: one small change each, drawn by a seed.

Operators, constants, loops and decorators are changed by cosmic-ray. Two kinds of our own are drawn on purpose, for
they are what a careless edit loses: a dropped call (an audit event, a check, a save, a task) and a dropped filter.
"""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[2]
AREAS = {
    "apps/agents": ["tests/agents"],
    "apps/api": ["tests/api"],
    "apps/comparison": ["tests/comparison"],
    "apps/labs": ["tests/labs"],
    "apps/parsers": ["tests/parsers"],
    "apps/plans": ["tests/plans"],
    "apps/runs": ["tests/runs", "tests/agents"],
    "apps/studies": ["tests/studies"],
    "apps/trends": ["tests/trends"],
}
OPERATORS = (
    "ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add", "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul", "ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_LtE_Lt", "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt", "ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is",
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "NumberReplacer",
    "RemoveDecorator", "ZeroIterationForLoop",
)  # fmt: skip
FILTERS = ("filter", "exclude")
DROPPED_CALLS = "dropped call"
DROPPED_FILTERS = "dropped filter"
OWN_SHARE = 0.4  # of the sample: what is drawn on purpose
UNSEEN = re.compile(r"\b(frozen|gc|slots)=(True|False)")  # of dataclasses and structs: nobody sees which


@dataclass(frozen=True)
class Mutant:
    """One change of one module: `before` and `after` are the changed lines, in one line each."""

    path: str
    kind: str
    code: str
    line: int
    before: str
    after: str

    @property
    def area(self) -> str:
        return next(area for area in AREAS if self.path.startswith(f"{area}/"))

    @property
    def tests(self) -> list[str]:
        """Return the folders of the tests that should notice."""
        return AREAS[self.area]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place} {self.kind}: `{self.before}` became `{self.after}`"


def sample(number: int, seed: int) -> list[Mutant]:
    """Return `number` different mutants; the same seed gives the same ones while the product is the same."""
    chance = random.Random(seed)
    mutants: dict[tuple[str, str], Mutant] = {}
    areas = sorted(AREAS)
    while len(mutants) < number:
        modules = modules_of(areas[len(mutants) % len(areas)])
        path = chance.choices(modules, weights=[len(source(module)) for module in modules])[0]
        makers = [DROPPED_CALLS, DROPPED_FILTERS] if chance.random() < OWN_SHARE else list(OPERATORS)
        if mutant := draw(path, chance.choice(makers), chance):
            mutants.setdefault((mutant.path, mutant.code), mutant)
    return list(mutants.values())


@cache
def modules_of(area: str) -> list[str]:
    paths = (ROOT / area).rglob("*.py")
    return sorted(
        str(path.relative_to(ROOT))
        for path in paths
        if "migrations" not in path.parts and path.name not in ("__init__.py", "apps.py", "urls.py")
    )


@cache
def source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def draw(path: str, kind: str, chance: random.Random) -> Mutant | None:
    """Return one mutant of this kind, or None where the module has no place for it."""
    if kind in (DROPPED_CALLS, DROPPED_FILTERS):
        changes = list(dropped_calls(path) if kind == DROPPED_CALLS else dropped_filters(path))
        code = chance.choice(changes) if changes else None
    else:
        operator = get_operator(f"core/{kind}")()
        places = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(get_ast(source(path))))
        code = mutate_code(source(path), operator, chance.randrange(places)) if places else None
    return described(path, kind, code) if code and is_python(code) else None


def dropped_calls(path: str) -> Iterator[str]:
    """Yield the module without one of the calls that are statements by themselves."""
    for node in ast.walk(ast.parse(source(path))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield replaced(path, node, "pass")


def dropped_filters(path: str) -> Iterator[str]:
    """Yield the module with one `.filter(…)` or `.exclude(…)` of a chain left out."""
    for node in ast.walk(ast.parse(source(path))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILTERS:
            rest = ast.get_source_segment(source(path), node.func.value) or ""
            yield replaced(path, node, f"{rest}.all()" if rest.endswith("objects") else rest)


def replaced(path: str, node: ast.expr | ast.Expr, text: str) -> str:
    """Return the module's source with the node's text replaced."""
    raw = source(path).encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
    return (raw[:begin] + text.encode() + raw[end:]).decode()


def is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def described(path: str, kind: str, code: str) -> Mutant | None:
    """Return the mutant with the lines that differ, or None where nothing but layout does."""
    if ast.dump(ast.parse(code)) == ast.dump(ast.parse(source(path))):
        return None
    if UNSEEN.sub("", code) == UNSEEN.sub("", source(path)):
        return None
    if kind.startswith("ReplaceBinaryOperator") and operators(code) == operators(source(path)):
        return None  # the mark of arguments that are given by name: `*` became `/`
    old, new = source(path).splitlines(), code.splitlines()
    first = equal_lines(old, new)
    last = equal_lines(old[first:][::-1], new[first:][::-1])
    before, after = (
        " ".join(filter(None, map(str.strip, lines[first : len(lines) - last]))) or "(nothing)" for lines in (old, new)
    )
    first += next((n for n, line in enumerate(old[first : len(old) - last]) if line.strip()), 0)
    return Mutant(path, kind, code, first + 1, before, after)


def operators(code: str) -> list[str]:
    return [type(node.op).__name__ for node in ast.walk(ast.parse(code)) if isinstance(node, ast.BinOp | ast.AugAssign)]


def equal_lines(old: list[str], new: list[str]) -> int:
    """Return how many lines are equal from the beginning."""
    pairs = zip(old, new, strict=False)
    return next((n for n, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(old), len(new)))
