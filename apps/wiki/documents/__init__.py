"""A whole study as one document for wikis, in English, Italian or Russian. Dialects write it; nothing here knows markup."""
