import { initTRPC } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { adapters, dial, until } from '../adapters/serve/testing/dial.ts';
import type { Gateway } from '../gateway.ts';
import type { GatewayMeta } from '../procedures/meta.ts';
import type { Scheme } from '../calls/scheme.ts';
import { apiKey } from './schemes/apiKey.ts';
import { bearer } from './schemes/bearer.ts';
import { cookie } from './schemes/cookie.ts';
import { testGateway } from '../testing/testGateway.ts';

const t = initTRPC.context<{ who: string | undefined }>().meta<GatewayMeta>().create();
const router = t.router({
  who: t.procedure
    .meta({ openapi: { method: 'GET', path: '/who' } })
    .output(z.string())
    .query(({ ctx }) => ctx.who ?? 'anonymous'),
  open: t.procedure
    .meta({ openapi: { method: 'GET', path: '/open', protect: false } })
    .output(z.string())
    .query(({ ctx }) => ctx.who ?? 'anonymous'),
});

const gatewayWith = (authentication: readonly Scheme<string>[]): Promise<Gateway> =>
  testGateway(router, {
    authentication,
    createContext: ({ identity }) => ({ who: identity }),
    onResponse() {},
  });

const verify = (credential: string) => (credential.startsWith('good') ? credential : undefined);
const session = { cookie: '__Host-s', verify };
const schemes: readonly Scheme<string>[] = [
  bearer({ verify }),
  apiKey({ verify, header: 'X-Pets-Key' }),
  cookie({ ...session, proxyRejectsNonAscii: true }),
];

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
    [['X-Pets-Key: good'], 200],
    [['X-Pets-Key: good', 'X-Pets-Key: good'], 401],
    [['Cookie: __Host-s=good'], 200],
    [['Cookie: __Host-s=good', 'Cookie: __Host-s=good2'], 401],
    [['Cookie: __Host-s=good', 'Cookie: a=b'], 401],
    [['Cookie: a=b', 'Cookie: __Host-s=good'], 401],
    // Other headers, and the header of a scheme that does not decide, may be repeated.
    [['X-Pets-Key: good', 'Accept: */*', 'Accept: */*'], 200],
    [['Authorization: Bearer good', 'Cookie: a=b', 'Cookie: a=b'], 200],
  ])(`${adapter}: GET with the headers %j is answered with %i`, async (headers, status) => {
    const gateway = await gatewayWith(schemes);
    expect(statusOf(await send(gateway, headers))).toBe(status);
    expect(statusOf(await send(gateway, headers, '/trpc/who'))).toBe(status);
  });

  it(`${adapter}: a public procedure is called as anonymous if the credential header occurs twice`, async () => {
    const headers = ['X-Pets-Key: good', 'X-Pets-Key: good'];
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
        bearer({ verify }),
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
  ['x-pets-key', 'good', 2, 401],
  ['cookie', '__Host-s=good', 2, 401],
])('gateway.fetch with the header %s: %s, %i times, answers %i', async (name, value, times, status) => {
  const { fetch } = await gatewayWith(schemes);
  const headers = Array.from({ length: times }, (): [string, string] => [name, value]);
  expect((await fetch('http://api.example/v1/who', { headers })).status).toBe(status);
});
