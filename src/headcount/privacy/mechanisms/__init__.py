"""The mechanisms that release counts, one folder each: code, proof and tuning."""
