"""Every number that a rationed release was tuned with, in one place.

None of them depends on data, and none is part of the proof: they decide how much comes out, and how
well its errors are stated. "Measured" means on gowalla, book_crossing, debian_description_words,
imdb_review_words, stocktweets_tweet_ticker and generated sets at ρ of 0.1, 0.5 and 1. What was seen
of yelp_5core, steam_games and quotes_author_words while checking changed three of them:
``coarse_noise``, ``least_precision`` and ``bias``.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Tuning:
    """The tuning values, each with where it comes from.

    Shares of ρ:

    Attributes:
        sizes: a histogram of users by items. With 0.3 %, a bin of 13/√ρ users stands out by one σ.
        first_round: of discovery. It found a third to a half of what two rounds find.
        second_rounds: what the second round may get. Measured with 4, 10 and 20 %: the best of
            them gave up to 40 % more items than the worst, and was another on each set.
        coarse: counts that σ is chosen by. 4 % in place of 6 % gave 1 to 4 % more accurate items on
            debian_description_words, and 4 % fewer on shared_by_few at ρ = 0.5. With 3 % there were
            more still on most sets, but on the former only 90.4 % of all were accurate at ρ = 1.
        users_asked: each histogram of users by what they lose. With four of 1.1 %, thirty users who
            have everything were not told from noise among 5,000 at ρ = 0.1: 75 % of their counts
            were within the target, and 90 % with three of 2 %. The number of items then varied by
            10 % instead of 18 % on book_crossing and by 26 % instead of 41 % on yelp_5core at
            ρ = 0.1; at ρ = 1 yelp_5core has 7 % fewer, steam_games 5 % more. More are asked only
            where the answer is worth more than this share.
        features_asked: what is lost of each feature of items. With 2 % the slope along heaviness
            was lost in noise at ρ = 0.1.

    How many questions, and how much noise:

    Attributes:
        questions: histograms of losses. With two of 3 % in place of three of 2 %, 89 % instead of
            93 % of the counts were within the target on steam_games at ρ = 1.
        more_questions: how many more there may be, if noise may hide users. With ten users who have
            everything among 5,000, 91 % of the counts were within the target instead of 82 % at
            ρ = 1, and 74 % instead of 63 % at ρ = 0.5. With four the results were the same.
        coarse_noise: relative σ of the coarse counts. At 0.3 heavy users exceeded the ration of
            the coarse counts, which came out 10 to 15 % low on steam_games.
        aim: the standard error that σ aims at, as a part of the target, so that 1.7 of them are
            within it: with true counts and true order, 0.5 to 0.65 gave as many items within 4 %.
        popularity: items with more users come closer than the rarest, as this power of how many
            more; 1/8 and 1/4 were alike with true counts.
        least_precision: the final count has at least this share of the precision that is aimed
            at, since what is known before rests on an estimated spread. At 0.3 the number of items
            varied by 40 % from run to run on quotes_author_words.
        scales: by what factor σ may be larger or smaller than that where items are left out.
        scale_step: and where none is left out, in what steps it falls.
        cut_step: the steps between numbers of items.
        cuts: and how many of these there are; the last is an eighth of the items found.
        sigma_step: σ is rounded down to powers of this, so that items share samplers. A user's
            items take up to 4 % more of the ration than with the exact σ.

    What is released:

    Attributes:
        within: the chance to be within the target, on average over what is released. The bar is
            0.905.
        bias: how much lower items with the heaviest fifth of users may come out because of what
            they lose, as a part of the target. Planned at 0.012, it came out at 0.02 to 0.03.

    What is believed before it is measured:

    Attributes:
        unexplained: the spread of losses of items with the same features, as a part of the loss.
            Measured with true counts: 0.05 to 0.7, and most between 0.2 and 0.5.
        caution: by what factor the spread of heaviness is taken to be larger where a count is drawn
            towards what its weight says. At 1, items of heavy users came out 2 % lower on gowalla.
        lean: how much more is lost for a standard deviation of heaviness, as a part of the loss.
            Measured with true counts: 0.14 to 0.9.
        lean_spread: how far off that may be.
        trend: the same for popularity, which is 0 on average; measured: 0.1 to 0.35.
        misfit: the relative error of a loss that is added up from bins of a factor of 2.
        power: how the loss grows with the load; measured with true counts: 1.5 to 2.2.
        power_spread: how far off the logarithm of that may be.
        guess_spread: how far off, as a logarithm, the load is guessed at which that much is lost.
        part: items of similar weight that are taken together, and how many items it takes to
            believe half of what they say of each other. Carried over from earlier measurements.
        forecast_aim: the noise that counting is forecast with, as a part of the target: what was
            chosen in the end, 0.85 of ``aim``.
        forecast_loss: the loss that is forecast to be put up with, as came out in the end.

    What is told from noise, and where estimates end. Measured on steam_games, movielens_small and
    yelp_5core at ρ of 0.1 and 1, 12 seeds; "alike" means that the items released differed by less
    than 1.5 %, and the shares within the target and within the intervals by less than 0.5 %:

    Attributes:
        seen: by how many σ a bin of a histogram stands out of the noise by itself. Of the 40 bins
            of `Sizes` noise alone raises one as high in 1 of 87,000 histograms. With 4.5 in
            `Sizes` 8 % fewer items were released on steam_games at ρ = 0.1; with 4.5 in `Losers`
            the results were the same.
        likely: what is enough for all users of `Sizes` together, which noise exceeds in 6 of 1,000
            cases; 2.5 and 3 differed by a few items, and only with hundreds of users.
        feature_clip: where features of items end, in standard deviations; 1.5, 2.5 and 10 were
            alike.
        least_part: of what its weight leads one to expect, the least that a count is believed to
            be; 0.1, 0.2 and 0.3 were alike.
        most_lost: the largest share that is put back. 0.3, 0.5 and 0.9 were the same.
    """

    sizes: Fraction = Fraction(3, 1000)
    first_round: Fraction = Fraction(8, 100)
    second_rounds: tuple[Fraction, ...] = tuple(Fraction(n, 100) for n in (3, 5, 7, 10, 14, 20))
    coarse: Fraction = Fraction(4, 100)
    users_asked: Fraction = Fraction(2, 100)
    features_asked: Fraction = Fraction(3, 100)

    questions: int = 3
    more_questions: int = 2
    coarse_noise: float = 0.4
    aim: float = 0.60
    popularity: float = 1 / 8
    least_precision: float = 0.6
    scales: tuple[float, ...] = (1.1, 1.0, 0.92, 0.85)
    scale_step: float = 1.25
    cut_step: float = 1.15
    cuts: int = 16
    sigma_step: float = 1.02

    within: float = 0.91
    bias: float = 0.12

    unexplained: float = 0.6
    caution: float = 3.0
    lean: float = 0.45
    lean_spread: float = 0.3
    trend: float = 0.25
    misfit: float = 0.1
    power: float = 2.0
    power_spread: float = 0.4
    guess_spread: float = 1.0
    part: int = 40
    forecast_aim: float = 0.5
    forecast_loss: float = 0.03

    seen: float = 5.0
    likely: float = 2.5
    feature_clip: float = 2.5
    least_part: float = 0.3
    most_lost: float = 0.5

    @property
    def fixed(self) -> Fraction:
        """What is always spent beside discovery and the final counts."""
        asked = self.questions * self.users_asked + self.features_asked
        return 2 * self.sizes + self.coarse + asked


TUNING = Tuning()
