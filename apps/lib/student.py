"""Student's distribution, in the one place that every interval of a mean takes it from. Pure."""

LEVEL = 0.95


def student(freedom: float, level: float = LEVEL) -> float:
    """How many standard errors half of a two-sided interval is: 4.303 for two degrees of freedom at 95 %.

    SciPy's `stats.t` gives the same digits and takes forty times as long (12 ms against 0.3 for 320 cells), which the
    comparison's page would feel.
    """
    from scipy.special import stdtrit  # lazily: SciPy is slow to import and most pages need none of it

    return float(stdtrit(freedom, (1 + level) / 2))
