import { expect, it } from 'vitest';
import { z } from 'zod';
import { change, echo, t } from './inputs.ts';
import { startShape } from './startShape.ts';

const Filter = z.object({
  n: z.int().optional(),
  get inner() {
    return Filter.optional();
  },
});

const router = t.router({
  put: change({ method: 'PUT', path: '/any' }, z.json()),
  find: echo({ method: 'GET', path: '/find' }, z.object({ filter: Filter })),
});

const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

const put = (body: string): RequestInit => ({
  method: 'PUT',
  headers: { 'content-type': 'application/json' },
  body,
});

it.each([
  ['PUT /any with a JSON array', '/any', put(nested(100)), '/any', put(nested(101))],
  [
    'GET /find with brackets',
    `/find?filter${'[inner]'.repeat(99)}[n]=1`,
    {},
    `/find?filter${'[inner]'.repeat(100)}[n]=1`,
    {},
  ],
] as const)(
  '%s accepts 100 levels and rejects one more with 400',
  async (_name, path, init, deepPath, deepInit) => {
    const { restJson } = await startShape(router);
    expect((await restJson(path, init))[0]).toBe(200);
    expect(await restJson(deepPath, deepInit)).toEqual([
      400,
      { code: 'BAD_REQUEST', message: 'The input is nested deeper than 100 levels.', status: 400 },
    ]);
  },
);
