"""Benchmarks whose results are not read."""

from apps.parsers.core.unread_tools.tool import UnreadTool

TOOLS: tuple[UnreadTool, ...] = ()
