import { initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { adapters, dial, until } from '../adapters/testing/dial.ts';
import type { Gateway } from '../gateway.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { headersOf } from '../http/response.ts';
import type { GatewayOptions } from '../assembly/options.ts';
import type { GatewayMeta } from '../procedures/meta.ts';
import type { Scheme } from '../calls/scheme.ts';
import { apiKey } from './schemes/apiKey.ts';
import { bearer } from './schemes/bearer.ts';
import { cookie } from './schemes/cookie.ts';
import { custom } from './schemes/custom.ts';
import { jwt } from './schemes/jwt.ts';
import { testGateway } from '../testing/testGateway.ts';

const t = initTRPC.context<{ who: string | undefined }>().meta<GatewayMeta>().create();

const caller = ({ ctx }: { readonly ctx: { readonly who: string | undefined } }) => ctx.who ?? 'anonymous';

const router = t.router({
  read: t.procedure
    .meta({ openapi: { method: 'GET', path: '/who' } })
    .output(z.string())
    .query(caller),
  open: t.procedure
    .meta({ openapi: { method: 'GET', path: '/open', protect: false } })
    .output(z.string())
    .query(caller),
});

type Options = Partial<GatewayOptions<typeof router, string>>;

/** Accepts credentials that start with `good`, as their scheme and themselves. */
const verify = (scheme: string) => (credential: string) =>
  credential.startsWith('good') ? `${scheme} ${credential}` : undefined;

const session = { verify: verify('cookie'), cookie: '__Host-s' };
const schemes: readonly Scheme<string>[] = [
  bearer({ verify: verify('bearer') }),
  apiKey({ verify: verify('apiKey') }),
  cookie({ ...session, proxyRejectsNonAscii: true }),
  custom({
    name: 'signature',
    read: (source) => source.header('signature'),
    verify: verify('signature'),
    challenge: 'Signature realm="api"',
    document: { type: 'http', scheme: 'signature' },
  }),
];

const gatewayWith = (authentication: Options['authentication'], options: Options = {}) =>
  testGateway<typeof router, string>(router, {
    ...(authentication && { authentication }),
    createContext: ({ identity }) => ({ who: identity }),
    onResponse() {},
    ...options,
  });

async function start(authentication: Options['authentication'], options: Options = {}) {
  const gateway = await gatewayWith(authentication, options);
  return async (target: string, headers: Record<string, string> = {}) => {
    const request = inProcessRequest('GET', target, { host: 'api.example', ...headers });
    const response = await gateway.handle(request);
    const valuesOf = (header: string) =>
      headersOf(response).flatMap(([name, value]) => (name === header ? [value] : []));
    return {
      status: response.status,
      body: response.body === undefined ? undefined : (JSON.parse(response.body as string) as unknown),
      challenges: valuesOf('www-authenticate'),
      retryAfter: valuesOf('retry-after'),
    };
  };
}

describe('a list of authentication schemes', () => {
  it.each<[headers: Record<string, string>, who: string]>([
    [{ authorization: 'Bearer good' }, 'bearer good'],
    [{ 'x-api-key': 'good' }, 'apiKey good'],
    [{ cookie: '__Host-s=good' }, 'cookie good'],
    [{ signature: 'good' }, 'signature good'],
    [{ cookie: '__Host-s=bad', 'x-api-key': 'good' }, 'apiKey good'],
    [{ cookie: 'other=bad', signature: 'good' }, 'signature good'],
    [{ 'x-api-key': 'good1', authorization: 'Bearer good2' }, 'bearer good2'],
  ])(
    'the first scheme that finds a credential authenticates the request: %j authenticates as %s',
    async (headers, who) => {
      const send = await start(schemes);
      expect(await send('/v1/who', headers)).toMatchObject({ status: 200, body: who });
      expect(await send('/trpc/read', headers)).toMatchObject({
        status: 200,
        body: { result: { data: who } },
      });
    },
  );

  it.each<[headers: Record<string, string>, message: string, invalid: boolean]>([
    [{ authorization: 'Bearer bad', 'x-api-key': 'good' }, 'The token is not valid.', true],
    [{ authorization: 'Bearer', 'x-api-key': 'good' }, 'The token is not valid.', true],
    [{ 'x-api-key': 'bad' }, 'The API key is not valid.', false],
    [{ cookie: '__Host-s=bad', signature: 'good' }, 'The session is not valid.', false],
    [{ cookie: '__Host-s=good; __Host-s=bad' }, 'The session is not valid.', false],
    [{ signature: 'bad' }, 'The credential is not valid.', false],
    [
      {},
      'A credential is required: send "Authorization: Bearer <token>" or "X-API-Key: <API key>" or the cookie ' +
        '"__Host-s" or the credential "signature".',
      false,
    ],
    [{ authorization: 'Digest good' }, 'A credential is required: send ', false],
  ])('GET with %j answers 401 with the challenges of all schemes', async (headers, message, invalid) => {
    const request = await start(schemes);
    const { status, body, challenges } = await request('/v1/who', headers);
    expect([status, body]).toEqual([
      401,
      { code: 'UNAUTHORIZED', message: expect.stringContaining(message), status: 401 },
    ]);
    expect(challenges).toEqual([
      invalid ? 'Bearer realm="api", error="invalid_token"' : 'Bearer realm="api"',
      'ApiKey realm="api", header="X-API-Key"',
      'Cookie realm="api", cookie-name="__Host-s"',
      'Signature realm="api"',
    ]);
    expect((await request('/trpc/read', headers)).challenges).toEqual(challenges);
  });

  it.each([undefined, null, false, '', 0])(
    'a credential for which verify returns %j is rejected with 401',
    async (falsy) => {
      // oxlint-disable-next-line unicorn/no-thenable -- such as a query builder
      const thenable = { then: (resolve: (value: unknown) => void) => resolve(falsy) };
      for (const returned of [falsy, Promise.resolve(falsy), thenable]) {
        const send = await start(bearer({ verify: () => returned as never }));
        expect((await send('/v1/who', { authorization: 'Bearer good' })).status).toBe(401);
        expect(await send('/v1/open', { authorization: 'Bearer good' })).toMatchObject({
          body: 'anonymous',
        });
      }
    },
  );

  it('failedAttempts remembers a rejected credential per scheme, not for the other schemes', async () => {
    const accepts = (name: string, good: string) => async (credential: string) =>
      credential === good ? name : undefined;
    const call = await start(
      [bearer({ verify: accepts('bearer', 'a') }), apiKey({ verify: accepts('apiKey', 'b') })],
      { failedAttempts: { attempts: 10, windowMs: 60_000 } },
    );
    expect((await call('/v1/who', { authorization: 'Bearer b' })).status).toBe(401);
    expect(await call('/v1/who', { 'x-api-key': 'b' })).toMatchObject({ status: 200, body: 'apiKey' });
    expect((await call('/v1/who', { 'x-api-key': 'a' })).status).toBe(401);
    expect(await call('/v1/who', { authorization: 'Bearer a' })).toMatchObject({
      status: 200,
      body: 'bearer',
    });
  });

  it('the rate limit counts equal credentials of two schemes as two callers', async () => {
    const send = await start(schemes, { rateLimit: { calls: 1, windowMs: 60_000 } });
    expect((await send('/v1/who', { authorization: 'Bearer good' })).status).toBe(200);
    expect((await send('/v1/who', { 'x-api-key': 'good' })).status).toBe(200);
    expect((await send('/v1/who', { 'x-api-key': 'good' })).status).toBe(429);
  });

  it.each(['/v1/who', '/trpc/read', '/trpc/read,read?batch=1'])(
    'a scheme that throws SERVICE_UNAVAILABLE answers GET %s with 503, without a challenge and a failed attempt, and no other scheme is tried',
    async (target) => {
      const unavailable = apiKey({
        async verify() {
          throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Keys cannot be read.' });
        },
      });
      const send = await start([unavailable, bearer({ verify: verify('bearer') })], {
        failedAttempts: { attempts: 1, windowMs: 60_000 },
      });
      const headers = { 'x-api-key': 'a', authorization: 'Bearer good' };
      for (let sent = 0; sent < 3; sent += 1) {
        expect(await send(target, headers)).toMatchObject({ status: 503, challenges: [], retryAfter: ['1'] });
      }
    },
  );
});

it.each([
  ['HEAD', 200],
  ['DELETE', 403],
])('%s by a page of another site with a cookie is answered with %i', async (method, expected) => {
  const { fetch } = await gatewayWith(schemes);
  const headers = { cookie: '__Host-s=good', 'sec-fetch-site': 'cross-site' };
  expect((await fetch('http://api.example/v1/who', { method, headers })).status).toBe(expected);
});

it.each<[authentication: readonly Scheme<string>[], message: RegExp]>([
  [[], /^authentication must be a scheme, or a list of one or more schemes/],
  [
    [apiKey({ verify: verify('a'), header: 'X-A' }), apiKey({ verify: verify('b'), header: 'X-B' })],
    /a scheme named "apiKey"; its name must be unique/,
  ],
  [
    [bearer({ verify: verify('a') }), bearer({ verify: verify('b'), name: 'b' })],
    /"bearer" and "b" both read "Authorization: Bearer", so the second is never used.*verify/,
  ],
  [
    [
      jwt<string>({ issuer: 'a', audience: 'b', jwksUri: 'https://a/jwks', verify: () => 'c' }),
      bearer({ verify: verify('a') }),
    ],
    /"jwt" and "bearer" both read "Authorization: Bearer"/,
  ],
  [
    [apiKey({ verify: verify('a') }), apiKey({ verify: verify('b'), name: 'b', header: 'x-api-key' })],
    /"apiKey" and "b" both read "x-api-key"/,
  ],
  [
    [cookie({ verify: verify('a'), cookie: 's' }), cookie({ verify: verify('b'), cookie: 's', name: 'b' })],
    /"cookie" and "b" both read the cookie "s"/,
  ],
  [
    [bearer({ verify: verify('a'), name: 'my key' })],
    /a scheme named "my key"; its name must be unique, and contain only letters/,
  ],
])('createGateway rejects invalid authentication schemes: case %#', async (authentication, message) => {
  await expect(start(authentication)).rejects.toThrow(message);
});

it.each(['key2', 'my-key', 'my.key', 'my_key'])(
  'createGateway accepts a scheme named %s, and the document has its name',
  async (name) => {
    const gateway = await testGateway(router, {
      authentication: [bearer({ verify: verify('a') }), apiKey({ verify: verify('b'), name })],
    });
    expect(await gateway.document()).toHaveProperty(['components', 'securitySchemes', name]);
  },
);

const statusOf = (response: string) => Number(response.split(' ', 2)[1]);

describe.each(adapters)('on $adapter', ({ adapter, listen }) => {
  /** Sends a request on a connection of its own, and returns the response. */
  async function send(gateway: Gateway, headers: readonly string[], target = '/v1/who'): Promise<string> {
    const { socket, text, closed } = await dial(await listen(gateway));
    const lines = [`GET ${target} HTTP/1.1`, 'Host: api.example', ...headers, 'Connection: close', '', ''];
    socket.write(lines.join('\r\n'), 'latin1');
    await closed;
    return text();
  }

  it.each<[headers: readonly string[], status: number]>([
    [['Authorization: Bearer good'], 200],
    [['Authorization: Bearer good', 'Authorization: Bearer good'], 401],
    [['Authorization: Bearer good', 'authorization: Bearer bad'], 401],
    [['Authorization: Bearer good', 'A: b', 'AUTHORIZATION:'], 401],
    [['X-API-Key: good'], 200],
    [['X-API-Key: good', 'X-API-Key: good'], 401],
    [['Cookie: __Host-s=good'], 200],
    [['Cookie: __Host-s=good', 'Cookie: __Host-s=good2'], 401],
    [['Cookie: __Host-s=good', 'Cookie: a=b'], 401],
    [['Cookie: a=b', 'Cookie: __Host-s=good'], 401],
    // Other headers, and the header of a scheme that does not decide, may be repeated.
    [['X-API-Key: good', 'Accept: */*', 'Accept: */*'], 200],
    [['Authorization: Bearer good', 'Cookie: a=b', 'Cookie: a=b'], 200],
  ])(`${adapter}: GET with the headers %j is answered with %i`, async (headers, status) => {
    const gateway = await gatewayWith(schemes);
    expect(statusOf(await send(gateway, headers))).toBe(status);
    expect(statusOf(await send(gateway, headers, '/trpc/read'))).toBe(status);
  });

  it(`${adapter}: a public procedure is called as anonymous if the credential header occurs twice`, async () => {
    const headers = ['X-API-Key: good', 'X-API-Key: good'];
    expect(await send(await gatewayWith(schemes), headers, '/v1/open')).toMatch(/200 OK.*"anonymous"$/s);
  });

  it.each([
    [['Authorization: Bearer good'], 101],
    [['Authorization: Bearer good', 'Authorization: Bearer good'], 401],
    [['Cookie: __Host-s=good', 'Cookie: a=b'], 401],
  ])(`${adapter}: a WebSocket upgrade with the headers %j is answered with %i`, async (headers, status) => {
    const { socket, text } = await dial(await listen(await gatewayWith(schemes)));
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(
      ['GET /trpc HTTP/1.1', 'Host: api.example', ...upgrade, key, ...headers, '', ''].join('\r\n'),
    );
    await until(() => expect(text()).toContain('\r\n\r\n'));
    expect(statusOf(text())).toBe(status);
  });

  const isUws = adapter === 'uWebSockets.js';

  it.each(['\u2000', '\u00a0', '\u3000', '\ufeff', '\u2028', 'é', '\u0085'])(
    `${adapter}: ${isUws ? 'the parser removes' : 'the cookie parser keeps'} %j before the first cookie`,
    async (blank) => {
      const header = `Cookie: ${Buffer.from(blank).toString('latin1')}__Host-s=good`;
      // With the option, the proxy rejects this request. If uWebSockets.js answers 401, the option is no longer needed.
      expect(statusOf(await send(await gatewayWith(schemes), [header]))).toBe(isUws ? 200 : 401);
    },
  );

  it.each([
    { authentication: [cookie(session)], named: 'The scheme "cookie" reads the cookie "__Host-s", but' },
    {
      authentication: [
        bearer({ verify: verify('bearer') }),
        cookie({ ...session, cookie: 's', name: 'session', proxyRejectsNonAscii: false }),
      ],
      named: 'The scheme "session" reads the cookie "s", but',
    },
  ])(
    `${adapter}: serve ${isUws ? 'rejects' : 'accepts'} cookie() without proxyRejectsNonAscii: case %#`,
    async ({ authentication, named }) => {
      const gateway = await gatewayWith(authentication);
      const message = await listen(gateway).then(
        () => undefined,
        (error: unknown) => String(error),
      );
      const expected = `GatewayError: ${named} uWebSockets.js removes bytes outside ASCII at the start of a header, so a sibling subdomain could set this cookie by another name. Serve the gateway with trpc-gateway/node, or let a proxy reject such Cookie headers and set proxyRejectsNonAscii: true in cookie().`;
      expect(message).toBe(isUws ? expected : undefined);
    },
  );
});

// `Headers` joins repeated headers: with "; " for Cookie, with ", " for others.
it.each<[name: string, value: string, times: number, status: number]>([
  ['authorization', 'Bearer good', 1, 200],
  ['authorization', 'Bearer good', 2, 401],
  ['x-api-key', 'good', 2, 401],
  ['cookie', '__Host-s=good', 2, 401],
])('gateway.fetch with the header %s: %s, %i times, answers %i', async (name, value, times, status) => {
  const { fetch } = await gatewayWith(schemes);
  const headers = Array.from({ length: times }, (): [string, string] => [name, value]);
  expect((await fetch('http://api.example/v1/who', { headers })).status).toBe(status);
});
