"""The site's colours for pictures, as `static/css/spindle.css` has them, and the ramp of heat maps.

Series differ by mark and dash as well, so nobody needs colours to tell them apart. The ramp grows lighter throughout
and goes from blue to yellow (cividis, Nuñez, Anderton and Renslow, PLOS ONE 2018), which every kind of colour vision
sees alike.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    surface: str
    line: str
    line_strong: str
    ink: str
    ink_2: str
    warn: str
    bad: str
    series: tuple[str, ...]


THEMES = {
    "light": Palette(
        "#ffffff", "#dde2e5", "#76848c", "#1a2328", "#55636b", "#8a5a00", "#b3261e",
        ("#0a6a72", "#b4531a", "#4b5fc4", "#8a3b86", "#4f7a1c", "#a3324b", "#6b5a10", "#47606c"),
    ),
    "dark": Palette(
        "#192025", "#2d383f", "#74838c", "#e4eaed", "#9fadb5", "#e8b44c", "#f5938b",
        ("#5cc5c8", "#f0995c", "#94a5f7", "#d98fd4", "#a3cf6a", "#f08aa0", "#d9c25a", "#a9bcc6"),
    ),
}  # fmt: skip
RAMP = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")
DARK_INK, LIGHT_INK = "#000000", "#ffffff"


def shade_colour(share: float) -> str:
    """Return the colour of the ramp at 0 to 1, interpolated between its steps."""
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    left = min(int(place), len(RAMP) - 2)
    parts = zip(_rgb(RAMP[left]), _rgb(RAMP[left + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - left)):02x}" for a, b in parts)


def ink_on(colour: str) -> str:
    """Return black or white, whichever has more contrast (relative luminance of WCAG 2)."""
    luminance = sum(
        share * _linear(part / 255) for share, part in zip((0.2126, 0.7152, 0.0722), _rgb(colour), strict=True)
    )
    return DARK_INK if luminance > 0.179 else LIGHT_INK


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
