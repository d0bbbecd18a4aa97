import type { TRPCError } from '@trpc/server';

/** What a call failed with. It is given back where that is so at once: each throw through compiled code costs 2 µs. */
export class Failed {
  readonly error: TRPCError;

  constructor(error: TRPCError) {
    this.error = error;
  }
}
