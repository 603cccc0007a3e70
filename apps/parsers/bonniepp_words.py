"""The words of a row of bonnie++'s table, without what forums, web pages and mails put around them."""

import re

_TAG = re.compile(r"</?[a-z]{1,6}(?: [^<>]{0,100}|/)?>")
_GLUED = re.compile(
    r"(\S[^\s,]{0,14}(?: [^\s,]{1,14}){0,3}(?<=.{12})(?<!.{17})[^\s,0-9.])([0-9]{3,9}[MG])(?=\s)"
)  # printed in 13 to 15 columns
MARKS = "= \\"  # behind a row


def words_of(line: str) -> list[str]:
    """Without the marks of forums, web pages and mails; a name that fills its column and the size behind it apart."""
    if "*" in line:
        line = line.replace("**", "")
    if "<" in line:
        line = _TAG.sub("", line)
    words = line.rstrip(MARKS).split()
    if words and (glued := _GLUED.match(line.lstrip())):
        words[: len(glued[0].split())] = [*glued[1].split(), glued[2]]
    return words
