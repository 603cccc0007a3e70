"""Many cases of one idea as one test: it goes through a sample of them, in the long form through all, and reports every case that fails.

SPINDLE_LONG=1 (`bin/test --long`) takes all cases. SPINDLE_SEED chooses another sample; a failure names the seed that drew it.
"""

import functools
import inspect
import os
import random
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
Test = Callable[..., None]

IS_LONG = os.environ.get("SPINDLE_LONG") == "1"
SEED = int(os.environ.get("SPINDLE_SEED", "1"))
_FULL_REPORTS = 10
_NAME_LENGTH = 120


def examples(number: int) -> int:
    """Return how many examples Hypothesis tries: `number` in the long form, else a quarter, which are always the same."""
    return number if IS_LONG else max(1, number // 4)


def sample(cases: Iterable[Case], number: int, purpose: str = "") -> list[Case]:
    """Return `number` of the cases in their own order, drawn with SPINDLE_SEED; all of them in the long form.

    Another purpose draws other cases of the same list.
    """
    every = list(cases)
    if IS_LONG or len(every) <= number:
        return every
    places = random.Random(f"{SEED} {purpose}").sample(range(len(every)), number)
    return [every[place] for place in sorted(places)]


def in_turn(forms: Iterable[Any], things: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return pairs in which every thing has one of the forms, each form in its turn; in the long form all pairs.

    SPINDLE_SEED chooses which form comes first.
    """
    ways, every = list(forms), list(things)
    if IS_LONG:
        return [(way, thing) for way in ways for thing in every]
    return [(ways[(place + SEED) % len(ways)], thing) for place, thing in enumerate(every)]


def for_each(
    names: str,
    cases: Iterable[Any] | Callable[[], Iterable[Any]],
    number: int | None = None,
    *,
    taken_back: bool = False,
) -> Callable[[Test], Test]:
    """Call the decorated test once for each case, like `pytest.mark.parametrize`, but as one test.

    Args:
        names: the arguments that a case fills, separated by commas.
        cases: values, or tuples of values where there are several names; or a function that makes them when the test runs.
        number: how many cases the short form takes; all without it.
        taken_back: undo after each case what it has written to the database. Fixtures are made once for all cases.
    """
    arguments = [name.strip() for name in names.split(",")]
    known = cases if callable(cases) else list(cases)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            every = list(known()) if callable(known) else known
            numbered = list(enumerate(every))
            chosen = numbered if number is None else sample(numbered, number)
            failures, skipped = [], []
            for place, case in chosen:
                values = dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True))
                try:
                    with nothing_stays() if taken_back else nullcontext():
                        test(**values, **fixtures)
                except pytest.skip.Exception as reason:
                    skipped.append(str(reason))
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((f"case {place}: {name_of(values.values())}", error))
            if failures:
                pytest.fail(report(failures, len(chosen), len(every)), pytrace=False)
            if len(skipped) == len(chosen):
                pytest.skip("; ".join(dict.fromkeys(skipped)) or "there are no cases")

        signature = inspect.signature(test)
        others = [value for name, value in signature.parameters.items() if name not in arguments]
        run_all.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run_all

    return decorate


@contextmanager
def nothing_stays() -> Iterator[None]:
    """Undo what is written to the database meanwhile."""
    from django.db import transaction

    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


def report(failures: Sequence[tuple[str, BaseException]], tried: int, known: int) -> str:
    """Return the text of a failure: the first few cases in full, all others by name."""
    drawn = "" if tried == known else f" of {known}, drawn with SPINDLE_SEED={SEED}"
    parts = [f"{len(failures)} of {tried} cases fail (tried: {tried}{drawn})"]
    for name, error in failures[:_FULL_REPORTS]:
        parts.append(f"--- {name}\n{describe(error)}")
    parts += [f"--- {name}" for name, _ in failures[_FULL_REPORTS:]]
    return "\n".join(parts)


def describe(error: BaseException) -> str:
    """Return the error's text and the lines of the tests and the product that led to it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    places = "\n".join(f"{frame.filename}:{frame.lineno}: {frame.line}" for frame in frames[-4:])
    return f"{places}\n{type(error).__name__}: {error}"


def name_of(values: Iterable[Any]) -> str:
    """Return what tells a case from the others in a report."""
    return ", ".join(_short_name(value) for value in values)


def _short_name(value: Any) -> str:
    if isinstance(value, Path):
        return f"{value.parent.name}/{value.name}"
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    text = name if isinstance(name, str) else repr(value)
    return text if len(text) <= _NAME_LENGTH else f"{text[:_NAME_LENGTH]}…"
