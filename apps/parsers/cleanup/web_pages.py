"""Conversion of HTML to the lines that a browser shows: forums, wikis, archives of mailing lists, and mails in HTML.

    <pre>  read: IOPS=12.3k, &hellip;   IO depths    : 1=0.1%, &gt;=64=0.0%</pre>
    1024+0 records in<br />1024+0 records out<br />
    <div>&nbsp; &nbsp; clat (usec): min=44, max=790</div><div>&nbsp; &nbsp; lat (usec): &hellip;</div>

Lines keep their numbers. Line ends of the file stay, also where a browser would show a blank, because they come from
the copied output. The result is only offered to formats that are recognised by words; the table format reads the tags
itself.
"""

import html
import re

from apps.parsers.core.source_text import BLANK, SourceText

_SIGN = re.compile(
    r"<br ?/?>|<pre\b|</(?:pre|code|p|div|html|tt|span)>|&(?:nbsp|[lg]t|amp|quot|apos|#\d{1,5});", re.IGNORECASE
)
_TAG = re.compile(r"<[/!]?([A-Za-z][A-Za-z0-9]{0,9})\b[^<>]{0,2000}>")
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_BREAK, _BLOCK = "\v", "\r"  # a line break; the edge of a block, which breaks a line unless one begins there anyway
_BLOCKS = (
    "doctype html head body title meta link header footer main nav section article details summary form center p div pre blockquote "
    "ul ol li dl dt dd table caption thead tbody tfoot tr h1 h2 h3 h4 h5 h6"
)
_INLINE = "a abbr b big code em font i img input kbd label mark s samp small span strike strong sub sup tt u var wbr"
_INSTEAD = {
    **dict.fromkeys(("br", "hr"), _BREAK),
    **dict.fromkeys(_BLOCKS.split(), _BLOCK),
    **dict.fromkeys(("td", "th"), " "),
    **dict.fromkeys(_INLINE.split(), ""),
}
_HIDDEN = tuple(
    (re.compile(first, re.IGNORECASE), re.compile(last, re.IGNORECASE))
    for first, last in ((r"<script\b", r"</script>"), (r"<style\b", r"</style>"), (r"<!--", r"-->"))
)


def without_html(text: SourceText) -> SourceText | None:
    """Return the text as a browser shows it, with the same line numbers; None where it is no HTML."""
    whole = text.text
    if not ("<" in whole or "&" in whole) or not _SIGN.search(whole):
        return None
    if "<" in whole:
        for first, last in _HIDDEN:
            whole = _without_hidden(whole, first, last)
        whole = _TAG.sub(_choose_replacement, whole)
    whole = _ENTITY.sub(lambda match: html.unescape(match[0]).replace("\n", _BREAK), whole)
    whole = BLANK.sub(" ", whole)
    while _BREAK * 2 in whole:
        whole = whole.replace(_BREAK * 2, f"{_BREAK} {_BREAK}")  # the blank keeps an empty line
    whole = whole.replace(_BREAK, _BLOCK)
    return text.with_data("\n".join(line.strip(_BLOCK) for line in whole.split("\n")).encode("utf-8", "replace"))


def _without_hidden(whole: str, first: re.Pattern[str], last: re.Pattern[str]) -> str:
    """Remove scripts, styles and comments but their line ends."""
    parts, place = list[str](), 0
    while (begin := first.search(whole, place)) and (end := last.search(whole, begin.end())):
        parts += [whole[place : begin.start()], "\n" * whole.count("\n", begin.start(), end.start())]
        place = end.end()
    return "".join([*parts, whole[place:]])


def _choose_replacement(match: re.Match[str]) -> str:
    sign = _INSTEAD.get(match[1].lower())
    return match[0] if sign is None else sign + "\n" * match[0].count("\n")
