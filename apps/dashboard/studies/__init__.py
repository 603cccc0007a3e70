"""The context of studies' pages: one module per part of a study's page."""
