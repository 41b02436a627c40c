"""Private Count Release, the paper's mechanism."""

from headcount.privacy.mechanisms.pcr.mechanism import PCR, NoiseReducingPCR, PaperPCR

__all__ = ["PCR", "NoiseReducingPCR", "PaperPCR"]
