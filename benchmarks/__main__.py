"""Run the benchmarks and print one line for each target."""

import argparse
import tempfile
from pathlib import Path

from benchmarks import aggregation, ledger, mechanism, noise, process, trial

PARTS = {
    "startup": process.startup,
    "mechanism": mechanism.run,
    "noise": noise.run,
    "aggregation": aggregation.run,
    "ledger": ledger.run,
    "trial": trial.run,
    "large": aggregation.large,
}


def main() -> None:
    """Run the selected parts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--big", action="store_true", help="also the 100-million-row file")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    wrong = set(options.parts) - set(PARTS)
    if wrong:
        parser.error(f"there is no part {', '.join(sorted(wrong))}")
    default = [part for part in PARTS if part != "large" or options.big]
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as folder:
        for part in options.parts or default:
            for result in PARTS[part](Path(folder), options.rounds):
                print(result, flush=True)


if __name__ == "__main__":
    main()
