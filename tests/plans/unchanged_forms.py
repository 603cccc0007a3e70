"""What a browser sends of a page's form when nobody has typed anything into it."""

from html.parser import HTMLParser
from typing import Any

NOT_SENT = {"submit", "button", "image", "reset", "file", "search"}


class _Forms(HTMLParser):
    """The forms of a page by their address, each with the names and values of its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, list[tuple[str, str]]] = {}
        self.form: list[tuple[str, str]] = []
        self.select: list[tuple[str, bool]] | None = None
        self.name, self.is_multiple, self.text = "", False, None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = self.forms.setdefault(given.get("action", ""), [])
        elif "form" in given or "disabled" in dict(attrs):
            return
        elif tag == "input" and given.get("name") and given.get("type", "text") not in NOT_SENT:
            if given.get("type") in ("checkbox", "radio") and "checked" not in given:
                return
            self.form.append((given["name"], given.get("value", "on" if given.get("type") == "checkbox" else "")))
        elif tag == "select":
            self.select, self.name, self.is_multiple = [], given.get("name", ""), "multiple" in given
        elif tag == "option" and self.select is not None:
            self.select.append((given.get("value", ""), "selected" in given))
            self.option_has_value = "value" in given
            self.text = "" if "value" not in given else None
        elif tag == "textarea":
            self.name, self.text = given.get("name", ""), ""

    def handle_data(self, data: str) -> None:
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.text is not None:
            text = self.text.removeprefix("\n").replace("\r\n", "\n").replace("\n", "\r\n")
            self.form.append((self.name, text))
            self.text = None
        elif tag == "option" and self.select and self.text is not None:
            self.select[-1] = (self.text.strip(), self.select[-1][1])
            self.text = None
        elif tag == "select" and self.select is not None:
            chosen = [value for value, is_chosen in self.select if is_chosen]
            if not chosen and not self.is_multiple:
                chosen = [value for value, _ in self.select[:1]]
            if self.name:
                self.form += [(self.name, value) for value in chosen]
            self.select = None


def read_form(html: str, action: str = "", **buttons: str) -> dict[str, list[str]]:
    """Return what is sent when one presses a button of the form with this action; `buttons` names that button."""
    forms = _Forms()
    forms.feed(html)
    assert action in forms.forms, f"found {list(forms.forms)}, expected {action}"
    sent: dict[str, list[str]] = {}
    for name, value in [*forms.forms[action], *buttons.items()]:
        sent.setdefault(name, []).append(value)
    return sent


def rows_of(queryset: Any, *without: str) -> list[dict[str, Any]]:
    """Return the rows of a queryset as dictionaries, without what tells when and by whom they were written."""
    left_out = {"id", "changed_at", "changed_by", "created_at", *without}
    return [{name: value for name, value in row.items() if name not in left_out} for row in queryset.values()]
