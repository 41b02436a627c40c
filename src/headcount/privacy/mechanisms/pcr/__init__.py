"""Private Count Release, the paper's mechanism."""
