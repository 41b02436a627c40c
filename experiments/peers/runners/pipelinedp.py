"""PipelineDP without a cluster: Gaussian noise, and Gaussian thresholding for names."""

import pipeline_dp
import pyarrow.parquet as pq

from experiments.peers.job import Job, answer


def release(job: Job) -> dict[str, float]:
    """Return a noisy count for each item that is selected."""
    events = pq.read_table(job.events)
    rows = list(zip(events["user"].to_pylist(), events["item"].to_pylist(), strict=True))
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=job.epsilon, total_delta=job.delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    selection = pipeline_dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING
    counted = engine.aggregate(
        rows,
        pipeline_dp.AggregateParams(
            metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
            partition_selection_strategy=selection,
            max_partitions_contributed=job.bound,
            max_contributions_per_partition=1,
        ),
        pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,
        ),
    )
    accountant.compute_budgets()
    return {str(item): float(metrics.privacy_id_count) for item, metrics in counted}


if __name__ == "__main__":
    answer(release, "pipeline-dp")
