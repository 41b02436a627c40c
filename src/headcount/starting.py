"""What happens if somebody interrupts the command while its modules are still being imported.

That takes most of a second, in which `headcount.cli` cannot yet answer a signal.
"""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def importing() -> Iterator[None]:
    """End the command as a later Ctrl-C does; leave alone other programs that import it."""
    # Python calls it -m while it is still looking for the module to run.
    is_command = Path(sys.argv[0]).stem in ("headcount", "-m")
    if is_command:
        gc.disable()  # as `headcount.cli.main` does: modules are kept, so there is nothing to find
    try:
        yield
    except KeyboardInterrupt:
        if not is_command:
            raise
        if sys.stderr is not None:  # closed before the start
            sys.stderr.write("headcount: interrupted\n")
        raise SystemExit(128 + signal.SIGINT) from None
