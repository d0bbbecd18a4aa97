import { StoreError } from './storeError.ts';

/** How long a retry with an idempotency key returns the first result, in milliseconds: 24 hours. */
export const RESERVATION_MS = 86_400_000;

/** Maximum number of idempotency keys per caller and day. Each takes 400 bytes until it expires. */
export const MAX_RESERVATIONS = 100_000;

/** The caller has to wait until its oldest reservations expire, or to create records without a key. */
export const tooManyReservations = (limit: number, waitMs: number) =>
  new StoreError(
    'too-many-reservations',
    `The caller has used ${limit} idempotency keys within a day, which is the limit for one caller.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );
