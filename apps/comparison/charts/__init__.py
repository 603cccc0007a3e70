"""Charts as plain data, and what reads them: JSON for the page's script, a table, SVG and PNG.

Nothing here computes a statistic, and no renderer computes a number: all read the one `Chart`.
"""
