import { bearer, type ReportedError } from 'trpc-gateway';
import { expect, it } from 'vitest';
import { hooked as router, hookOrder } from './routers.ts';
import { post, startShape } from '../startShape.ts';

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;

it.each(['/v1/read?name=Rex', `/trpc/read?${input({ name: 'Rex' })}`])(
  'GET %s runs policies, calls and hooks in the documented order',
  async (path) => {
    const does = (step: string) => () => void hookOrder.push(step);
    const { origin, server } = await startShape(router, {
      policies: [
        { admit: does('late'), complete: does('complete') },
        { before: 'authentication', admit: does('early') },
      ],
      authentication: bearer({
        verify: (token) => {
          hookOrder.push('verify');
          return token === 'good';
        },
      }) as never,
      createContext: () => {
        hookOrder.push('context');
        return {};
      },
      onResponse: does('onResponse'),
    });
    for (const [token, status, steps] of [
      ['bad', 401, ['early', 'verify', 'complete']],
      ['good', 200, ['early', 'verify', 'late', 'context', 'middleware', 'resolver', 'complete']],
    ] as const) {
      hookOrder.length = 0;
      const headers = { authorization: `Bearer ${token}` };
      expect((await server.fetch(`${origin}${path}`, { headers })).status).toBe(status);
      expect(hookOrder).toEqual([...steps, 'onResponse']);
    }
  },
);

it('onError receives the path, the type, the context, and the input that a call has read, also if it is invalid', async () => {
  const errors: ReportedError<unknown>[] = [];
  const ctx = { user: 'ada' };
  const { rest, server, origin } = await startShape(router, {
    createContext: () => ctx,
    onError: (error) => void errors.push(error),
  });
  await rest('/read?name=R');
  await server.fetch(`${origin}/trpc/read?${input({ name: 'R' })}`);
  await rest('/upload', post({ size: 'large' }));
  await rest('/read');
  await rest('/conflict');
  await rest('/nowhere');
  expect(errors.map(({ input: read, path, type, ctx: seen }) => [path, type, read, seen])).toEqual([
    ['read', 'query', { name: 'R' }, ctx],
    ['read', 'query', { name: 'R' }, ctx],
    ['upload', 'mutation', { size: 'large' }, ctx],
    ['read', 'query', {}, ctx],
    ['conflict', 'query', undefined, ctx],
    [undefined, 'unknown', undefined, undefined],
  ]);
});
