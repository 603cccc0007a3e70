"""The kinds of values that options of fio take: in words, as a check, and as fio reads them.

A value is an integer, a finite number, a boolean, a word of a fixed list, or a list of those. What cannot be one of them has no
way into a job file: each rule writes only what it has checked.
"""

import math
import re
from typing import Any, Callable, Dict, List, NamedTuple, Tuple


class Rule(NamedTuple):
    """What is allowed: in words, as a function, and how a job file has it."""

    words: str
    is_right: Callable[[Any], bool]
    spell: Callable[[Any], str]


def is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def is_real(value: Any, low: float, high: float) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and low <= value <= high


def is_list(value: Any, least: int, most: int) -> bool:
    return type(value) is list and least <= len(value) <= most


def spell_real(value: float) -> str:
    """Return a number without exponent, with at most six decimals and no superfluous zero."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def integer(low: int, high: int, step: int = 1) -> Rule:
    words = f"a whole number from {low} to {high}" + (f", a multiple of {step}" if step > 1 else "")
    return Rule(words, lambda value: is_whole(value, low, high) and value % step == 0, str)


def power_of_two(low: int, high: int) -> Rule:
    words = f"a power of two from {low} to {high}"
    return Rule(words, lambda value: is_whole(value, low, high) and value & (value - 1) == 0, str)


def number(low: float, high: float) -> Rule:
    words = f"a number from {spell_real(low)} to {spell_real(high)}"
    return Rule(words, lambda value: is_real(value, low, high), spell_real)


def word(*words: str) -> Rule:
    return Rule("one of " + ", ".join(words), lambda value: type(value) is str and value in words, str)


def boolean() -> Rule:
    return Rule("true or false", lambda value: type(value) is bool, lambda value: str(int(value)))


def or_null(rule: Rule) -> Rule:
    return rule._replace(is_right=lambda value: value is None or rule.is_right(value))


def hex_pattern() -> Rule:
    words = "0x and 1 to 64 bytes as small hexadecimal digits"
    shape = re.compile(r"0x(?:[0-9a-f]{2}){1,64}")
    return Rule(words, lambda value: type(value) is str and shape.fullmatch(value) is not None, str)


def number_list(low: int, high: int, most: int = 2) -> Rule:
    """Return the rule of numbers of reads and of writes."""
    return Rule(
        f"a list of 1 to {most} whole numbers from {low} to {high}",
        lambda value: is_list(value, 1, most) and all(is_whole(item, low, high) for item in value),
        lambda value: ",".join(map(str, value)),
    )


def number_set(high: int, most: int = 1024) -> Rule:
    """Return the rule of numbers of CPUs or of NUMA nodes."""
    return Rule(
        f"a list of 1 to {most} different whole numbers from 0 to {high}, in their order",
        lambda value: is_list(value, 1, most) and _is_set(value, 0, high),
        lambda value: ",".join(map(str, value)),
    )


def _is_set(value: List[Any], low: int, high: int) -> bool:
    return all(is_whole(item, low, high) for item in value) and value == sorted(set(value))


def size_ranges(low: int, high: int) -> Rule:
    """Return the rule of the least and greatest size of reads, and of writes where those differ."""

    def is_pair(pair: Any) -> bool:
        return (
            is_list(pair, 2, 2)
            and all(is_whole(item, low, high) and not item % 512 for item in pair)
            and pair[0] <= pair[1]
        )

    return Rule(
        f"1 or 2 pairs of sizes from {low} to {high}, a multiple of 512, the smaller first",
        lambda value: is_list(value, 1, 2) and all(map(is_pair, value)),
        lambda value: ",".join("-".join(map(str, pair)) for pair in value),
    )


def size_shares(low: int, high: int, most: int = 64) -> Rule:
    """Return the rule of sizes with their share in percent, of reads, and of writes where those differ."""

    def is_pair(pair: Any) -> bool:
        return is_list(pair, 2, 2) and is_whole(pair[0], low, high) and not pair[0] % 512 and is_whole(pair[1], 0, 100)

    def is_split(split: Any) -> bool:
        return is_list(split, 1, most) and all(map(is_pair, split)) and sum(share for _, share in split) == 100

    return Rule(
        f"1 or 2 lists of 1 to {most} pairs: a size from {low} to {high}, a multiple of 512, and its share in percent, 100 together",
        lambda value: is_list(value, 1, 2) and all(map(is_split, value)),
        lambda value: ",".join(":".join(f"{size}/{share}" for size, share in split) for split in value),
    )


Bounds = Dict[str, Tuple[Tuple[float, float], ...]]


def word_with_numbers(words: Bounds, least: int = 0) -> Rule:
    """Return the rule of a word, and for some words numbers behind it."""

    def is_right(value: Any) -> bool:
        if not is_list(value, 1, 10) or type(value[0]) is not str or value[0] not in words:
            return False
        bounds = words[value[0]]
        known = min(least, len(bounds)) <= len(value) - 1 <= len(bounds)
        return known and all(is_real(item, low, high) for item, (low, high) in zip(value[1:], bounds))

    shapes = [
        ":".join([name] + [f"{spell_real(low)}…{spell_real(high)}" for low, high in bounds])
        for name, bounds in words.items()
    ]
    return Rule(
        "one of " + ", ".join(shapes),
        is_right,
        lambda value: ":".join([value[0]] + [spell_real(item) for item in value[1:]]),
    )


def access_shares(simple: Rule, most: int = 64, highest_block: int = 2**40) -> Rule:
    """Return the rule of where random I/O goes: a word with numbers, zones with their shares, or a list of blocks."""

    def is_right(value: Any) -> bool:
        if not is_list(value, 1, most + 1) or value[0] not in ("zoned", "sequence"):
            return simple.is_right(value)
        rest = value[1:]
        if value[0] == "sequence":
            return bool(rest) and all(is_whole(block, 0, highest_block) for block in rest)
        whole = len(rest) > 1 and all(
            is_list(zone, 2, 2) and all(is_whole(part, 0, 100) for part in zone) for zone in rest
        )
        return whole and sum(zone[0] for zone in rest) == 100 and sum(zone[1] for zone in rest) == 100

    def spell(value: Any) -> str:
        if value[0] == "zoned":
            return ":".join(["zoned"] + [f"{share}/{room}" for share, room in value[1:]])
        return "sequence:" + ",".join(map(str, value[1:])) if value[0] == "sequence" else simple.spell(value)

    words = f"{simple.words}, zoned with 2 to {most} pairs of percents, 100 together each, or sequence with 1 to {most} numbers of blocks"
    return Rule(words, is_right, spell)


def word_list(words: Tuple[str, ...], most: int = 0) -> Rule:
    """Return the rule of different words of a fixed list in its order; behind them a whole number where `most` is above 0."""

    def is_right(value: Any) -> bool:
        if type(value) is not list:
            return False
        names = value[:-1] if most else value
        known = (
            bool(names)
            and all(type(name) is str for name in names)
            and names == [name for name in words if name in names]
        )
        return known and (not most or is_whole(value[-1], 1, most))

    behind = f", and behind them a whole number from 1 to {most}" if most else ""
    return Rule(
        f"a list of some of {', '.join(words)}, each once and in this order{behind}",
        is_right,
        lambda value: f"{','.join(value[:-1])}:{value[-1]}" if most else ",".join(value),
    )


def steady_limit(*words: str) -> Rule:
    """Return the rule of what shall be steady and how much, in percent or not."""

    def is_right(value: Any) -> bool:
        if not is_list(value, 2, 3) or type(value[0]) is not str:
            return False
        high = 100 if len(value) == 3 else 10**12
        return value[0] in words and is_real(value[1], 0.000001, high) and value[2:] in ([], ["%"])

    return Rule(
        f"one of {', '.join(words)} with a limit above 0, with or without %",
        is_right,
        lambda value: f"{value[0]}:{spell_real(value[1])}{''.join(value[2:])}",
    )


def memory_nodes() -> Rule:
    """Return the rule of how memory is taken from NUMA nodes."""
    alone, with_nodes, high = ("default", "local"), ("prefer", "bind", "interleave"), 1023

    def is_right(value: Any) -> bool:
        if not is_list(value, 1, 65) or type(value[0]) is not str:
            return False
        nodes = value[1:]
        if value[0] in alone:
            return not nodes
        return (
            value[0] in with_nodes
            and 1 <= len(nodes) <= (1 if value[0] == "prefer" else 64)
            and _is_set(nodes, 0, high)
        )

    return Rule(
        f"one of {', '.join(alone)}, or {', '.join(with_nodes)} with nodes from 0 to {high}",
        is_right,
        lambda value: f"{value[0]}:{','.join(map(str, value[1:]))}" if value[1:] else str(value[0]),
    )


def error_lists(high: int = 133) -> Rule:
    """Return the rule of numbers of errors for reads, for writes and for verification."""

    def is_right(value: Any) -> bool:
        if not is_list(value, 1, 3) or not all(is_list(part, 0, 16) for part in value):
            return False
        return any(value) and all(_is_set(part, 1, high) for part in value)

    return Rule(
        f"1 to 3 lists of at most 16 different numbers of errors from 1 to {high}, not all empty",
        is_right,
        lambda value: ",".join(":".join(map(str, part)) for part in value),
    )
