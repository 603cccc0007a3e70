"""How a page says what a tool printed."""


def printed_as(printed: str, source_line: int | None = None) -> str:
    """`printed “24018 K/sec”, line 21 of the result`; nothing where nothing was printed, as of a mean."""
    if not printed:
        return ""
    return f"printed “{printed}”" + (f", line {source_line} of the result" if source_line else "")
