"""A lab's own studies, made and changed by its engineers on pages."""
