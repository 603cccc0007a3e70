"""The drawing of a host as SVG: inside a page (its classes are styled by the page) or as a file with a style of its own. Pure."""

from collections.abc import Callable, Collection, Iterator
from html import escape

from apps.inventory.drawing.boxes import Box, boxes_of
from apps.inventory.drawing.graph import Graph
from apps.inventory.drawing.layout import ACROSS, HEIGHT, MARGIN, WIDTH, Layout, Spot, layout_of

Address = Callable[[Box], str]
NAMED = 12
ROOM, NAME_SIZE, DETAIL_SIZE = WIDTH - 18, 13, 11
FITS = 1600  # drawings up to so wide are shrunk a little on wide screens, so that nobody needs to scroll
HEADINGS = {
    "far-target": "Network targets", "far": "Far hosts", "switch": "Switches", "nic": "Network", "host": "Host",
    "path": "Controllers", "place": "Shelves", "disk": "Disks", "array": "Arrays", "filesystem": "Filesystems",
    "target": "Targets",
}  # fmt: skip
KINDS = {
    "far": "far host",
    "far-target": "network target",
    "nic": "network interface",
    "path": "path section",
    "place": "shelf",
}
FILE_STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;fill:#1a2328}"
    ".box rect{fill:#fff;stroke:#76848c}.box .bar{fill:#76848c;stroke:none}.line{fill:none;stroke:#98a4ab;stroke-width:1.2}"
    ".name{font-size:12.5px;font-weight:600}.detail{font-size:10.5px;fill:#55636b}.heading{font-size:11.5px;fill:#55636b}"
    ".kind-host .bar,.kind-target .bar,.kind-far-target .bar{fill:#0a6a72}.kind-array .bar{fill:#4b5fc4}"
    ".kind-filesystem .bar{fill:#8a3b86}.kind-disk .bar{fill:#47606c}.state-degraded rect,.state-resyncing rect,"
    ".state-gone rect{fill:#fbf0d9;stroke:#8a5a00}.state-failed rect{fill:#fbe6e4;stroke:#b3261e}"
    ".state-gone rect{stroke-dasharray:4 3}.paper{fill:#fff}"
)


def drawing_of(graph: Graph, title: str, address: Address, opened: Collection[str] = ()) -> str:
    """For a page: no style of its own. `address`: where a box leads, empty for nowhere."""
    layout, boxes = _laid_out(graph, opened)
    size = f'width="{layout.width}" height="{layout.height}" viewBox="0 0 {layout.width} {layout.height}"'
    body = "".join(_body(layout, boxes, address))
    fits = " fits" if layout.width <= FITS else ""
    return f'<svg class="drawing{fits}" {size} role="group" aria-label="{escape(title)}">{body}</svg>'


def drawing_file(graph: Graph, title: str, address: Address) -> bytes:
    """For wikis: a file by itself, light, with absolute addresses."""
    layout, boxes = _laid_out(graph, ())
    size = f'width="{layout.width}" height="{layout.height}" viewBox="0 0 {layout.width} {layout.height}"'
    head = f'<title>{escape(title)}</title><style>{FILE_STYLE}</style><rect class="paper" width="100%" height="100%"/>'
    body = "".join(_body(layout, boxes, address))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{head}{body}</svg>\n'.encode()


def _laid_out(graph: Graph, opened: Collection[str]) -> tuple[Layout, dict[str, Box]]:
    found = boxes_of(graph, opened)
    return layout_of(found), {box.key: box for box in found.boxes}


def _body(layout: Layout, boxes: dict[str, Box], address: Address) -> Iterator[str]:
    for left, right, way in layout.lines:
        yield f'<path class="line" data-from="{escape(left)}" data-to="{escape(right)}" d="{_curve(way)}"/>'
    last = ""
    for column, kind in enumerate(layout.kinds):
        if kind != last:
            yield f'<text class="heading" x="{MARGIN + column * (WIDTH + ACROSS)}" y="{MARGIN + 6}">{HEADINGS[kind]}</text>'
        last = kind
        for spot in layout.columns[column]:
            if spot.is_box:
                yield _box(boxes[spot.key], spot, address(boxes[spot.key]))


def _curve(way: list[Spot]) -> str:
    """From the right side of one box to the left side of the other, level where it passes a column."""
    x, y = way[0].x + WIDTH, way[0].y
    told = [f"M{x} {y:g}"]
    for spot in way[1:]:
        half = ACROSS / 2
        told.append(f"C{x + half:g} {y:g} {spot.x - half:g} {spot.y:g} {spot.x} {spot.y:g}")
        x, y = spot.x, spot.y
        if not spot.is_box:
            x += WIDTH
            told.append(f"H{x}")
    return "".join(told)


def _box(box: Box, spot: Spot, href: str) -> str:
    name, detail = words_of(box)
    top = spot.y - HEIGHT / 2
    state = f" state-{box.parts[0].state}" if box.parts[0].state else ""
    inside = (
        f"<title>{escape(in_full(box))}</title>"
        f'<rect x="{spot.x}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
        f'<rect class="bar" x="{spot.x}" y="{top + 5:g}" width="3" height="{HEIGHT - 10}"/>'
        f'<text class="name" x="{spot.x + 11}" y="{top + 18:g}">{escape(_short(name, NAME_SIZE * 1.09))}</text>'
        f'<text class="detail" x="{spot.x + 11}" y="{top + 33:g}">{escape(_short(detail, DETAIL_SIZE))}</text>'
    )
    told = f'class="box kind-{box.kind}{state}" data-key="{escape(box.key)}"'
    return f'<a href="{escape(href)}" {told}>{inside}</a>' if href else f"<g {told}>{inside}</g>"


def words_of(box: Box) -> tuple[str, str]:
    """Name and detail; of several the number and what they are called, and then some of their names."""
    first = box.parts[0]
    state = "" if first.state in ("", "clean") else first.state
    if box.count == 1:
        return first.name, ", ".join(filter(None, [state, first.detail]))
    names = f"{first.name} … {box.parts[-1].name}"
    return f"{box.count} × {first.plural or KINDS.get(box.kind, box.kind)}", ", ".join(filter(None, [state, names]))


def in_full(box: Box) -> str:
    """For pointers and screen readers: kind, name, detail, and the first names of many."""
    name, detail = words_of(box)
    kind = KINDS.get(box.kind, box.kind)
    if box.count == 1:
        return f"{kind} {name}" + (f": {detail}" if detail else "")
    names = ", ".join(part.name for part in box.parts[:NAMED])
    more = f" and {box.count - NAMED} more" if box.count > NAMED else ""
    look = f" ({box.parts[0].detail})" if box.kind != "disk" else ""
    return f"{kind}s, {name}{look}: {names}{more}"


def _short(text: str, size: float) -> str:
    """Cut to the room in a box, by the widths of a wide common face (DejaVu Sans)."""
    room = ROOM / size - 0.6
    for place, letter in enumerate(text):
        room -= _width(letter)
        if room < 0 and place < len(text) - 1:
            return f"{text[:place].rstrip(' ,')}…"
    return text


def _width(letter: str) -> float:
    """In heights of the letters."""
    if letter in " .,:;|'!()[]ijlIft/":
        return 0.37
    return 0.9 if letter in "MWmw@%" else 0.7 if letter.isupper() else 0.61
