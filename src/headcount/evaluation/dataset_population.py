"""A dataset as a population in memory, so that mechanisms run on it in seconds."""

import math
from pathlib import Path

from headcount.engines.cancel import CancelToken
from headcount.evaluation.dataset import Dataset
from headcount.views.array_population import ArrayPopulation
from headcount.views.pair_arrays import Part
from headcount.views.shelf import Shelf
from headcount.views.workers import Workers


class DatasetPopulation(ArrayPopulation):
    """Who has what in a dataset: a `headcount.privacy.questions.Population`."""

    def __init__(self, dataset: Dataset) -> None:
        sizes = dataset.items_per_user
        part = Part(dataset.items, sizes[sizes > 0])
        in_memory = Shelf(Path(), math.inf)
        super().__init__([part], dataset.number_of_items, Workers(CancelToken()), in_memory)
        self.dataset = dataset
