"""A chart as SVG or PNG for wikis and documents, drawn by Matplotlib on the server with the chart's own numbers.

    render(chart, "svg", width=960, height=540, theme="light") → bytes

The same chart gives the same bytes. Letters are drawn as paths in a font that comes with Matplotlib, so the picture
looks alike everywhere and text can be neither markup nor formula; an SVG says its title and description besides.
"""

import io
import re
import threading
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from apps.comparison.charts.chart import Chart
from apps.comparison.charts.palette import THEMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = ("svg", "png")
WIDTHS, HEIGHTS = (320, 2400), (240, 1600)  # pixels
WIDTH, HEIGHT, THEME = 960, 540, "light"
DOTS = 100  # per inch
_SETTINGS: Any = {
    "svg.hashsalt": "spindle", "svg.fonttype": "path", "text.parse_math": False, "text.usetex": False,
    "axes.formatter.use_mathtext": False, "font.family": ["DejaVu Sans"], "font.size": 9.0, "axes.unicode_minus": True,
}  # fmt: skip
# Matplotlib keeps fonts in one place for all threads.
_one_at_a_time = threading.Lock()
# What of XML 1.0 no document may hold, however it is written.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(chart: Chart, form: str, width: int = WIDTH, height: int = HEIGHT, theme: str = THEME) -> bytes:
    """Render a chart as SVG or PNG of width × height pixels, within `WIDTHS` and `HEIGHTS`.

    Raises:
        ValueError: There is no such form, size or theme.
    """
    return render_figure(
        lambda: figure_of(chart, width, height, theme),
        form,
        (width, height),
        theme,
        (chart.title, " ".join([chart.description, *(f"{line}." for line in chart.caveats)])),
    )


def render_figure(
    draw: Callable[[], "Figure"], form: str, size: tuple[int, int], theme: str, words: tuple[str, str]
) -> bytes:
    """Render what `draw` returns as SVG or PNG; `words` are its title and its description.

    Raises:
        ValueError: There is no such form, size or theme.
    """
    _check(form, *size, theme)
    out = io.BytesIO()
    with _one_at_a_time, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # drawn as a box: the table has it
        figure = draw()
        figure.savefig(out, format=form, facecolor=figure.get_facecolor(), metadata=_metadata(form, *words))
    return _with_words(out.getvalue(), *words) if form == "svg" else out.getvalue()


def _check(form: str, width: int, height: int, theme: str) -> None:
    if form not in FORMS:
        raise ValueError(f"Unknown form {form!r}, expected one of: {', '.join(FORMS)}")
    if theme not in THEMES:
        raise ValueError(f"Unknown theme {theme!r}, expected one of: {', '.join(THEMES)}")
    for name, pixels, (least, most) in (("width", width, WIDTHS), ("height", height, HEIGHTS)):
        if not least <= pixels <= most:
            raise ValueError(f"{name}: found {pixels}, expected {least} to {most} pixels")


def figure_of(chart: Chart, width: int = WIDTH, height: int = HEIGHT, theme: str = THEME) -> "Figure":
    """Return the drawn figure, before it becomes bytes."""
    set_up()
    from matplotlib.figure import Figure

    from apps.comparison.charts.kinds import KINDS
    from apps.comparison.charts.picture_frame import frame

    palette = THEMES[theme]
    figure = Figure(figsize=(width / DOTS, height / DOTS), dpi=DOTS, layout="constrained", facecolor=palette.surface)
    axes = figure.add_subplot()
    legend = KINDS[chart.kind].draw(axes, chart, palette)
    frame(figure, axes, chart, palette, legend)
    return figure


@cache
def set_up() -> None:
    """Configure Matplotlib once for the process; nothing else here uses it, and its settings are global."""
    import matplotlib

    matplotlib.rcParams.update(_SETTINGS)


def _metadata(form: str, title: str, description: str) -> dict[str, Any]:
    """Return metadata without date and version, so that the same chart is the same file."""
    if form == "svg":
        return {"Date": None, "Creator": None}
    return {"Software": None, "Title": title, "Description": description}


def _with_words(svg: bytes, title: str, description: str) -> bytes:
    """Add title and description to an SVG, for screen readers."""
    words = (
        f'<title id="chart-title">{_plain(title)}</title>\n<desc id="chart-description">{_plain(description)}</desc>\n'
    )
    # Matplotlib also writes each text into a comment, as it is
    head, start, rest = _FORBIDDEN.sub("\ufffd", svg.decode()).partition("<svg ")
    attributes, end, body = rest.partition(">")
    opening = f'{attributes} role="img" aria-labelledby="chart-title chart-description"'
    return f"{head}{start}{opening}{end}\n{words}{body.lstrip()}".encode()


def _plain(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))
