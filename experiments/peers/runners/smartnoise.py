"""SmartNoise SQL on a pandas data frame: Laplace noise, and a threshold for names."""

import pandas as pd
import snsql

from experiments.peers.job import Job, answer


def release(job: Job) -> dict[str, float]:
    """Return a noisy count for each item that passes the threshold."""
    events = pd.read_parquet(job.events)
    table = {
        "max_ids": job.bound,
        "sample_max_ids": True,
        "censor_dims": True,
        "rows": len(events),
        "user": {"type": "int", "private_id": True},
        "item": {"type": "string"},
    }
    reader = snsql.from_df(
        events,
        privacy=snsql.Privacy(epsilon=job.epsilon, delta=job.delta),
        metadata={"": {"shop": {"events": table}}},
    )
    query = "SELECT item, COUNT(DISTINCT user) AS users FROM shop.events GROUP BY item"
    _, *rows = reader.execute(query)
    return {str(item): float(users) for item, users in rows}


if __name__ == "__main__":
    answer(release, "smartnoise-sql")
