"""Exact discrete Gaussian noise from uniform words (sampling.md has the proof).

    uniform      words, and a uniform number whose bits are drawn as they are needed
    exponential  exp(−a): between two whole numbers, and in floats with a bounded error
    blocks       the staircase above the Gaussian from which proposals are drawn
    gaussian     proposals, which of them are accepted, and noise added to values

Nothing here has entropy of its own: `headcount.privacy.randomness` supplies the words.
"""
