"""A printed rate and the values it may stand for: K, M and G count 1000 or 1024, b is a bit and B a byte."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_RATE = re.compile(
    r"[~≈<>≥]?\s*(\d[\d.,]*)\s*([kKmMgGtT]?)(i?)(bytes?|bits?|[bB])?(?:/s(?:ec)?|ps|s)\.?", re.ASCII | re.IGNORECASE
)
_PREFIXES = "KMGT"
BASES = (1000, 1024)


@dataclass(frozen=True)
class PrintedRate:
    """`step`: one unit of the last printed digit, as tools round or cut; both numbers in the printed unit."""

    number: float
    step: float
    unit: str
    power: int
    is_binary: bool  # KiB, MiB, GiB: said, not guessed
    is_bits: bool

    def fits(self, value: float, factor: float) -> bool:
        return abs(self.number * factor - value) <= self.step * factor * (1 + 1e-9)

    def factors(self) -> dict[int, float]:
        """Return bytes/s of one printed unit for each base."""
        bases = (1024,) if self.is_binary else (1000,) if self.is_bits else BASES
        return {base: base**self.power / (8 if self.is_bits else 1) for base in bases}

    def base_of(self, value: float) -> int | None:
        """Return the one base in which the figure is this value, or None where both or none are, or the unit itself says."""
        if not self.power or self.is_binary or self.is_bits:
            return None
        fitting = [base for base, factor in self.factors().items() if self.fits(value, factor)]
        return fitting[0] if len(fitting) == 1 else None

    def other_units(self, value: float) -> Iterator[str]:
        """Yield what the unit would have to mean for the figure to be this value."""
        for power in range(len(_PREFIXES) + 1):
            letter = ("", *_PREFIXES)[power]
            for name, factor in _meanings(letter, power):
                if self.fits(value, factor):
                    yield name


def _meanings(letter: str, power: int) -> Iterator[tuple[str, float]]:
    yield f"{letter}B/s of {1000**power:,} bytes".replace(",", " "), 1000.0**power
    if power:
        yield f"{letter}iB/s", 1024.0**power
    if power > 1:
        yield (
            f"{letter}B/s of 1000 KiB" if power == 2 else f"{letter}B/s of 1000 {_PREFIXES[power - 2]}iB",
            (1000.0 * 1024 ** (power - 1)),
        )
    yield f"{letter}bit/s", 1000.0**power / 8


@lru_cache(maxsize=4096)
def printed_rate(text: str) -> PrintedRate | None:
    """Parse `1.4 GB/s`, `177456.5 Kbyte/sec`, `8 Gbs` or `423197 K/sec`; return None for anything else."""
    match = _RATE.fullmatch(text.strip())
    digits = _plain(match[1]) if match else None
    if not match or digits is None:
        return None
    unit = text.strip().lstrip("~≈<>≥ ").removeprefix(match[1]).strip()
    prefix, word = match[2].upper(), match[4] or ""
    decimals = len(digits.partition(".")[2])
    is_bits = word == "b" or word.lower().startswith("bit")
    power = _PREFIXES.index(prefix) + 1 if prefix else 0
    return PrintedRate(float(digits), 10.0**-decimals, unit, power, bool(match[3]), is_bits)


def _plain(digits: str) -> str | None:
    """Return the digits with a decimal point: one comma alone is a decimal comma, several separate thousands."""
    if digits.count(",") == 1 and "." not in digits:
        digits = digits.replace(",", ".")
    digits = digits.replace(",", "")
    return digits if digits.count(".") <= 1 else None
