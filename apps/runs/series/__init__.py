"""Values over time of a run: packed series, live progress and latency histograms."""
