"""All tuning constants of a rationed release.

None of them depends on data, and none is part of the proof: they affect how much comes out, and how
well its errors are stated. "Measured" means on gowalla, book_crossing, debian_description_words,
imdb_review_words, stocktweets_tweet_ticker and generated sets at ρ of 0.1, 0.5 and 1. Checks on
yelp_5core, steam_games and quotes_author_words led to ``coarse_noise``, and debian_package_depends
and debian_package_tags to ``unexplained`` and ``most_loss``.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Tuning:
    """The tuning constants, and where each comes from.

    Shares of ρ:

    Attributes:
        sizes: a histogram of users by items. At 0.3 %, a bin of 13/√ρ users stands out by one σ.
        first_round: the first round of discovery. It finds a third to a half of what both find.
            With 8 % there were 2 % fewer accurate items on seven sets and 6 % fewer on
            quotes_author_words, and with 5 % as many.
        second_rounds: the choices for the second round. Of 4, 10 and 20 %, the best gave up to 40 %
            more items than the worst, and which was best differed between sets.
        coarse: the counts from which σ is chosen. 4 % instead of 6 % gave 1 to 4 % more accurate
            items on debian_description_words, and 4 % fewer on shared_by_few at ρ = 0.5. At 3 %
            there were still more on most sets, but on the former only 90.4 % of all were accurate
            at ρ = 1.
        users_asked: each histogram of users by what they lose. With four of 1.1 %, thirty users who
            have everything could not be told from noise among 5,000 at ρ = 0.1: 75 % of their
            counts were within the target, and 90 % with three of 2 %. The number of items then
            varied by 10 % instead of 18 % on book_crossing and by 26 % instead of 41 % on
            yelp_5core at ρ = 0.1; at ρ = 1 there were 7 % fewer on yelp_5core and 5 % more on
            steam_games.

    How many questions, and how much noise:

    Attributes:
        questions: histograms of losses. With two of 3 % instead of three of 2 %, 89 % instead of
            93 % of the counts were within the target on steam_games at ρ = 1.
        coarse_noise: relative σ of the coarse counts. At 0.3, heavy users exceeded the ration of
            the coarse counts, which came out 10 to 15 % low on steam_games.
        aim: the standard error that σ aims at, as a fraction of the target, which is thus 1.7
            standard errors. With true counts and true order, 0.5 to 0.65 gave the same number of
            items to within 4 %.
        popularity: items with more users than the rarest get a smaller relative error, by this
            power of the ratio of counts; 1/8 and 1/4 were alike with true counts.
        step: the ratio between successive numbers of items on the path, of which the last is an
            eighth of those found, and the square of that between noise scales.

    What is released:

    Attributes:
        within: the mean chance of being within the target, over the released items. The bar is
            0.905.
        most_loss: how much may be lost on average, as a fraction of the target. Items of the
            heaviest fifth of users lose about twice that. Without a limit they came out up to 6 %
            too low, and with 0.2 up to 4 %; with 0.12 there were 2 % fewer accurate items.

    Prior beliefs:

    Attributes:
        unexplained: the spread of losses among items, as a fraction of the mean loss. Measured with
            true counts: 0.05 to 1.4. With 1.0, at most 92 % of the intervals held on the two Debian
            sets at ρ = 1; with 1.5 there were 3 % fewer accurate items on real sets.
        caution: the factor by which the spread of heaviness is inflated when a count is shrunk
            towards what its weight predicts. At 1, items of heavy users came out 2 % lower on
            gowalla.
        power: how the loss grows with the load; measured with true counts: 1.5 to 2.2.
        power_spread: the standard deviation of its logarithm. Where heavy users have items of their
            own, losses rise all at once: with powers up to 2.8 only, 84 % of the counts were within
            the target on shared_by_few at ρ = 1, and without a preference for any power there were
            29 % fewer at ρ = 0.1.
        part: how many items of similar weight are taken together, and how many items it takes to
            believe half of what they say about each other. Taken from earlier measurements.

    What is told from noise, and where estimates are cut off. Measured on steam_games,
    movielens_small and yelp_5core at ρ of 0.1 and 1, 12 seeds; "alike" means that the items
    released differed by less than 1.5 %, and the shares within the target and within the intervals
    by less than 0.5 %:

    Attributes:
        seen: by how many σ a bin of a histogram must stand out from the noise by itself. Noise
            alone raises one of the 40 bins of `Sizes` this high in 1 of 87,000 histograms. With 4.5
            in `Sizes`, 8 % fewer items were released on steam_games at ρ = 0.1; with 4.5 in
            `Losers` the results were the same.
        least_part: the least that a count is believed to be, as a fraction of what its weight
            predicts; 0.1, 0.2 and 0.3 were alike.
    """

    sizes: Fraction = Fraction(3, 1000)
    first_round: Fraction = Fraction(6, 100)
    second_rounds: tuple[Fraction, ...] = tuple(Fraction(n, 100) for n in (3, 5, 7, 10, 14, 20))
    coarse: Fraction = Fraction(4, 100)
    users_asked: Fraction = Fraction(2, 100)

    questions: int = 3
    coarse_noise: float = 0.4
    aim: float = 0.60
    popularity: float = 1 / 8
    step: float = 1.15

    within: float = 0.91
    most_loss: float = 0.15

    unexplained: float = 1.2
    caution: float = 3.0
    power: float = 2.0
    power_spread: float = 0.4
    part: int = 40

    seen: float = 5.0
    least_part: float = 0.3

    @property
    def fixed(self) -> Fraction:
        """The share planned for all but discovery and the final counts."""
        return 2 * self.sizes + self.coarse + self.questions * self.users_asked


TUNING = Tuning()
