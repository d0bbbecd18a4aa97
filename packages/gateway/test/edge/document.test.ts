import { describe, expect, it } from 'vitest';
import { type EdgeOptions, startEdge } from './startEdge.ts';

interface Operation {
  readonly responses: Record<
    string,
    { readonly description: string; readonly headers: Record<string, unknown> }
  >;
}

async function operations(options: EdgeOptions) {
  const { gateway } = await startEdge(options);
  const { paths } = (await gateway.document()) as { paths: Record<string, { get: Operation }> };
  return (path: string) => paths[path]?.get.responses ?? {};
}

describe('the document', () => {
  it('says nothing of a rate limit that nobody asked for', async () => {
    const responses = await operations({});
    expect(Object.keys(responses('/list'))).toEqual(['200', '400', '401', '500', '503', '504']);
    expect(responses('/list')['200']?.headers).not.toHaveProperty('RateLimit');
  });

  it('says what a rate limit answers, and with which headers', async () => {
    const responses = await operations({ rateLimit: { requests: 10, windowSeconds: 60 } });
    const { 200: success, 429: refused } = responses('/list');
    expect(success?.headers).toMatchObject({ RateLimit: {}, 'RateLimit-Policy': {} });
    expect(refused?.description).toBe('More calls came than the rate limit allows.');
    expect(refused?.headers).toMatchObject({
      'Retry-After': { required: true },
      RateLimit: {},
      'RateLimit-Policy': {},
    });
    expect(responses('/open')).toHaveProperty('429');
  });

  it('says what a limit of failed attempts answers, where a credential is asked for', async () => {
    const responses = await operations({ failedAttempts: { attempts: 10, windowSeconds: 60 } });
    const refused = responses('/list')['429'];
    expect(refused?.description).toBe('Too many credentials that are not valid came from this address.');
    expect(refused?.headers).not.toHaveProperty('RateLimit');
    expect(responses('/open')).not.toHaveProperty('429');
  });

  it('says nothing of limits that are lifted', async () => {
    const responses = await operations({ maxInFlight: Infinity, callTimeoutMs: Infinity });
    expect(Object.keys(responses('/list'))).toEqual(['200', '400', '401', '500']);
  });

  it.each([
    ['where nothing is said of them', {}],
    ['where they are set', { maxInFlight: 10, callTimeoutMs: 1000 }],
  ])('says what the limits of calls answer, %s', async (_when, options) => {
    const responses = await operations(options);
    expect(responses('/list')['503']?.headers).toMatchObject({ 'Retry-After': { required: true } });
    expect(responses('/list')).toHaveProperty('504');
    expect(responses('/ticks')).toHaveProperty('503');
    expect(responses('/ticks')).toHaveProperty('504');
  });
});
