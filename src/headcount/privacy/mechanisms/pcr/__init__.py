"""Private Count Release, the paper's mechanism."""

from headcount.privacy.mechanisms.pcr.mechanism import PCR, PaperPCR

__all__ = ["PCR", "PaperPCR"]
