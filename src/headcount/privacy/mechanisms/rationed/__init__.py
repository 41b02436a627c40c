"""Rationed release: the whole budget is a ration for each user."""

from headcount.privacy.mechanisms.rationed.mechanism import Rationed

__all__ = ["Rationed"]
