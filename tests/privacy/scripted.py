"""An entropy source whose words are written down in advance."""

from collections.abc import Iterable, Sequence

import numpy as np


class ScriptedEntropy:
    private = False

    def __init__(self, words: Iterable[int]) -> None:
        self._words = list(words)

    def words(self, count: int):
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count, "the script is too short"
        return np.array(taken, dtype=np.uint64)

    def discrete_gaussian(self, values: Sequence[int], sigma: float) -> list[int]:
        return list(values)

    @property
    def left(self) -> int:
        return len(self._words)
