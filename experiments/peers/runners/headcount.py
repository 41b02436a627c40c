"""headcount with its defaults: there is no bound."""

import headcount
from experiments.peers.job import Job, answer


def release(job: Job) -> dict[str, float]:
    """Return the count of each item that is released."""
    made = headcount.release(
        job.events, user="user", item="item", epsilon=job.epsilon, delta=job.delta
    )
    counts = made.table["count"].to_pylist()
    return dict(zip(made.table["item"].to_pylist(), map(float, counts), strict=True))


if __name__ == "__main__":
    answer(release, "headcount")
