"""Every regular expression of the parsers takes linear time: by its shape, and by a watch.

By shape, no repetition without a bound repeats another one (`(a+)+`), unless it keeps what it took (`++`, atomic). By
the watch, each is used as its module uses it (search, match…) on the texts that hurt most: its own beginning and then
one letter of each of its repetitions some thousand times, and its beginning as often.
"""

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from re import _parser as sre  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest

import apps.inventory.discovery.tools
import apps.parsers
from tests.pace import slowness
from tests.sampling import IS_LONG, for_each

_UNBOUNDED = 400  # repetitions that may be as many are as bad as those without a bound
_LENGTHS = (40, 16_000)  # the first for those that need exponential time
_SLOWEST_S = 0.1 * slowness()  # linear ones take less than a hundredth
# what no linear one takes; not held against a floor, for the machine may be quicker now than it was then
_SEEN_S = 0.02
_STOPPED_S = (1.0 if IS_LONG else 0.2) * slowness()
_LETTERS = " 1a,.:-A=/(\t\n\"'>*+_#;%"
_SEARCHING = {"search", "finditer", "findall", "sub", "subn", "split"}
_METHODS = {"match", "fullmatch"} | _SEARCHING
# where the module itself hands over no longer texts than these
CUT = {
    "bonnie.format._HEADER": 400, "dd.command._LOOP": 4000,
    "tools.arcconf._ITEM": 4000, "tools.lspci._END": 4000, "tools.lspci: '\\\\s*\\\\[[0-9a-f:]{9}\\\\]$'": 160,
    "tools.zpool._NODE": 400, "tools.mdstat: '\\\\d+ (?:near|far|offset)-copies'": 2000,
    "tables.cells._CELL": 200,
    "tables.row_cells._RULE": 1000, "tables.units._PER_SECOND": 250,
}  # fmt: skip


@cache
def modules() -> tuple[ModuleType, ...]:
    return tuple(
        importlib.import_module(one.name)
        for package in (apps.parsers, apps.inventory.discovery.tools)
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    )


@cache
def sources() -> dict[str, str]:
    return {one.__name__: Path(str(one.__file__)).read_text(encoding="utf-8") for one in modules()}


@cache
def expressions() -> dict[str, tuple[re.Pattern[Any], set[str]]]:
    """By module and name: those kept in a module, and those written where they are used; with how they are used."""
    found: dict[str, tuple[re.Pattern[Any], set[str]]] = {}
    for module in modules():
        short = module.__name__.removeprefix("apps.parsers.").removeprefix("apps.inventory.discovery.")
        last_name = short.split(".")[-1]
        for name, value in vars(module).items():
            for number, pattern in enumerate(_patterns(value)):
                uses = set(re.findall(rf"\b{name}(?:\[[^\]]+\])?\.(\w+)\(", sources()[module.__name__])) & _METHODS
                uses = uses or {
                    use for source in sources().values() if last_name in source for use in uses_of(name, source)
                }
                found[f"{short}.{name}{f'[{number}]' if number else ''}"] = pattern, uses or {"match"}
        for use, pattern in _written_in_place(sources()[module.__name__]):
            found[f"{short}: {pattern.pattern!r:.60}"] = pattern, {use}
    return found


def uses_of(name: str, source: str) -> set[str]:
    return set(re.findall(rf"\b{name}\.(\w+)\(", source)) & _METHODS if name in source else set()


def _patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict | tuple | list | frozenset | set):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _patterns(one)


def _written_in_place(source: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _METHODS
            and node.args
        ):
            is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            if is_re and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str | bytes):
                yield node.func.attr, re.compile(node.args[0].value)


def tree_of(pattern: re.Pattern[Any]) -> Any:
    return sre.parse(pattern.pattern, pattern.flags)


def nested(tree: Any) -> bool:
    """Whether a repetition without a bound has a body that is little but another one, with nothing sure in between."""
    for code, argument in tree:
        name = str(code)
        if name in ("POSSESSIVE_REPEAT", "ATOMIC_GROUP"):
            continue
        if name in ("MAX_REPEAT", "MIN_REPEAT") and _is_endless(argument) and _is_only_repetition(argument[2]):
            return True
        if any(nested(part) for part in _parts(name, argument)):
            return True
    return False


def _is_endless(repetition: Any) -> bool:
    return int(repetition[1]) >= _UNBOUNDED


def _is_only_repetition(body: Any) -> bool:
    """Of what must be there at all there is no more than one part, and one is a repetition without a bound."""
    if len(body) == 1 and str(body[0][0]) in ("SUBPATTERN", "BRANCH"):
        return any(_is_only_repetition(part) for part in _parts(str(body[0][0]), body[0][1]))
    repeats = [argument for code, argument in body if str(code) in ("MAX_REPEAT", "MIN_REPEAT")]
    endless = [argument for argument in repeats if _is_endless(argument) and len(argument[2]) == 1]
    sure = len(body) - len(repeats) + sum(1 for argument in repeats if argument[0])
    return bool(endless) and (sure == 0 or (sure == 1 and any(argument[0] for argument in endless)))


def _parts(name: str, argument: Any) -> list[Any]:
    if name == "BRANCH":
        return list(argument[1])
    if name == "SUBPATTERN":
        return [argument[3]]
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [argument[2]]
    if name in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    return [argument] if name == "ATOMIC_GROUP" else []


def example(tree: Any) -> str:
    """A short text that the expression takes, or nearly."""
    return "".join(_one(str(code), argument) for code, argument in tree)


def _one(name: str, argument: Any) -> str:
    if name == "LITERAL":
        return chr(argument)
    if name in ("NOT_LITERAL", "IN", "ANY"):
        return next(iter(letters(name, argument)), "")
    if name == "BRANCH":
        return example(argument[1][0])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return example(argument[2]) * min(int(argument[0]), 50)
    return "".join(example(part) for part in _parts(name, argument)) if name in ("SUBPATTERN", "ATOMIC_GROUP") else ""


def letters(name: str, argument: Any) -> list[str]:
    """Letters that this place takes."""
    if name == "ANY":
        return list("a 1,")
    single = sre.SubPattern(sre.State())
    single.data = [(getattr(sre, name), argument)]
    from re import _compiler  # type: ignore[attr-defined]

    compiled = _compiler.compile(single)
    own = [chr(value) for code, value in argument if str(code) == "LITERAL"][:3] if name == "IN" else []
    return [letter for letter in [*_LETTERS, *own] if compiled.match(letter)]


def pumps(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """(what leads to a repetition, a letter it repeats), for each repetition without a bound."""
    for code, argument in tree:
        name = str(code)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and int(argument[1]) >= _UNBOUNDED:
            body = argument[2]
            if len(body) == 1 and str(body[0][0]) in ("IN", "ANY", "NOT_LITERAL"):
                yield from ((before, letter) for letter in letters(str(body[0][0]), body[0][1])[:4])
            else:
                yield before, example(body) or "a"
        for part in _parts(name, argument):
            yield from pumps(part, before)
        before += _one(name, argument)


def texts(pattern: re.Pattern[Any], length: int) -> Iterator[str]:
    tree = tree_of(pattern)
    for before, letter in pumps(tree):
        yield before + letter * (length // len(letter)) + "\x01"
        if before:
            yield before * (length // len(before)) + "\x01"
            yield (before + letter) * (length // len(before + letter)) + "\x01"


def slowest(pattern: re.Pattern[Any], use: str, longest: int = _LENGTHS[-1]) -> tuple[float, str]:
    """Seconds, and the beginning of the text that took them."""
    found = (0.0, "")
    for length in (_LENGTHS[0], longest):
        for text in dict.fromkeys(texts(pattern, length)):
            data: Any = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
            seconds = _seconds(pattern, use, data)
            if seconds > _SLOWEST_S:
                seconds = min(seconds, _seconds(pattern, use, data))  # the machine may have been busy
            found = max(found, (seconds, f"{text[:40]!r}… of {length}"))
            if found[0] > _SLOWEST_S:
                return found
    return found


class TooLongError(Exception):
    pass


def _stop(*_: object) -> None:
    raise TooLongError


def _seconds(pattern: re.Pattern[Any], use: str, data: Any) -> float:
    """Processor time; an expression that backtracks without end is stopped."""
    before, handler = time.process_time(), signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _STOPPED_S)
    try:
        if use in _SEARCHING:
            for _ in pattern.finditer(data):
                pass
        else:
            getattr(pattern, use)(data)
    except TooLongError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
    return time.process_time() - before


def names() -> list[str]:
    return sorted(expressions())


def test_there_are_expressions_and_their_uses_are_seen() -> None:
    assert len(expressions()) > 150
    assert sum(1 for _, uses in expressions().values() if uses & _SEARCHING) > 30
    assert not set(CUT) - set(expressions()), "expressions that moved or are gone"


@for_each("name", names)
def test_no_repetition_repeats_another(name: str) -> None:
    pattern, _ = expressions()[name]
    assert not nested(tree_of(pattern)), pattern.pattern


@for_each("name", names, number=200)
def test_the_watch_sees_linear_time(name: str) -> None:
    pattern, uses = expressions()[name]
    for use in sorted(uses):
        seconds, text = slowest(pattern, use, CUT.get(name, _LENGTHS[-1]))
        assert seconds <= _SLOWEST_S, f"{use} of {pattern.pattern!r} took {seconds:.2f} s on {text}"


@pytest.mark.parametrize("bad", [r"(a+)+b", r"(?:\s*x?\s*)*y", r"(\d+)*:", r"(?:[ab]+|c)*d"])
def test_the_shape_of_a_bad_one_is_seen(bad: str) -> None:
    assert nested(sre.parse(bad))


@pytest.mark.parametrize("good", [r"(a++)*b", r"(?:\d{1,3},)*x", r"\d+:\d+", r"(?>a+)*b"])
def test_the_shape_of_a_good_one_passes(good: str) -> None:
    assert not nested(sre.parse(good))


@pytest.mark.parametrize("bad", [r"\d+x", r"a.*b", r"^\s*\w*\s*$", r"\bdd\b.*of="])
def test_the_watch_sees_a_bad_one(bad: str) -> None:
    assert slowest(re.compile(bad), "search")[0] > _SEEN_S
