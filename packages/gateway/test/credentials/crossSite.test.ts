import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../servers.ts';
import { upgradeStatus } from '../socketClient.ts';
import { type Issuer, openIssuer } from './issuer.ts';
import { openCredentials, schemeCases } from './startCredentials.ts';

// Requests that pages of other sites send with the credentials of their visitors: oRPC #1846, honojs/hono (csrf, built in).

const cases = schemeCases.filter(({ name }) => ['bearer', 'cookie', 'certificate'].includes(name));
const origins = ['https://shop.example'];

type Service = Awaited<ReturnType<typeof openCredentials>>;
let issuer: Issuer;
/** By `cors.credentials`. */
let services: Readonly<Record<'with' | 'without', Service>>;

beforeAll(async () => {
  issuer = await openIssuer();
  const open = (credentials: boolean) => openCredentials(cases, issuer, { cors: { origins, credentials } });
  services = { with: await open(true), without: await open(false) };
});
afterAll(async () => {
  await Promise.all([services.with.close(), services.without.close(), issuer.close()]);
});

async function headersOf(service: Service, scheme: string): Promise<Record<string, string>> {
  const scopes = ['notes:read'];
  const schemeCase = cases.find(({ name }) => name === scheme);
  return (
    (await schemeCase?.headers(service.callers.add({ scopes }), { issuer, scopes, isExpired: false })) ?? {}
  );
}

/** Sources of requests with the headers that a browser sends, and whether they may use credentials that the browser adds. */
const sources: readonly [
  source: string,
  headers: (origin: string) => Record<string, string>,
  isOwn: boolean,
][] = [
  ['from a page of the server', (origin) => ({ 'sec-fetch-site': 'same-origin', origin }), true],
  ['from a page of the server in an older browser', (origin) => ({ origin }), true],
  ['from the address bar', () => ({ 'sec-fetch-site': 'none' }), true],
  ['from a program', () => ({}), true],
  [
    'from a sibling subdomain',
    () => ({ 'sec-fetch-site': 'same-site', origin: 'https://blog.127.0.0.1' }),
    false,
  ],
  ['from a sibling subdomain that hides its origin', () => ({ 'sec-fetch-site': 'same-site' }), false],
  ['from another site', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }), false],
  ['from another site in an older browser', () => ({ origin: 'https://evil.example' }), false],
  ['from a sandboxed frame', () => ({ 'sec-fetch-site': 'cross-site', origin: 'null' }), false],
  ['from a sandboxed frame in an older browser', () => ({ origin: 'null' }), false],
  ['from another port of the server', () => ({ origin: 'http://127.0.0.1:1' }), false],
];

describe.each(['cookie', 'certificate', 'bearer'])('cross-site requests with %s', (scheme) => {
  const isAmbient = scheme !== 'bearer';

  // A page of another origin cannot open a WebSocket with any credential, and a browser always sends the origin.
  const upgrades = sources.map(([source, browserHeaders, isOwn]) => {
    const isOpened = isOwn || (!isAmbient && browserHeaders('')['origin'] === undefined);
    return [source, isOpened ? 101 : 403, browserHeaders] as const;
  });
  it.each(upgrades)(
    `a WebSocket upgrade %s with ${scheme} is answered with %i`,
    async (_source, status, browserHeaders) => {
      needs('WebSockets');
      const service = services.without;
      const headers = browserHeaders(service.server.origin);
      expect(await upgradeStatus(service.server, { ...headers, ...(await headersOf(service, scheme)) })).toBe(
        status,
      );
    },
  );
});

describe('pages of cors.origins', () => {
  const page = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' };

  it.each([
    ['cookie', 'with', 200, 101],
    ['cookie', 'without', 403, 403],
    ['certificate', 'with', 200, 101],
    ['certificate', 'without', 403, 403],
    ['bearer', 'with', 200, 101],
    ['bearer', 'without', 200, 101],
  ] as const)(
    'POST by a page of cors.origins, with %s and %s cors.credentials, is answered with %i, and its upgrade with %i',
    async (scheme, which, status, opened) => {
      const service = services[which];
      const { fetch, origin } = service.server;
      const headers = { ...page, ...(await headersOf(service, scheme)) };
      expect((await fetch(`${origin}/v1/notes`, { method: 'POST', headers })).status).toBe(status);
      needs('WebSockets');
      expect(await upgradeStatus(service.server, headers)).toBe(opened);
    },
  );
});

describe('connection parameters with a credential', () => {
  const names = async (cookies: Record<string, string>, data: Record<string, string>) => {
    needs('WebSockets');
    const url = `${services.without.server.origin.replace('http', 'ws')}/trpc?connectionParams=1`;
    const socket = new WebSocket(url, { headers: cookies });
    socket.on('open', () => {
      socket.send(JSON.stringify({ method: 'connectionParams', data }));
      socket.send(JSON.stringify({ id: 1, jsonrpc: '2.0', method: 'query', params: { path: 'me' } }));
    });
    const received = await new Promise<string>((resolve) => {
      socket.on('message', (message: Buffer) => resolve(message.toString()));
    });
    socket.terminate();
    return received;
  };

  it('connection parameters with a bearer token take precedence over a cookie, which is used without them', async () => {
    const cookies = await headersOf(services.without, 'cookie');
    const token = await headersOf(services.without, 'bearer');
    const nameOf = (headers: Record<string, string>) =>
      /caller-[\w-]+/.exec(JSON.stringify(headers))?.[0] ?? '';
    expect(await names(cookies, token)).toContain(nameOf(token));
    expect(await names(cookies, {})).toContain(nameOf(cookies));
    expect(await names({ cookie: '__Host-session=stale' }, token)).toContain(nameOf(token));
    expect(await names({}, cookies)).toContain('UNAUTHORIZED');
  });
});
