"""The tree as nested lists. Written in Python, because a host may have thousands of nodes and a template takes ten times as long."""

from collections.abc import Iterable, Iterator
from html import escape

from django.utils.safestring import SafeString, mark_safe

from apps.dashboard.tree import Node

LARGE = 150  # from so many nodes on, what is under a controller is folded


def tree_html(nodes: list[Node]) -> SafeString:
    """Empty where there are no nodes."""
    folded = _count(nodes) > LARGE
    made = f'<ul class="tree">{"".join(_item(node, folded) for node in nodes)}</ul>' if nodes else ""
    return mark_safe(made)  # noqa: S308 (every word is escaped below)


def _count(nodes: Iterable[Node]) -> int:
    return sum(1 + _count(node.children) for node in nodes)


def _item(node: Node, folded: bool = False) -> str:
    line = f'<span class="node">{"".join(_words(node))}</span>'
    below = f"<ul>{''.join(_item(child) for child in node.children)}</ul>" if node.children else ""
    if folded and below:
        return f"<li><details><summary>{line}</summary>{below}</details></li>"
    return f"<li>{line}{below}</li>"


def _words(node: Node) -> Iterator[str]:
    yield f'<span class="kind">{node.kind}</span><span>'
    yield " ".join(_link(*one) for one in node.links)
    yield "</span>"
    if node.detail:
        yield f'<span class="what">{escape(node.detail)}</span>'
    if node.within:
        yield f'<span class="what">in {", ".join(_link(*one) for one in node.within)}</span>'
    if node.state:
        yield f'<span class="chip chip-{escape(node.state)}">{escape(node.state)}</span>'


def _link(name: str, url: str) -> str:
    return f'<a href="{escape(url)}">{escape(name)}</a>'
