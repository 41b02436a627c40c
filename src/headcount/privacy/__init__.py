"""The part that privacy rests on. It has no I/O, no engine and no clock.

    accounting/   what a step costs, and the filter that no sequence of steps exceeds
    mechanisms/   mechanisms that release counts, one folder each: code, proof, tuning; a registry
    gate          the one place where noise is drawn, for what has been charged
    randomness    the one place where randomness enters
    sampling/     exact discrete Gaussian noise from uniform words

Read it in this order, with the paper at hand:

    accounting/budget          what may be spent, as (ρ, δ) and as (ε, δ)   budget.md, conversion
    accounting/filter          asked before every step, never exceeded
    accounting/gaussian        what noise costs, and how far it reaches
    accounting/sensitivity     what one user moves, and what an answer then costs
    questions                  what may be asked, with the sensitivity of each answer
    gate                       charges, asks, and adds noise: nothing else draws any
    sampling/gaussian          noise with exactly the law that accounting assumes   sampling.md
    sampling/clocks            picks with exactly the law of the exponential mechanism   race.md
    mechanisms/pcr/            Private Count Release                        pcr.md
        settings, schedule     the paper's parameters, the levels and what each costs
        candidates             the k̄ highest counts, and what picking one costs  race.md
        look                   counts at a few ranks, from which k̄ is chosen   look.md
        private_count_release  the run
        estimate               counts estimated from everything it released   estimate.md
        centred                counts centred on half the users                 vetting.md
        vetting, rounds        nominations and tests, and how they are planned
        vetted_release         the run, if the number of users is known
        measuring, forecast    how precisely named items are measured; what to expect
    mechanisms/rationed/       rationed release                             rationed.md
        queries                its questions
        rationed_release       the run, under the filter
        sizes, beliefs, losses what its noisy answers say, at no privacy cost
        forecast, path         how much to spend on finding, how far to go in counting
        estimates              counts from all that was released
        tuning                 every number that was chosen by measurement
    mechanisms/threshold/      for a known contribution bound               threshold.md
    mechanisms/auto/           which of pcr and rationed promises more      look.md
    mechanisms/further/        what is asked besides the counts             further.md, sums.md
"""
