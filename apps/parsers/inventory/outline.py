"""Text whose nesting is its indentation, as ssacli prints it: a line that others are indented under is their parent.

Array: A                         → {"title": "Array: A", "fields": {"Status": "OK"}, "parts": []}
   Status: OK
"""

from collections.abc import Callable, Sequence

from apps.parsers.inventory.printed import Content, field, put, typed

DEEPEST = 12


def outline(lines: Sequence[str], is_title: Callable[[str], bool]) -> list[Content]:
    """The nodes at the top. A line is a node's title when `is_title`, when it is no field, or when it has lines below."""
    filled = [(len(line) - len(line.lstrip()), line.strip()) for line in lines if line.strip()]
    top: Content = {"parts": []}
    above: list[tuple[int, Content]] = [(-1, top)]
    for place, (depth, text) in enumerate(filled):
        while above[-1][0] >= depth:
            above.pop()
        following = filled[place + 1][0] if place + 1 < len(filled) else 0
        found = field(text) if ":" in text and not is_title(text) else None
        parent = above[-1][1]
        if found and (following <= depth or found[1] == "" or len(above) > DEEPEST) and "fields" in parent:
            put(parent["fields"], found[0], typed(*found))
            continue
        node: Content = {"title": text, "fields": {}, "parts": []}
        parent["parts"].append(node)
        if len(above) <= DEEPEST:
            above.append((depth, node))
    parts: list[Content] = top["parts"]
    return parts
