"""The tools, what is installed for each, and what its user has to choose."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: Longest installation, in seconds, before a tool is given up.
PATIENCE = 600


@dataclass(frozen=True)
class Tool:
    """A tool that can do the job.

    Attributes:
        name: what it is called; its runner is the module of that name, in lower case.
        requirements: what pip installs for it; nothing for the tool that is here already.
        noise: what hides a person, and how names are found.
        choices: what its user decides besides ε and δ.
    """

    name: str
    requirements: tuple[str, ...]
    noise: str
    choices: tuple[str, ...]

    @property
    def runner(self) -> str:
        """The name of its module, without those of the packages around it."""
        return self.name.lower()


TOOLS = (
    Tool("headcount", (), "its default, `auto`", ()),
    Tool(
        "OpenDP",
        ("opendp[polars]",),
        "Gaussian noise and a threshold",
        ("the bound", "rows per item", "which items are kept", "Gaussian or Laplace noise"),
    ),
    Tool(
        "PipelineDP",
        ("pipeline-dp", "pyarrow"),
        "Gaussian thresholding, then Gaussian noise",
        ("the bound", "rows per item", "Gaussian or Laplace noise", "how items are selected",
         "the accountant"),
    ),
    Tool(
        "SmartNoise",
        ("smartnoise-sql", "pyarrow"),
        "Laplace noise and a threshold",
        ("the bound", "that rows beyond it are dropped", "that rare items are censored",
         "Gaussian or Laplace noise"),
    ),
    Tool(
        "Tumult",
        ("tmlt.analytics",),
        "noisy selection, then Laplace noise",
        ("the bound", "rows per item", "how ε is divided between finding and counting"),
    ),
)  # fmt: skip


class CannotInstallError(Exception):
    """A tool that pip could not install here."""


def python_of(tool: Tool, folder: Path) -> Path:
    """Return the Python that has a tool, in an environment that is made if there is none."""
    if not tool.requirements:
        return Path(sys.executable)
    place = folder / tool.runner
    python, done = place / "bin" / "python", place / "installed"
    if done.exists():
        return python
    try:
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(place)],
            [str(python), "-m", "pip", "install", "--quiet", *tool.requirements],
        ):
            subprocess.run(command, check=True, timeout=PATIENCE)
    except (subprocess.SubprocessError, OSError) as error:
        raise CannotInstallError(f"could not be installed ({type(error).__name__})") from None
    done.touch()
    return python
