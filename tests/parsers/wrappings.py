"""What others put around an output: a web page, a mail's HTML, tags of a post, strings of Ansible and of containers' logs."""

import html
import json
import re

LF = "\n"


def block(text: str) -> str:
    head = "<!DOCTYPE html><html><head><style>p {}</style></head><body>"
    return f"{head}<pre>{html.escape(text)}</pre></body></html>\n"


def post(text: str) -> str:
    """As forums write what somebody typed."""
    shown = html.escape(text, quote=False).replace("  ", "&nbsp; ").replace("\t", "&nbsp; &nbsp; ")
    return '<div class="post"><code>' + shown.replace("\n", "<br />\n") + "</code></div>\n"


def mail(text: str) -> str:
    """As a mail program writes each line."""
    shown = html.escape(text).replace("  ", "&nbsp; ").replace("\t", "&nbsp; &nbsp; ")
    return "\n".join(f"<div>{line or '<br>'}</div>" for line in shown.split("\n")) + "\n"


def rows(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def in_lines(text: str) -> str:
    """As Ansible shows what it registered."""
    return "ok: [a] => " + json.dumps({"o.stdout_lines": rows(text), "rc": 0}, indent=4)


def in_a_string(text: str) -> str:
    return "ok: [a] => " + json.dumps({"stdout": text, "rc": 0}, indent=4)


def in_both(text: str) -> str:
    return "ok: [a] => " + json.dumps({"stdout": text, "stdout_lines": rows(text)}, indent=4)


def in_one_row(text: str) -> str:
    return "ok: [a] => " + json.dumps({"cmd": "run", "stdout": text, "stdout_lines": rows(text)})


def of_a_container(text: str) -> str:
    return "".join(json.dumps({"log": f"{one}\n", "time": "t"}) + "\n" for one in rows(text))


def in_code(text: str) -> str:
    return f"They say:\n[quote=somebody][code]{text.removesuffix(LF)}[/code][/quote]\n"


def in_code_alone(text: str) -> str:
    return f'[QUOTE="somebody, post: 1"]\n[CODE lang=bash]\n{text}[/CODE]\n[/QUOTE]\nThanks\n'


def in_an_issue(text: str) -> str:
    return f"{{code:title=out}}{text.removesuffix(LF)}{{code}}\n"


def in_fences(text: str) -> str:
    return f"Here it is:```{text}```Thanks\n"


def by_a_converter(text: str) -> str:
    """As programs that write Markdown save what stood on a page."""
    return re.sub(r"([\[\]_|*])", r"\\\1", text)


def spread(text: str) -> str:
    return text.replace(LF, 2 * LF)


def quoted_and_spread(text: str) -> str:
    return "".join(f"> {line}\n>\n" for line in rows(text))


def spread_in_a_mail(text: str) -> str:
    return f"Hello,\nthis is what I found\nhere today.\n\n{spread(text)}\nWhat do you\nthink of it?\n"


def without_breaks(text: str) -> str:
    """As copied from a page that keeps its columns."""
    return text.replace(" ", "\u00a0")


def indented_by_a_page(text: str) -> str:
    return text.replace("  ", " \u00a0").replace("...", "\u2026")


def with_unseen_blanks(text: str) -> str:
    return text.replace(" ", "\u200b ")


def with_long_dashes(text: str) -> str:
    """As blogs set them."""
    return text.replace("---", "\u2014").replace("--", "\u2013")


PAGES = [block, post, mail]
POSTS = [in_code, in_code_alone, in_an_issue, in_fences]
TYPESET = [without_breaks, indented_by_a_page, with_unseen_blanks]
STRINGS = [in_lines, in_a_string, in_both, in_one_row, of_a_container]
MARGINS = ["    ", "\t", " "]
MARKS = [
    "{1}\t{0}",
    "{1:6d}  {0}",
    "{1}:{0}",
    "{1:4d} \u2502 {0}",
    "+{0}",
    "| {0}",
    " * {0}",
    "-- {0}",
    ": {0}",
    "| {0:<120} |",
]


def marked(text: str, mark: str) -> str:
    return "".join(f"{mark.format(line, number)}\n" for number, line in enumerate(rows(text), 9))
