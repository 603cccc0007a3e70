"""What the pages of studies show: one module for each part of a study's page."""
