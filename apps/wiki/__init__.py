"""Wiki pages of studies: documents, the dialects they are written in, and their translations."""
