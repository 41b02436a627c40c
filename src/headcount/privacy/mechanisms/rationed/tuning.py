"""All tuning constants of a rationed release.

None of them depends on data, and none is part of the proof: they affect how much comes out, and how
well its errors are stated. "Measured" means on gowalla, book_crossing, debian_description_words,
imdb_review_words, stocktweets_tweet_ticker and generated sets at ρ of 0.1, 0.5 and 1. Checks on
yelp_5core, steam_games and quotes_author_words led to changes in three of them: ``coarse_noise``,
``least_precision`` and ``bias``.
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
            steam_games. Further histograms are asked for only if they are worth more than this
            share.
        features_asked: what is lost of each feature of items. At 2 %, the slope along heaviness
            drowned in noise at ρ = 0.1.

    How many questions, and how much noise:

    Attributes:
        questions: histograms of losses. With two of 3 % instead of three of 2 %, 89 % instead of
            93 % of the counts were within the target on steam_games at ρ = 1.
        more_questions: how many more there may be if noise may hide users. With ten users who have
            everything among 5,000, 91 % of the counts were within the target instead of 82 % at
            ρ = 1, and 74 % instead of 63 % at ρ = 0.5. With four the results were the same.
        coarse_noise: relative σ of the coarse counts. At 0.3, heavy users exceeded the ration of
            the coarse counts, which came out 10 to 15 % low on steam_games.
        aim: the standard error that σ aims at, as a fraction of the target, which is thus 1.7
            standard errors. With true counts and true order, 0.5 to 0.65 gave the same number of
            items to within 4 %.
        popularity: items with more users than the rarest get a smaller relative error, by this
            power of the ratio of counts; 1/8 and 1/4 were alike with true counts.
        least_precision: the final count has at least this share of the intended precision, because
            what is known before it rests on an estimated spread. At 0.3 the number of items varied
            by 40 % from run to run on quotes_author_words.
        scales: the factors by which σ may differ from that where items are left out.
        scale_step: the factor by which σ falls in each step where no item is left out.
        cut_step: the ratio between successive numbers of items.
        cuts: how many such numbers there are; the last is an eighth of the items found.
        sigma_step: σ is rounded down to a power of this, so that items share samplers. A user's
            items take up to 4 % more of the ration than with the exact σ.

    What is released:

    Attributes:
        within: the mean chance of being within the target, over the released items. The bar is
            0.905.
        bias: how much lower items with the heaviest fifth of users may come out because of what
            they lose, as a fraction of the target. Planned at 0.012, it came out at 0.02 to 0.03.

    Prior beliefs:

    Attributes:
        unexplained: the spread of losses among items with the same features, as a fraction of the
            loss. Measured with true counts: 0.05 to 0.7, mostly between 0.2 and 0.5.
        caution: the factor by which the spread of heaviness is inflated when a count is shrunk
            towards what its weight predicts. At 1, items of heavy users came out 2 % lower on
            gowalla.
        lean: how much more is lost per standard deviation of heaviness, as a fraction of the loss.
            Measured with true counts: 0.14 to 0.9.
        lean_spread: the standard deviation of that.
        trend: the same for popularity, which is 0 on average; measured: 0.1 to 0.35.
        misfit: the relative error of a loss that is summed from bins of a factor of 2.
        power: how the loss grows with the load; measured with true counts: 1.5 to 2.2.
        power_spread: the standard deviation of its logarithm.
        guess_spread: that of the logarithm of the load guessed to cause the acceptable loss.
        part: how many items of similar weight are taken together, and how many items it takes to
            believe half of what they say about each other. Taken from earlier measurements.
        forecast_aim: the noise assumed when counting is forecast, as a fraction of the target: what
            was chosen in the end, 0.85 of ``aim``.
        forecast_loss: the loss in a forecast that turns out to be 0.03, which is acceptable: heavy
            users have more of the rare items than the forecast gives them. At 0.03 the second round
            of discovery got more than it was worth, and there were 2 % fewer accurate items on
            seven sets.

    What is told from noise, and where estimates are cut off. Measured on steam_games,
    movielens_small and yelp_5core at ρ of 0.1 and 1, 12 seeds; "alike" means that the items
    released differed by less than 1.5 %, and the shares within the target and within the intervals
    by less than 0.5 %:

    Attributes:
        seen: by how many σ a bin of a histogram must stand out from the noise by itself. Noise
            alone raises one of the 40 bins of `Sizes` this high in 1 of 87,000 histograms. With 4.5
            in `Sizes`, 8 % fewer items were released on steam_games at ρ = 0.1; with 4.5 in
            `Losers` the results were the same.
        likely: the same for all bins of `Sizes` together, which noise exceeds in 6 of 1,000 cases;
            2.5 and 3 differed by a few items, and only with hundreds of users.
        feature_clip: where features of items are clipped, in standard deviations; 1.5, 2.5 and 10
            were alike.
        least_part: the least that a count is believed to be, as a fraction of what its weight
            predicts; 0.1, 0.2 and 0.3 were alike.
        most_lost: the largest share that is added back. 0.3, 0.5 and 0.9 were the same.
    """

    sizes: Fraction = Fraction(3, 1000)
    first_round: Fraction = Fraction(6, 100)
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
    forecast_loss: float = 0.016

    seen: float = 5.0
    likely: float = 2.5
    feature_clip: float = 2.5
    least_part: float = 0.3
    most_lost: float = 0.5

    @property
    def fixed(self) -> Fraction:
        """The share planned for all but discovery and the final counts."""
        asked = self.questions * self.users_asked + self.features_asked
        return 2 * self.sizes + self.coarse + asked


TUNING = Tuning()
