"""The table of the page side by side as its template writes it."""

import re

from django.template.loader import render_to_string

from apps.comparison.side_by_side.table import SideBySideTable
from apps.comparison.side_by_side.table_text import rows_of


def table_html(table: SideBySideTable) -> str:
    context = {"table": table, "rows": rows_of(table, [])}
    return without_blanks(render_to_string("comparison/_side-by-side-table.html", context))


def without_blanks(html: str) -> str:
    """Drop the blanks beside tags where a template breaks its lines."""
    return re.sub(r"\s*\n\s*(?=<)", "", re.sub(r">\s*\n\s*", ">", html))
