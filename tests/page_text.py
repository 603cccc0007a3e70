"""What a reader of a page sees: its words without tags, scripts and titles."""

from collections.abc import Callable
from html.parser import HTMLParser

Attributes = dict[str, str | None]
WITHOUT_END = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
UNSEEN = {"script", "style", "template", "noscript"}


class _Words(HTMLParser):
    def __init__(self, leaves_out: Callable[[str, Attributes], bool]) -> None:
        super().__init__()
        self.leaves_out, self.found, self.inside = leaves_out, list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in WITHOUT_END and (self.inside or tag in UNSEEN or self.leaves_out(tag, dict(attrs))):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.inside and tag in self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.found.append(data)


def page_text(html: str, leaves_out: Callable[[str, Attributes], bool] = lambda tag, attributes: False) -> str:
    """With plain spaces. `leaves_out`: the elements that are not looked into."""
    words = _Words(leaves_out)
    words.feed(html)
    return "".join(words.found).replace("\u00a0", " ").replace("\u202f", " ")
