import { setTimeout as sleep } from 'node:timers/promises';
import { issueKey, type Store, StoreError } from '@petstore/core';

/** Between two tries while the store is away, in milliseconds. */
const retryMs = 1_000;

export interface FirstKeyOptions {
  /** Until it aborts a store that is away is tried again; without it the first failure is final. */
  readonly untilAborted?: AbortSignal;
}

/**
 * Makes the first key of a new store. Of several processes that start on it at once, one gets the key and the others
 * `undefined`, as does everyone once the store has had a key.
 * @throws {StoreError} where the store fails, or was closed
 */
export async function makeFirstKey(
  { keys }: Pick<Store, 'keys'>,
  { untilAborted }: FirstKeyOptions = {},
): Promise<string | undefined> {
  const { key, hash } = issueKey();
  for (;;) {
    try {
      // Also where an earlier try was carried out and its answer lost.
      const isFirst = await keys.addFirst({ hash, name: 'first', createdAt: Date.now() });
      return isFirst ? key : undefined;
    } catch (error) {
      if (untilAborted === undefined || !(error instanceof StoreError) || error.code === 'closed')
        throw error;
    }
    // An abort is no fault: nobody waits for a key any more.
    await sleep(retryMs, undefined, { signal: untilAborted }).catch(() => {});
    if (untilAborted.aborted) return undefined;
  }
}

/** How a person is shown the first key: the lines are short, so that they survive a terminal of 80 columns. */
export function firstKeyNotice(key: string, origin: string): string {
  return `
This store had no API key, so one was made. It is shown only now; keep it:

  ${key}

Try it:

curl ${origin}/v1/pets \\
  -H 'Authorization: Bearer ${key}'

`;
}
