import { StoreError } from './storeError.ts';

/** How many idempotency keys one caller may use within a day: each is stored, with 400 bytes, until it expires. */
export const MAX_RESERVATIONS = 100_000;

/** The caller must wait for its oldest reservations to expire, or create without a key. */
export const tooManyReservations = (limit: number, waitMs: number) =>
  new StoreError(
    'too-many-reservations',
    `The caller has used ${limit} idempotency keys within a day, as many as are kept for one.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );
