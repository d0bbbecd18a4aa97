import { issueKey, type Store } from '@petstore/core';

/**
 * Makes the first key of a new store. Of several processes that start on it at once, one gets the key and the others
 * `undefined`, as does everyone once the store has had a key.
 */
export async function makeFirstKey(store: Store): Promise<string | undefined> {
  const { key, hash } = issueKey();
  const added = await store.keys.addFirst({ hash, name: 'first', createdAt: Date.now() });
  return added ? key : undefined;
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
