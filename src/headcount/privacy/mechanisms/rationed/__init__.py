"""Rationed release: every user has the whole budget as a ration."""

from headcount.privacy.mechanisms.rationed.mechanism import Rationed

__all__ = ["Rationed"]
