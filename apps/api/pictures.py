"""Charts as pictures in the REST interface: size and theme from the address, answered with 304 when unchanged."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.api.conditional import dated
from apps.api.problems import ProblemError
from apps.comparison.charts.chart import Chart
from apps.comparison.charts.json_payload import as_json
from apps.comparison.charts.palette import THEMES
from apps.comparison.charts.picture import FORMS, HEIGHT, HEIGHTS, THEME, WIDTH, WIDTHS, render
from apps.core.http import cached_privately, entity_tag, has_it_already, not_modified
from apps.core.strict_json import to_json
from apps.core.text import whole_number

# The policy of an SVG that is opened by itself: its own styles apply, and nothing else is allowed.
ALONE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
PARAMETERS = [
    OpenApiParameter("width", int, default=WIDTH, description=f"of a picture, {WIDTHS[0]} to {WIDTHS[1]} pixels"),
    OpenApiParameter("height", int, default=HEIGHT, description=f"of a picture, {HEIGHTS[0]} to {HEIGHTS[1]} pixels"),
    OpenApiParameter("theme", enum=list(THEMES), default=THEME, description="of a picture"),
]
NAMES = tuple(parameter.name for parameter in PARAMETERS)


@dataclass(frozen=True)
class Look:
    """The size of a picture in pixels, and its theme."""

    width: int
    height: int
    theme: str


def is_picture(request: Request) -> bool:
    """Return whether the request is for a picture."""
    return request.accepted_renderer.format in FORMS


def picture(request: Request, chart: Chart, permalink: str) -> HttpResponse:
    """Answer with the chart as a picture in the format that was asked for; 304 where nothing has changed.

    The entity tag is a hash of everything that the chart is drawn from.

    Raises:
        ProblemError: 400 for an unknown theme or a size out of range.
    """
    return drawn(
        request,
        as_json(chart),
        lambda form, look: render(chart, form, look.width, look.height, look.theme),
        permalink,
    )


def drawn(
    request: Request, content: Any, draw: Callable[[str, Look], bytes], permalink: str, height: int = HEIGHT
) -> HttpResponse:
    """Answer with what `draw` returns for a form and a look; 304 where nothing has changed.

    `content`: plain data with everything that it is drawn from. `height`: where the address has none.

    Raises:
        ProblemError: 400 for an unknown theme or a size out of range.
    """
    renderer: Any = request.accepted_renderer
    look = _look(request, height)
    tag = entity_tag(to_json([content, asdict(look)]), renderer.format, settings.VERSION)
    modified = dated(request, tag)
    if has_it_already(request._request, tag, modified):
        return not_modified(tag, modified)
    body = draw(renderer.format, look)
    response = HttpResponse(body, content_type=renderer.media_type)
    response.headers["Link"] = f'<{permalink}>; rel="canonical"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = ALONE
    cached_privately(response, tag, modified)
    return response


def _look(request: Request, height: int = HEIGHT) -> Look:
    theme = request.query_params.get("theme", THEME) or THEME
    if theme not in THEMES:
        raise _refused("theme", theme, f"one of: {', '.join(THEMES)}")
    return Look(_pixels(request, "width", WIDTH, WIDTHS), _pixels(request, "height", height, HEIGHTS), theme)


def _pixels(request: Request, name: str, otherwise: int, limits: tuple[int, int]) -> int:
    text = request.query_params.get(name, "")
    number = whole_number(text, *limits)
    if not text:
        return otherwise
    if number is None:
        raise _refused(name, text, f"a whole number of pixels, {limits[0]} to {limits[1]}")
    return number


def _refused(field: str, found: str, expected: str) -> ProblemError:
    return ProblemError(
        400, f"{field}: found {found!r}, expected {expected}", field=field, found=found, expected=expected
    )
