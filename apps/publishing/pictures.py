"""Charts as pictures in the REST interface: size and theme from the address, and an answer that a bot can ask for again."""

from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from apps.comparison.drawing.as_json import as_json
from apps.comparison.drawing.chart import Chart
from apps.comparison.drawing.palette import THEMES
from apps.comparison.drawing.picture import FORMS, HEIGHT, HEIGHTS, THEME, WIDTH, WIDTHS, render
from apps.lib.http import cached_privately, entity_tag, has_it_already, not_modified
from apps.publishing.dated import dated
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import to_json

# An SVG opened by itself has its own styles, and may do nothing else.
ALONE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
PARAMETERS = [
    OpenApiParameter("width", int, default=WIDTH, description=f"of a picture, {WIDTHS[0]} to {WIDTHS[1]} pixels"),
    OpenApiParameter("height", int, default=HEIGHT, description=f"of a picture, {HEIGHTS[0]} to {HEIGHTS[1]} pixels"),
    OpenApiParameter("theme", enum=list(THEMES), default=THEME, description="of a picture"),
]


@dataclass(frozen=True)
class Look:
    width: int
    height: int
    theme: str


def is_picture(request: Request) -> bool:
    return request.accepted_renderer.format in FORMS


def picture(request: Request, chart: Chart, permalink: str) -> HttpResponse:
    """The chart in the form that was asked for. Its tag is a hash of all that it is drawn from."""
    renderer: Any = request.accepted_renderer
    look = _look(request)
    tag = entity_tag(to_json([as_json(chart), asdict(look)]), renderer.format, settings.VERSION)
    modified = dated(request, tag)
    if has_it_already(request._request, tag, modified):
        return not_modified(tag, modified)
    body = render(chart, renderer.format, look.width, look.height, look.theme)
    response = HttpResponse(body, content_type=renderer.media_type)
    response.headers["Link"] = f'<{permalink}>; rel="canonical"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = ALONE
    cached_privately(response, tag, modified)
    return response


def _look(request: Request) -> Look:
    theme = request.query_params.get("theme", THEME) or THEME
    if theme not in THEMES:
        raise _refused("theme", theme, f"one of: {', '.join(THEMES)}")
    return Look(_pixels(request, "width", WIDTH, WIDTHS), _pixels(request, "height", HEIGHT, HEIGHTS), theme)


def _pixels(request: Request, name: str, otherwise: int, limits: tuple[int, int]) -> int:
    text = request.query_params.get(name, "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else -1
    if not text:
        return otherwise
    if not limits[0] <= number <= limits[1]:
        raise _refused(name, text, f"a whole number of pixels, {limits[0]} to {limits[1]}")
    return number


def _refused(field: str, found: str, expected: str) -> ProblemError:
    return ProblemError(
        400, f"{field}: found {found!r}, expected {expected}", field=field, found=found, expected=expected
    )
