"""The part that privacy rests on. It has no I/O, no engine and no clock.

Read it in this order, with the paper beside it:

    budget       what may be spent, as (ρ, δ) and as (ε, δ)      budget.md, conversion
    settings     the paper's parameters
    schedule     the levels and what each costs
    candidates   the k̄ items with the highest counts, and c
    race         all picks of one level (uses clocks)            race.md
    filter       asked before every level, never exceeded
    pcr          Private Count Release                           pcr.md
    entropy      where all randomness enters
"""
