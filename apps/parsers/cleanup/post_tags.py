"""Removal of tags around an output in a post: BBCode of forums, Jira's markup, and Markdown's fences on a line with output.

    [quote="somebody"][code]1024+0 records in
    1073741824 bytes (1.1 GB) copied, 8.25 s, [b]130 MB/s[/b][/code]
    {noformat} Timing buffered disk reads: 406 MB in  3.00 seconds = 135.3 MB/sec{noformat}
    Here it is:```dd if=/dev/zero of=/mnt/file bs=1M count=1024 oflag=direct

A line that is one tag and nothing more may be a section of a fio job file, `[code]`: it is taken for a tag only where
something closes it.
"""

import re

from apps.parsers.core.source_text import SourceText

_BLOCKS = "code codebox quote pre noparse noformat spoiler panel list box"
_INLINE = "b i u s size font color url tt mono"
_NAMES = "|".join((*_BLOCKS.split(), *_INLINE.split()))
_WITH = r"(?:[:= ][^\]\n]{0,200})?"  # author of a quote, language of code, number of a post
_TAG = re.compile(rf"\[/?({_NAMES}){_WITH}\]", re.IGNORECASE)
_CLOSING = re.compile(rf"\[/({_NAMES}){_WITH}\]", re.IGNORECASE)
_OPENING = re.compile(
    rf"^((?:\[(?:{'|'.join(_BLOCKS.split())}){_WITH}\]){{1,8}})(?=[ \t]{{0,40}}[^\s;#])", re.IGNORECASE | re.MULTILINE
)
_BRACES = re.compile(r"\{(?:code|noformat|quote|panel)(?:[:|][^}\n]{0,200})?\}")
_FENCE = re.compile(r"(?<=[^\s`>])[ \t]{0,8}```(?!`)|^```(?=[^\w\s`]|\w{1,80}[^\w\s`]|\w{1,80}[ \t]+\S)", re.MULTILINE)
_SIGNS = ("[/", "[code", "[CODE", "[quote", "[QUOTE", "{code", "{noformat", "```")
_BREAK = "\r"  # `SourceText` splits lines at it without counting a new line of the file


def without_tags(text: SourceText) -> SourceText | None:
    """Return the text without tags, with the same line numbers; None where there are none."""
    whole = text.text
    if not any(sign in whole for sign in _SIGNS):
        return None
    closed = {name.lower() for name in _CLOSING.findall(whole)}
    bare = _OPENING.sub(_BREAK, whole)
    bare = _TAG.sub(lambda match: _choose_replacement(match, closed), bare) if closed else bare
    bare = _FENCE.sub(_BREAK, _BRACES.sub(_BREAK, bare))
    if bare == whole:
        return None
    return text.with_data("\n".join(line.strip(_BREAK) for line in bare.split("\n")).encode("utf-8", "replace"))


def _choose_replacement(match: re.Match[str], closed: set[str]) -> str:
    name = match[1].lower()
    return match[0] if name not in closed else "" if name in _INLINE.split() else _BREAK
