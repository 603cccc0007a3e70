"""Names of many alike parts, each after the former: `eth0`, `eth1` …; `sdy`, `sdz`, `sdaa` …; `HBA`, `HBA 2` …"""

import re

_DEVICE = re.compile(r"((?:/dev/)?(?:sd|hd|vd|xvd))([a-z]+)")


def counted(name: str, number: int) -> str:
    """The name of the one that comes `number` after the one called `name`; leading zeros are kept: `slot 09` → `slot 10`."""
    if number == 0:
        return name
    if device := _DEVICE.fullmatch(name):
        return device[1] + letters(ordinal(device[2]) + number)
    digits = len(name) - len(name.rstrip("0123456789"))
    if not digits:
        return f"{name} {number + 1}"
    return f"{name[:-digits]}{int(name[-digits:]) + number:0{digits}d}"


def ordinal(text: str) -> int:
    """`a` → 0, `z` → 25, `aa` → 26."""
    value = 0
    for letter in text:
        value = value * 26 + ord(letter) - ord("a") + 1
    return value - 1


def letters(value: int) -> str:
    """The other way round."""
    text = ""
    value += 1
    while value:
        value, rest = divmod(value - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
