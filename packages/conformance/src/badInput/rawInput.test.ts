import { Animal, ApiError } from '@petstore/core';
import { seedMessage } from '@petstore/gateway-test';
import { inputs } from '@petstore/testing/forms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOfTheParser } from './responseLaws.ts';
import { rawBytes } from './rawBytes.ts';
import { firstResponse, sendRaw } from './rawConnection.ts';
import { sample } from './sample.ts';
import { type ServedStore, serveStore } from './servedStore.ts';

const total = inputs(1500);
const atOnce = 32;

describe('bytes that are no request, or hardly one', () => {
  let served: ServedStore;
  const outcomes = new Map<string, number>();

  beforeAll(async () => {
    served = await serveStore();
  });
  afterAll(async () => {
    await served.close();
    const seen = [...outcomes]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([what, times]) => `${times} × ${what}`);
    process.stdout.write(
      `Raw input: ${total}: ${seen.join(', ')}. ` +
        "The parser's answers are uWebSockets.js's own HTML, which JavaScript cannot mend.\n",
    );
  });

  /** What became of it, in a word; the faults of an answer that is ours. */
  function judge(received: Buffer): { readonly what: string; readonly faults: string[] } {
    if (received.length === 0) return { what: 'closed without an answer', faults: [] };
    const response = firstResponse(received);
    if (response === undefined) return { what: 'cut off in the answer', faults: [] };
    const { status, headers, body } = response;
    if (isOfTheParser({ status, header: (name) => headers.get(name) })) {
      return { what: `${status} by the parser`, faults: [] };
    }
    const faults = served.secrets
      .filter((secret) => received.includes(secret))
      .map((secret) => `shows ${secret}`);
    if (!headers.has('x-request-id')) faults.push('has no X-Request-Id');
    if (status >= 500) faults.push('is a fault of the server');
    if (status >= 400 && !isError(body)) faults.push('is no error of ours');
    return { what: String(status), faults };
  }

  it('are answered, or their connection ends, and the server lives', async () => {
    const pending = sample(rawBytes, total).entries();
    const faults: string[] = [];
    const work = async () => {
      for (const [index, payload] of pending) {
        const { received, isHung } = await sendRaw(served.port, payload);
        const { what, faults: found } = judge(received);
        outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
        if (isHung) found.push('hangs');
        if (found.length === 0) continue;
        const sent = JSON.stringify(payload.toString('latin1')).slice(0, 400);
        faults.push(`${index}: ${sent}\n  ${found.join(', ')}: ${received.toString('latin1').slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(faults.slice(0, 5), `${faults.length} of ${total}; ${seedMessage}`).toEqual([]);
    // What was created on a connection that ended before its answer is nobody's to count; each is whole all the same.
    for (const animal of await served.client.list('?limit=100')) expect(animal).toEqual(Animal.parse(animal));
    expect((await served.client.create({})).name).toBe('Rex');
  }, 60_000);
});

/** The Error, or tRPC's envelope. */
function isError(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    return (
      ApiError.strict().safeParse(value).success || (Object(value) === value && 'error' in (value as object))
    );
  } catch {
    return body.length === 0; // HEAD
  }
}
