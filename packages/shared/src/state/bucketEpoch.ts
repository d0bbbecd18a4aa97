/** Timestamps in buckets count from 2026-01-01 (UTC): a double has more decimals for a smaller number. */
export const bucketEpoch = 1_767_225_600_000;
