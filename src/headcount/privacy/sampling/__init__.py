"""Discrete Gaussian noise from uniform words, exactly (sampling.md has the proof).

    uniform      words, and a uniform number of which as many bits are drawn as are asked for
    exponential  exp(−a): between two whole numbers, and in floats with a bound on the error
    blocks       the staircase above the Gaussian from which proposals are drawn
    gaussian     proposals, which of them are accepted, and noise added to values

Nothing here has entropy of its own: `headcount.privacy.randomness` gives the words.
"""
