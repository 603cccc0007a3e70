"""What studies show of comparisons: their own charts and tables, their caveats, and their printed results."""
