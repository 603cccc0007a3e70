"""Everything that a few configurations have been measured for, side by side.

There is one column for each, and one row for every measure at every point, from the last runs of each. It is the
overview from which one goes to a comparison of one metric.

It is quick whatever the history: the last runs are found through an index and summed up by the database; the
judgements are Welch's on logarithms for all cells at once. `compare` has the finer statistics of one metric.
"""
