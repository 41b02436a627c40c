"""The part that privacy rests on. It has no I/O, no engine and no clock.

Read it in this order, with the paper beside it:

    budget       what may be spent, as (ρ, δ) and as (ε, δ)      budget.md, conversion
    settings     the paper's parameters
    schedule     the levels and what each costs
    candidates   the k̄ items with the highest counts, and c
    race         all picks of one level (uses clocks)            race.md
    filter       asked before every step, never exceeded
    gaussian     what noise costs, and how far it reaches
    look         counts at a few ranks, which choose k̄           look.md
    pcr          Private Count Release                           pcr.md
    estimate     counts estimated from all that it released      estimate.md
    population   what may be asked about who has what
    rationed     Rationed release (choices in rationing)         rationed.md
    choosing     which of the two promises more                  look.md
    thresholding for whoever knows how many items a user has     thresholding.md
    entropy      where all randomness enters
"""
