"""Rationed release: every user has the whole budget as a ration."""
