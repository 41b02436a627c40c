"""The examples at the end of a command's help."""


def examples(*lines: str) -> str:
    r"""Return the end of a command's help: commands to copy. ``\b`` tells click to keep lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
