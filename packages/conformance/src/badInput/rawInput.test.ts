import { Animal, ApiError } from '@petstore/core';
import { seedMessage } from 'trpc-gateway-test';
import { inputs } from '@petstore/testing/forms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isParserResponse } from './responseLaws.ts';
import { rawBytes } from './rawBytes.ts';
import { firstResponse, sendRaw } from './rawConnection.ts';
import { sample } from './sample.ts';
import { type ServedStore, serveStore } from './servedStore.ts';

const requestCount = inputs(1500);
const concurrency = 32;

describe('raw bytes', () => {
  let served: ServedStore;
  const outcomes = new Map<string, number>();

  beforeAll(async () => {
    served = await serveStore();
  });
  afterAll(async () => {
    await served.close();
    const outcomeCounts = [...outcomes]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([outcome, times]) => `${times} × ${outcome}`);
    process.stdout.write(
      `Raw input: ${requestCount}: ${outcomeCounts.join(', ')}. ` +
        'uWebSockets.js responds with HTML of its own where its parser fails; see docs/edge.md.\n',
    );
  });

  /** Classifies the bytes received and finds the problems of a response of the gateway. */
  function classify(received: Buffer): { readonly outcome: string; readonly problems: string[] } {
    if (received.length === 0) return { outcome: 'closed without a response', problems: [] };
    const response = firstResponse(received);
    if (response === undefined) return { outcome: 'cut off within the response', problems: [] };
    const { status, headers, body } = response;
    if (isParserResponse({ status, header: (name) => headers.get(name) })) {
      return { outcome: `${status} by the parser`, problems: [] };
    }
    const problems = served.secrets
      .filter((secret) => received.includes(secret))
      .map((secret) => `shows ${secret}`);
    if (!headers.has('x-request-id')) problems.push('has no X-Request-Id');
    if (status >= 500) problems.push('is a server error');
    if (status >= 400 && !isError(body)) problems.push('is no error of ours');
    return { outcome: String(status), problems };
  }

  it('the server answers raw bytes or ends the connection, and stays available', async () => {
    const pending = sample(rawBytes, requestCount).entries();
    const reports: string[] = [];
    const work = async () => {
      for (const [index, payload] of pending) {
        const { received, isHung } = await sendRaw(served.port, payload);
        const { outcome, problems } = classify(received);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (isHung) problems.push('hangs');
        if (problems.length === 0) continue;
        const sent = JSON.stringify(payload.toString('latin1')).slice(0, 400);
        reports.push(
          `${index}: ${sent}\n  ${problems.join(', ')}: ${received.toString('latin1').slice(0, 300)}`,
        );
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    expect(reports.slice(0, 5), `${reports.length} of ${requestCount}; ${seedMessage}`).toEqual([]);
    // Animals created on a connection that ended before its response cannot be counted, but each must be complete.
    for (const animal of await served.client.list('?limit=100')) expect(animal).toEqual(Animal.parse(animal));
    expect((await served.client.create({})).name).toBe('Rex');
  }, 60_000);
});

/** Returns whether a body is the schema Error, an error envelope of tRPC, or empty. */
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
