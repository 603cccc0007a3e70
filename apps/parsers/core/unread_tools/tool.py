"""A tool whose output Spindle does not read, and the small signature that it is known by."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnreadTool:
    """An entry of the registry.

    `name` is what people call the tool, with the words of its command line where these decide what it prints.
    `heading` is a regular expression for the beginning of a line that the tool prints near the top. Where such a line
    alone would fit other texts too, `beside` is one that must be found somewhere in the first lines (`^` and `$` are
    the ends of lines). `instead` says what people can bring in its place, as it follows the word “expected”; it is
    empty for tools that say what a host was doing, in whose place nothing can be brought.
    """

    name: str
    heading: str
    beside: str = ""
    instead: str = ""

    def matches(self, line: str, first_lines: str) -> bool:
        """Return whether the line, which is one of the first lines of a text, shows that this tool printed it."""
        if not re.match(self.heading, line):
            return False
        return not self.beside or re.search(self.beside, first_lines, re.MULTILINE) is not None

    @property
    def reason(self) -> str:
        """Return why a file with this tool's output is not read, as a sentence."""
        if self.instead:
            return f"{self.name} prints this, which Spindle does not read"
        return f"{self.name} prints this, which is no result of a storage or network benchmark"
