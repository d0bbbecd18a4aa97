import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { headersOf } from '../http/response.ts';
import { apiKey } from './schemes/apiKey.ts';
import { bearer } from './schemes/bearer.ts';
import { t, testGateway } from '../testing/testGateway.ts';

const writer = t.procedure.meta({ scopes: ['pets:write'] });

const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .output(z.string())
    .query(() => 'list'),
  // tRPC merges this metadata with that of `writer`.
  add: writer
    .meta({ openapi: { method: 'POST', path: '/pets' } })
    .output(z.string())
    .mutation(() => 'add'),
  audit: t.procedure
    .meta({ openapi: { method: 'GET', path: '/audit' }, scopes: ['pets:read', 'audit'] })
    .output(z.string())
    .query(() => 'audit'),
  // Only over tRPC.
  logs: t.procedure.meta({ scopes: ['logs'] }).query(() => 1),
  count: t.procedure.meta({ scopes: ['pets:read'] }).query(() => 1),
});

/** Scheme options for credentials that consist of their scopes, such as `pets:read+audit`. */
const options = {
  verify: (token: string) => ({ scopes: token.split('+') }),
  scopes: (identity: { readonly scopes: readonly string[] }) => identity.scopes,
};

async function send(method: string, target: string, headers: Record<string, string>) {
  const gateway = await testGateway(router, { authentication: [bearer(options), apiKey(options)] });
  const response = await gateway.handle(
    inProcessRequest(method, target, { 'content-type': 'application/json', ...headers }, '{}'),
  );
  const challenge = headersOf(response).find(([name]) => name === 'www-authenticate')?.[1];
  return { status: response.status, body: JSON.parse(response.body as string) as unknown, challenge };
}

const none = { authorization: 'Bearer none' };
const challenge = (scopes: string) => `Bearer realm="api", error="insufficient_scope", scope="${scopes}"`;
const shape = (message: string) => ({ error: { message, data: { code: 'FORBIDDEN', httpStatus: 403 } } });

describe('a call with a credential that lacks a scope', () => {
  it('a REST call without one of two scopes answers 403, and its challenge names both', async () => {
    expect(await send('GET', '/v1/audit', { authorization: 'Bearer audit' })).toMatchObject({
      status: 403,
      body: { message: 'The token does not have the required scope pets:read.' },
      challenge: challenge('pets:read audit'),
    });
  });

  it('a batch answers 403 for each call without a required scope, and runs the others', async () => {
    expect(await send('GET', '/trpc/list,count,audit?batch=1', none)).toMatchObject({
      status: 207,
      body: [
        { result: { data: 'list' } },
        shape('The token does not have the required scope pets:read.'),
        shape('The token does not have the required scopes pets:read audit.'),
      ],
      challenge: challenge('pets:read audit'),
    });
    expect((await send('GET', '/trpc/count,logs?batch=1', none)).challenge).toBe(challenge('pets:read logs'));
    expect(await send('GET', '/trpc/count,count?batch=1', none)).toMatchObject({
      status: 403,
      challenge: challenge('pets:read'),
    });
  });
});

it('an unknown path answers 404 and a wrong method 405 without checking scopes', async () => {
  expect((await send('GET', '/v1/none', none)).status).toBe(404);
  expect((await send('DELETE', '/v1/audit', none)).status).toBe(405);
  expect((await send('GET', '/trpc/add', none)).status).toBe(405);
});

it.each(['pets:read audit', { 'pets:read': true }, 1])(
  'a scopes function that returns %j instead of an array answers 500, and the error says so',
  async (returned) => {
    const errors: unknown[] = [];
    const gateway = await testGateway(router, {
      authentication: bearer({ verify: () => 'Ada', scopes: () => returned as never }),
      onResponse: ({ error }) => errors.push(error),
    });
    const { status } = await gateway.handle(inProcessRequest('GET', '/trpc/logs', none));
    expect([status, String((errors[0] as Error).cause)]).toEqual([
      500,
      expect.stringContaining('scopes of the scheme "bearer" returned'),
    ]);
  },
);

it.each([undefined, bearer({ verify: options.verify })])(
  'createGateway rejects required scopes if no scheme has scopes: case %#',
  async (authentication) => {
    const scoped = t.router({ a: t.procedure.meta({ scopes: ['a'] }).query(() => 1) });
    await expect(testGateway(scoped, authentication && { authentication })).rejects.toThrow(
      '"a" require scopes, but no authentication scheme returns the scopes of an identity',
    );
  },
);
