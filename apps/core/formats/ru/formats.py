"""Numbers as everywhere on the pages, where scripts and drawings read them too; dates stay the language's own."""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ""
