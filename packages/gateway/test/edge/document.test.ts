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

describe('the OpenAPI document', () => {
  it('the document has no 429 without rateLimit', async () => {
    const responses = await operations({});
    expect(Object.keys(responses('/list'))).toEqual(['200', '400', '401', '500', '503', '504']);
    expect(responses('/list')['200']?.headers).not.toHaveProperty('RateLimit');
  });

  it('the document describes the 429 of rateLimit and its headers', async () => {
    const responses = await operations({ rateLimit: { calls: 10, windowSeconds: 60 } });
    const { 200: success, 429: rejected } = responses('/list');
    expect(success?.headers).toMatchObject({ RateLimit: {}, 'RateLimit-Policy': {} });
    expect(rejected?.description).toBe('The rate limit was exceeded.');
    expect(rejected?.headers).toMatchObject({
      'Retry-After': { required: true },
      RateLimit: {},
      'RateLimit-Policy': {},
    });
    expect(responses('/open')).toHaveProperty('429');
  });

  it('the document describes the 429 of failedAttempts for operations that need a credential', async () => {
    const responses = await operations({ failedAttempts: { attempts: 10, windowSeconds: 60 } });
    const rejected = responses('/list')['429'];
    expect(rejected?.description).toBe('Too many invalid credentials were sent from this address.');
    expect(rejected?.headers).not.toHaveProperty('RateLimit');
    expect(responses('/open')).not.toHaveProperty('429');
  });

  it('the document has no 503 and 504 if maxInFlight and callTimeoutMs are Infinity', async () => {
    const responses = await operations({ maxInFlight: Infinity, callTimeoutMs: Infinity });
    expect(Object.keys(responses('/list'))).toEqual(['200', '400', '401', '500']);
  });

  it.each([
    ['by default', {}],
    ['with maxInFlight and callTimeoutMs', { maxInFlight: 10, callTimeoutMs: 1000 }],
  ])('the document describes 503 with Retry-After and 504 %s', async (_when, options) => {
    const responses = await operations(options);
    expect(responses('/list')['503']?.headers).toMatchObject({ 'Retry-After': { required: true } });
    expect(responses('/list')).toHaveProperty('504');
    expect(responses('/ticks')).toHaveProperty('503');
    expect(responses('/ticks')).toHaveProperty('504');
  });
});
