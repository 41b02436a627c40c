"""The mechanisms that release counts, one folder each: code, proof and tuning.

`register` adds one, also from outside the package; nothing else in headcount compares their names.
"""

from headcount.errors import SettingsError
from headcount.privacy.mechanisms.auto import Auto
from headcount.privacy.mechanisms.base import (
    Measure,
    Mechanism,
    MechanismResult,
    Options,
    Progress,
)
from headcount.privacy.mechanisms.known import Known
from headcount.privacy.mechanisms.pcr import PCR, NoiseReducingPCR, PaperPCR
from headcount.privacy.mechanisms.rationed import Rationed
from headcount.privacy.mechanisms.threshold import Threshold

__all__ = [
    "DEFAULT",
    "Known",
    "Measure",
    "Mechanism",
    "MechanismResult",
    "Options",
    "Progress",
    "mechanism",
    "names",
    "pays_what_it_gets",
    "register",
]

#: The mechanism that is used if none is named.
DEFAULT = Auto.name
_registered: dict[str, type[Mechanism]] = {}


def register(kind: type[Mechanism]) -> type[Mechanism]:
    """Add a mechanism under its name, for every part of headcount; usable as a decorator."""
    if kind.name in _registered:
        raise ValueError(f"there is a mechanism {kind.name!r} already")
    _registered[kind.name] = kind
    return kind


def names() -> list[str]:
    """Return what ``--method`` and ``method=`` accept."""
    return list(_registered)


def mechanism(name: str) -> type[Mechanism]:
    """Return the mechanism of that name."""
    if not isinstance(name, str) or name not in _registered:
        raise SettingsError(f"there is no method {name!r}; there are: {', '.join(_registered)}")
    return _registered[name]


def pays_what_it_gets(name: str) -> bool:
    """Whether a proof in ledger.md says that what a mechanism did not spend may be spent again."""
    # `Known` is asked for by a list of items, not by name.
    kinds: dict[str, type[Mechanism]] = {**_registered, Known.name: Known}
    return name in kinds and kinds[name].pays_what_it_gets


for _kind in (Auto, PCR, PaperPCR, NoiseReducingPCR, Rationed, Threshold):
    register(_kind)
