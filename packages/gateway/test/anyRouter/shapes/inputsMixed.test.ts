import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { change, echo, t } from './inputs.ts';
import { post, startShape } from './startShape.ts';

/** Inputs with several problems, or whose parts arrive in several places. */

const router = t.router({
  read: echo(
    { method: 'GET', path: '/items/{id}' },
    z.object({ id: z.int(), n: z.int().optional(), lastEventId: z.string().optional() }),
  ),
  add: change({ method: 'POST', path: '/items' }, z.object({ name: z.string(), n: z.int() })),
});

const error = (status: number, code: string, message: string) => [status, { code, message, status }];
const badRequest = (message: string) => error(400, 'BAD_REQUEST', message);
const notFound = error(404, 'NOT_FOUND', 'There is no resource with this identifier.');
const tooLarge = badRequest('id: must be within ±(2^53−1); larger integers cannot be represented exactly.');

describe('an input over REST', () => {
  it.each([
    ['9007199254740991', [200, { id: 9_007_199_254_740_991 }]],
    // Integers of 64 bits, which another client may have as an id.
    ['9007199254740992', notFound],
    ['9223372036854775807', notFound],
    ['-9223372036854775808', notFound],
    ['9223372036854775808', tooLarge],
    ['-9223372036854775809', tooLarge],
    [
      '9223372036854775807?n=x',
      badRequest(
        'n: must be an integer, such as 42 or -7; id: must be within ±(2^53−1); larger integers cannot be represented exactly.',
      ),
    ],
  ])('GET /items/%s is answered with %j', async (path, expected) => {
    const { restJson } = await startShape(router);
    expect(await restJson(`/items/${path}`)).toEqual(expected);
  });

  it('Last-Event-ID is no part of the input of a query', async () => {
    const { restJson } = await startShape(router);
    const headers = { 'last-event-id': '5' };
    expect(await restJson('/items/1?lastEventId=a', { headers })).toEqual([200, { id: 1, lastEventId: 'a' }]);
  });

  it('a body that is not an object is one problem, without those of the properties that it lacks', async () => {
    const { restJson } = await startShape(router);
    expect(await restJson('/items', post([]))).toEqual(badRequest('input: the body must be a JSON object.'));
  });
});
