"""OpenDP, through its Polars interface: Gaussian noise, and a threshold for names."""

import opendp.prelude as dp
import polars as pl
from opendp.extras.polars import dp_len

from experiments.peers.job import Job, answer

dp.enable_features("contrib")


def release(job: Job) -> dict[str, float]:
    """Return a noisy count for each item that passes the threshold."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(job.events),
        privacy_unit=dp.unit_of(contributions=1, identifier="user"),
        privacy_loss=dp.loss_of(rho=job.rho, delta=job.delta_selection),
        split_evenly_over=1,
    )
    counted = (
        context.query()
        .truncate_per_group(1, by=["item"])  # a user's rows with one item count once
        # "sample", the default, fails in 0.16; names here are random, so any order will do.
        .truncate_num_groups(job.bound, by=["item"], keep="first")
        .group_by("item")
        .agg(dp_len(signed=True))
        .release()
        .collect()
    )
    return {str(item): float(count) for item, count in counted.iter_rows()}


if __name__ == "__main__":
    answer(release, "opendp")
