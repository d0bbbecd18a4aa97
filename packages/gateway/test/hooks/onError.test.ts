import { bearer, type ReportedError } from 'trpc-gateway';
import { describe, expect, it } from 'vitest';
import { hooked as router, hookOrder } from './routers.ts';
import { post, startShape } from '../startShape.ts';

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;

describe('the order of policies and hooks', () => {
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
      expect(
        (await server.fetch(`${origin}${path}`, { headers: { authorization: 'Bearer x' } })).status,
      ).toBe(401);
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
});

describe('onError', () => {
  const collect = async (options: Parameters<typeof startShape<typeof router>>[1] = {}) => {
    const errors: ReportedError<unknown>[] = [];
    const shape = await startShape(router, {
      createContext: () => ({ user: 'ada' }),
      onError: (error) => void errors.push(error),
      ...options,
    });
    return {
      ...shape,
      errors,
      seen: () => errors.splice(0).map(({ path, type, error, ctx }) => [path, type, error.code, ctx]),
    };
  };
  const ctx = { user: 'ada' };

  it('onError is called once for each error of each protocol', async () => {
    const { rest, seen, server, origin } = await collect();
    await rest('/conflict');
    expect(seen()).toEqual([['conflict', 'query', 'CONFLICT', ctx]]);
    await rest('/crash');
    expect(seen()).toEqual([['crash', 'query', 'INTERNAL_SERVER_ERROR', ctx]]);
    await rest('/nowhere');
    expect(seen()).toEqual([[undefined, 'unknown', 'NOT_FOUND', undefined]]);
    await server.fetch(`${origin}/trpc/conflict`);
    expect(seen()).toEqual([['conflict', 'query', 'CONFLICT', ctx]]);
    await server.fetch(`${origin}/trpc/conflict,crash?batch=1&input=%7B%7D`);
    expect(seen()).toEqual([
      ['conflict', 'query', 'CONFLICT', ctx],
      ['crash', 'query', 'INTERNAL_SERVER_ERROR', ctx],
    ]);
    await server.fetch(`${origin}/trpc/conflict`, post({}));
    expect(seen()).toEqual([['conflict', 'query', 'METHOD_NOT_SUPPORTED', ctx]]);
    await server.fetch(`${origin}/elsewhere`);
    expect(seen()).toEqual([[undefined, 'unknown', 'NOT_FOUND', undefined]]);
  });

  it('onError receives the input that a call has read, also if it is invalid', async () => {
    const { errors, rest, server, origin } = await collect();
    await rest('/read?name=R');
    await server.fetch(`${origin}/trpc/read?${input({ name: 'R' })}`);
    await rest('/upload', post({ size: 'large' }));
    await rest('/read');
    await rest('/conflict');
    expect(errors.map(({ input: read, path }) => [path, read])).toEqual([
      ['read', { name: 'R' }],
      ['read', { name: 'R' }],
      ['upload', { size: 'large' }],
      ['read', {}],
      ['conflict', undefined],
    ]);
  });
});
