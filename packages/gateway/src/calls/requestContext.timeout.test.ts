import { expect, it } from 'vitest';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { clientTimeoutPolicy, RequestContext } from './requestContext.ts';

async function admit(value: string, kind: RequestContext['kind'] = 'request') {
  const request = inProcessRequest('GET', '/v1/pets', { 'grpc-timeout': value });
  const context = new RequestContext(request, 'rest', 'id', 0);
  context.kind = kind;
  const before = performance.now();
  const error = await clientTimeoutPolicy.admit?.(context);
  return { error, timeout: context.clientTimeout, before, after: performance.now() };
}

it.each([
  ['1500m', 1500],
  ['2S', 2000],
  ['1H', 3_600_000],
])('Grpc-Timeout: %s ends the calls of a request %d ms after it was read', async (value, ms) => {
  const { error, timeout, before, after } = await admit(value);
  expect([error, timeout?.ms]).toEqual([undefined, ms]);
  expect(timeout?.endsAt).toBeGreaterThanOrEqual(before + ms);
  expect(timeout?.endsAt).toBeLessThanOrEqual(after + ms);
});

it.each(['soon', '5s', '-1S', '123456789m'])('Grpc-Timeout: %s is rejected with 400', async (value) => {
  expect((await admit(value)).error).toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringMatching(
      /^Grpc-Timeout: must be a positive integer of at most 8 digits and a unit/,
    ),
  });
});

it.each(['soon', '1S'])('Grpc-Timeout: %s of a WebSocket upgrade is ignored', async (value) => {
  const { error, timeout } = await admit(value, 'socket');
  expect([error, timeout]).toEqual([undefined, undefined]);
});
