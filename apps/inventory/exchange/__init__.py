"""The inventory as files: JSON of a whole lab or one host, CSV of each kind; out, and in again with a preview (docs/how-to/inventory-files.md)."""
