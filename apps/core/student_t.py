"""Student's t distribution, for every confidence interval of a mean. Pure."""

LEVEL = 0.95


def student(freedom: float, level: float = LEVEL) -> float:
    """Return how many standard errors half of a two-sided confidence interval spans: 4.303 for 2 degrees of freedom at 95 %.

    SciPy's `stats.t` gives the same digits and takes forty times as long (12 ms against 0.3 for 320 cells), which the
    comparison's page would feel.
    """
    from scipy.special import stdtrit  # lazily: SciPy is slow to import and most pages need none of it

    return float(stdtrit(freedom, (1 + level) / 2))
