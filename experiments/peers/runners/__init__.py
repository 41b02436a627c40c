"""One module for each tool: what its user writes for this job.

Each module runs in the environment of its tool, which knows nothing of headcount.
"""
