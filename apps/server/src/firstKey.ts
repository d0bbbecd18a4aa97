import { setTimeout as sleep } from 'node:timers/promises';
import { issueKey, type Store, StoreError } from '@petstore/core';
import type { StartContext } from 'trpc-gateway-runtime';
import type { Configuration } from './configuration/configuration.ts';

/** Delay between two attempts while the store is unavailable. */
const retryMs = 1_000;

/**
 * Creates a new store's first key. One of concurrent processes gets it, the others `undefined`, as all do later.
 * @param untilAborted retries until then. Without it, the first error is final
 * @throws {StoreError} if the store fails or was closed
 */
export async function makeFirstKey(
  { keys }: Pick<Store, 'keys'>,
  untilAborted?: AbortSignal,
): Promise<string | undefined> {
  const { key, hash } = issueKey();
  for (;;) {
    try {
      // Also true if an earlier attempt succeeded and its response was lost.
      const isFirst = await keys.addFirst({ hash, name: 'first', createdAt: Date.now() });
      return isFirst ? key : undefined;
    } catch (error) {
      if (untilAborted === undefined || !(error instanceof StoreError) || error.code === 'closed')
        throw error;
    }
    // An abort is not an error: the service is stopping and needs no key.
    await sleep(retryMs, undefined, { signal: untilAborted }).catch(() => {});
    if (untilAborted.aborted) return undefined;
  }
}

/** Creates the first key of a new store and prints it on stderr. With `API_KEY`, which replaces it, it does nothing. */
export async function showFirstKey(
  origin: string,
  store: Pick<Store, 'keys'>,
  { API_KEY, MONGODB_URI }: Pick<Configuration, 'API_KEY' | 'MONGODB_URI'>,
  { log, onClose, signal }: Pick<StartContext, 'log' | 'onClose' | 'signal'>,
): Promise<void> {
  const show = async (untilAborted?: AbortSignal) => {
    const key = await makeFirstKey(store, untilAborted);
    if (key !== undefined) process.stderr.write(firstKeyNotice(key, origin));
  };
  if (API_KEY !== undefined) return;
  if (MONGODB_URI === undefined) return show();
  // The start does not wait for the database, but the stop waits for the key.
  const shown = show(signal).catch((error: unknown) =>
    log.error(error, 'the first API key could not be created'),
  );
  onClose(() => shown);
}

/** Formats the notice that shows the first key, in lines that fit a terminal of 80 columns. */
function firstKeyNotice(key: string, origin: string): string {
  return `
This store had no API key, so one was created. It is shown only once; save it now:

  ${key}

Try it:

curl ${origin}/v1/pets \\
  -H 'Authorization: Bearer ${key}'

The docs page, which also sends requests: ${origin}/docs

`;
}
