"""A lower bound on ρ from scores of those who were in and those who were out.

The bounds are computed by `jax-privacy`, which knows nothing of headcount. They are on ε at some δ;
the Gaussian mechanism that is (ε, δ)-DP and no better has one μ, and ρ = μ²/2.
"""

import functools

import numpy as np

from tests.engines.servers import needs
from tests.privacy.stats import ALPHA

# Scores at or above this share of μ² are taken for "in". Scores are log-likelihood ratios, so 0
# would be best against too little noise, and more than 0 against too large a ration.
PARTED_AT = 0.1
# The same two confidence intervals serve every δ, so trying many of them costs no confidence.
DELTAS = np.linspace(0.02, 0.98, 49)

# The one-run bound is much weaker, so it is taken at the customary confidence of 95 % and with few
# guesses: only scores this many standard deviations above the middle are taken for "in".
ONE_RUN_ALPHA, ONE_RUN_AT = 0.05, 0.9
# That bound is on μ; this δ only sets the scale on which it is returned.
ONE_RUN_DELTA = 1e-3


def rho_at_least(inside, outside, claim):
    """Return what ρ is at least, but for a false-failure rate of ALPHA.

    Two Clopper-Pearson intervals, so scores must be independent given who was in. They are in
    separate runs. They are in one run too if no two canaries share an item and each count has noise
    of its own; if a right implementation is what is tested, that holds.

    Args:
        inside: log-likelihood ratios of canaries that were in, or of runs with the user.
        outside: those of canaries that were out, or of runs without the user.
        claim: ρ, which decides only which scores are taken for "in".
    """
    auditing = needs("jax_privacy.auditing")
    auditor = auditing.CanaryScoreAuditor(inside, outside)
    parted = auditing.Explicit(2 * PARTED_AT * claim)
    bounds = (
        rho_of(auditor.epsilon_clopper_pearson(ALPHA, delta, threshold_strategy=parted), delta)
        for delta in DELTAS
    )
    return max(bounds)


def rho_at_least_in_one_run(inside, outside, claim):
    """Return what ρ is at least, at 95 %, however scores depend on each other.

    "Auditing f-differential privacy in one run" (Mahloujifar, Melis, Chaudhuri 2024). It rests on
    fair coins alone. With correct noise it comes to a quarter of ρ, so false failures are far rarer
    than 5 %.
    """
    auditing = needs("jax_privacy.auditing")
    auditor = auditing.CanaryScoreAuditor(inside, outside)
    few = auditing.Explicit(ONE_RUN_AT * np.sqrt(2 * claim))
    epsilon = auditor.epsilon_one_run_fdp(ONE_RUN_ALPHA, ONE_RUN_DELTA, threshold_strategy=few)
    return rho_of(epsilon, ONE_RUN_DELTA)


@functools.cache
def rho_of(epsilon, delta):
    """Return ρ of the Gaussian mechanism that is (ε, δ)-DP and no better."""
    from dp_accounting import get_sigma_gaussian

    return 1 / (2 * get_sigma_gaussian(epsilon, delta) ** 2) if epsilon > 0 else 0.0


def said(what, bound, claim):
    """Print a line, which `make audit` shows; return the bound."""
    print(f"{what}: ρ ≥ {bound:.3g}, claimed {claim:.3g}, share {bound / claim:.2f}")
    return bound
