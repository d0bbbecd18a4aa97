import { bearer, type ReportedError } from 'trpc-gateway';
import { expect, it } from 'vitest';
import { hooked as router, hookOrder } from './routers.ts';
import { post, startShape } from '../startShape.ts';

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;

it.each(['/v1/read?name=Rex', `/trpc/read?${input({ name: 'Rex' })}`])(
  'GET %s runs policies, calls and hooks in the documented order',
  async (path) => {
    hookOrder.length = 0;
    const early = { before: 'authentication', admit: () => void hookOrder.push('early') } as const;
    const late = {
      admit: () => void hookOrder.push('late'),
      complete: () => void hookOrder.push('complete'),
    };
    const { origin, server } = await startShape(router, {
      policies: [late, early],
      authentication: bearer({
        verify: () => {
          hookOrder.push('verify');
          return undefined;
        },
      }) as never,
    });
    expect((await server.fetch(`${origin}${path}`, { headers: { authorization: 'Bearer x' } })).status).toBe(
      401,
    );
    expect(hookOrder).toEqual(['early', 'verify', 'complete']);

    hookOrder.length = 0;
    const open = await startShape(router, {
      policies: [late, early],
      createContext: () => {
        hookOrder.push('context');
        return {};
      },
      onResponse: () => hookOrder.push('onResponse'),
    });
    expect((await open.server.fetch(`${open.origin}${path}`)).status).toBe(200);
    expect(hookOrder).toEqual([
      'early',
      'late',
      'context',
      'middleware',
      'resolver',
      'complete',
      'onResponse',
    ]);
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
