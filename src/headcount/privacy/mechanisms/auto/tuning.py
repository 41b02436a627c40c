"""Every number that the choice was tuned with. None is part of a proof: they decide what comes out.

"Measured" means on ten sets (movielens_small, movielens_1m, spamassassin_sender_words,
sotu_speech_words, irc_nick_words, steam_games, yelp_5core, gowalla, stocktweets_tweet_ticker and
book_crossing) at ρ of 0.03, 0.1, 0.5, 1 and 3, 4 seeds: 200 choices.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Tuning:
    """The tuning values, each with where it comes from.

    Attributes:
        found_at: by how many σ of discovery an item's count, divided by the mean count per weight,
            must exceed 0 to be found. A noisy weight must exceed 6.6 σ (rationed.md, T); in the
            second round users have fewer items left, so that each weighs more. Measured in 6 runs
            each on eleven sets at ρ of 0.03 to 1: with 6 a vetted release is chosen in four of six
            on gowalla at ρ = 0.03, where a rationed one gives more. With 4 a rationed one promises
            0.97 times what a vetted one does with 300 users of 80 items at ρ = 1, and gives half;
            with 5 it promises 0.5 to 0.7 times as much.
        sizes: the share of ρ that buys a histogram of users by their items. With 0.3 % thirty users
            with everything among 5,000 could not be told from noise at ρ = 1, and a vetted release
            was chosen on two_populations, where a rationed one gives half as many items again.
        closer: what more may be bought of that histogram, each if knowing whether few heavy users
            are there promises more than it costs. With thirty of them among 5,000 at ρ = 0.5, a
            rationed release, which gives half as many items, was chosen in 12 of 12 runs without
            these and in none of 20 with them. On nine real sets a tenth of the runs buy one.
    """

    found_at: float = 5.0
    sizes: Fraction = Fraction(1, 100)
    closer: tuple[Fraction, ...] = (Fraction(2, 100), Fraction(4, 100))


TUNING = Tuning()
