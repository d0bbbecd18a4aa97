import { createGateway, cookie, custom, type CorsOptions } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';
import { upgradeStatus } from '../socketClient.ts';

// Requests that pages of other sites send with the credentials of their visitors (CSRF), to routers that check these
// credentials in a middleware, and to those with an authentication scheme.

interface Context {
  readonly credential: string | undefined;
}
const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

/** The procedures that have run. */
const runs: string[] = [];

const checked = t.procedure.use(({ ctx, next, path }) => {
  if (ctx.credential === undefined) throw new TRPCError({ code: 'UNAUTHORIZED' });
  runs.push(path);
  return next();
});
const open = t.procedure.use(({ next, path }) => {
  runs.push(path);
  return next();
});
const router = t.router({
  none: checked.meta({ openapi: { method: 'POST', path: '/none' } }).mutation(() => 'ran'),
  optional: checked
    .meta({ openapi: { method: 'POST', path: '/optional' } })
    .input(z.object({ name: z.string().optional() }).optional())
    .mutation(() => 'ran'),
  form: checked
    .meta({
      openapi: {
        method: 'POST',
        path: '/form',
        contentTypes: ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'],
      },
    })
    .input(z.object({ name: z.string() }))
    .mutation(() => 'ran'),
  lines: checked
    .meta({ openapi: { method: 'POST', path: '/lines', contentTypes: ['text/plain'] } })
    .input(z.instanceof(Uint8Array))
    .mutation(() => 'ran'),
  replace: checked.meta({ openapi: { method: 'PUT', path: '/replace' } }).mutation(() => 'ran'),
  touch: checked.meta({ openapi: { method: 'GET', path: '/touch', unsafe: true } }).mutation(() => 'ran'),
  read: checked.meta({ openapi: { method: 'GET', path: '/read' } }).query(() => 'ran'),
  public: open.meta({ openapi: { method: 'POST', path: '/public' }, protect: false }).mutation(() => 'ran'),
  anonymous: open.meta({ openapi: { method: 'POST', path: '/anonymous' } }).mutation(() => 'ran'),
});

const basic = 'Basic YWRhOnNlY3JldA==';
/** Credentials that browsers add to the requests of every page. */
const ambient = {
  'a cookie': { cookie: 'session=ada' },
  'a stored password': { authorization: basic },
  'a client certificate of RFC 9440': { 'client-cert': ':MIIB:' },
  'a client certificate of a proxy': { 'x-forwarded-client-cert': 'Hash=ab' },
} as const;
type Ambient = keyof typeof ambient;
const names = Object.keys(ambient) as Ambient[];

const credentialOf = (header: (name: string) => string | undefined) =>
  header('cookie') ?? header('authorization') ?? header('client-cert') ?? header('x-forwarded-client-cert');

const authentications = {
  'a middleware': undefined,
  'cookie()': cookie({ cookie: 'session', verify: () => ({ id: 'ada' }), proxyRejectsNonAscii: true }),
  'custom()': custom({
    name: 'any',
    document: { type: 'http', scheme: 'basic' },
    challenge: 'Basic',
    read: (source) => credentialOf((name) => source.header(name)),
    verify: () => ({ id: 'ada' }),
  }),
};
type Check = keyof typeof authentications;

const servers = new Map<string, Promise<Server>>();

/** Serves the router; once for each way to check credentials. */
function start(check: Check = 'a middleware', cors?: CorsOptions): Promise<Server> {
  const key = JSON.stringify([check, cors]);
  const authentication = authentications[check];
  const server =
    servers.get(key) ??
    createGateway({
      router,
      ...(authentication && { authentication }),
      createContext: ({ request }) => ({ credential: credentialOf((name) => request.header(name)) }),
      document: { title: 'Forged', version: '1.0.0' },
      ...(cors && { cors }),
    }).then((gateway) => serve(gateway));
  servers.set(key, server);
  return server;
}
afterAll(async () => {
  for (const server of servers.values()) await (await server).close({ timeoutMs: 0, graceMs: 0 });
});
beforeEach(() => void runs.splice(0));

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly type?: string;
  readonly body?: () => NonNullable<RequestInit['body']>;
}

const form = () => {
  const data = new FormData();
  data.set('name', 'x');
  return data;
};
const bytes = () => new TextEncoder().encode('{"name":"x"}');

/** The bodies that a page sends without a preflight. One without a type has none, or is bytes. */
const simple: Readonly<Record<string, Omit<Sent, 'path'>>> = {
  'no body': {},
  'bytes without a type': { body: bytes },
  'text/plain': { type: 'text/plain', body: () => '{"name":"x"}' },
  'text/plain with a charset': { type: 'Text/Plain; charset=utf-8', body: () => '{"name":"x"}' },
  urlencoded: { type: 'application/x-www-form-urlencoded', body: () => 'name=x' },
  'urlencoded with a parameter': { type: 'application/x-www-form-urlencoded;a=b', body: () => 'name=x' },
  multipart: { body: form },
};

/** Requests that a page of another site can send, and that change something. */
const forged: Readonly<Record<string, Sent>> = {
  ...Object.fromEntries(
    Object.entries(simple).map(([kind, sent]) => [
      `POST without input, with ${kind}`,
      { path: '/v1/none', ...sent },
    ]),
  ),
  'POST with optional input, without a body': { path: '/v1/optional' },
  'POST of a form as urlencoded': { path: '/v1/form', ...simple['urlencoded'] },
  'POST of a form as multipart': { path: '/v1/form', ...simple['multipart'] },
  'POST of text': { path: '/v1/lines', ...simple['text/plain'] },
  'GET with unsafe': { path: '/v1/touch', method: 'GET' },
  'tRPC with multipart': { path: '/trpc/none', ...simple['multipart'] },
  'a tRPC batch with multipart': { path: '/trpc/none?batch=1', ...simple['multipart'] },
  'tRPC with urlencoded': { path: '/trpc/none', ...simple['urlencoded'] },
  'tRPC with text/plain': { path: '/trpc/none', ...simple['text/plain'] },
  'tRPC without a body': { path: '/trpc/none' },
  'tRPC of several calls with text/plain': { path: '/trpc/none,optional?batch=1', ...simple['text/plain'] },
};

async function send(
  { fetch, origin }: Server,
  { path, method = 'POST', type, body }: Sent,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
    ...(body && { body: body() }),
  });
  await response.text();
  return response.status;
}

/** The headers by which a browser tells a page of another site. */
const foreign = {
  'another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  'another site without Origin': { 'sec-fetch-site': 'cross-site' },
  'another site in an older browser': { origin: 'https://evil.example' },
  'a sandboxed frame': { 'sec-fetch-site': 'cross-site', origin: 'null' },
  'a sandboxed frame in an older browser': { origin: 'null' },
} as const;
const foreigners = Object.entries(foreign);
/** Those of a page of the same site: `www.example.com` beside `api.example.com`. Older browsers do not tell them apart. */
const siblings = {
  'a sibling subdomain': { 'sec-fetch-site': 'same-site', origin: 'https://blog.127.0.0.1' },
  'a sibling subdomain without Origin': { 'sec-fetch-site': 'same-site' },
  'a sibling subdomain that hides its origin': { 'sec-fetch-site': 'same-site', origin: 'null' },
} as const;
const relatives = Object.entries(siblings);

describe.each(Object.entries(forged))('%s', (_what, sent) => {
  it.each(names)(
    'a request by a page of another site is 403 and runs nothing: a middleware checks %s',
    async (name) => {
      const server = await start();
      for (const [page, headers] of foreigners) {
        expect([page, await send(server, sent, { ...headers, ...ambient[name] })]).toEqual([page, 403]);
      }
      expect(runs).toEqual([]);
    },
  );

  it.each([
    ['cookie()', 'a cookie'],
    ['custom()', 'a stored password'],
  ] as const)(
    'a request by a page of another site or a sibling subdomain is 403 and runs nothing: %s checks %s',
    async (check, name) => {
      const server = await start(check);
      for (const [page, headers] of [...foreigners, ...relatives]) {
        expect([page, await send(server, sent, { ...headers, ...ambient[name] })]).toEqual([page, 403]);
      }
      expect(runs).toEqual([]);
    },
  );
});

/** Requests that work, wherever they come from. */
const working = {
  'POST without input': { path: '/v1/none' },
  'POST of a form': { path: '/v1/form', ...simple['urlencoded'] },
  'tRPC with multipart': { path: '/trpc/none', ...simple['multipart'] },
  'tRPC with JSON': { path: '/trpc/none', type: 'application/json', body: () => '{}' },
  'GET with unsafe': { path: '/v1/touch', method: 'GET' },
  PUT: { path: '/v1/replace', method: 'PUT' },
} satisfies Record<string, Sent>;

describe.each(Object.entries(working))('%s', (_what, sent) => {
  it.each<[string, (origin: string) => Record<string, string>]>([
    ['a program', () => ({})],
    ['a page of the server', (origin) => ({ 'sec-fetch-site': 'same-origin', origin })],
    ['a page of the server in an older browser', (origin) => ({ origin })],
    ['the address bar', () => ({ 'sec-fetch-site': 'none' })],
  ])('a request with a credential by %s runs, as with a scheme', async (_page, headers) => {
    for (const name of names) {
      const server = await start();
      expect([name, await send(server, sent, { ...headers(server.origin), ...ambient[name] })]).toEqual([
        name,
        200,
      ]);
    }
    const server = await start('cookie()');
    expect(await send(server, sent, { ...headers(server.origin), ...ambient['a cookie'] })).toBe(200);
    expect(runs).toHaveLength(names.length + 1);
  });

  it.each(relatives)(
    'a request with a credential that a middleware checks runs for a page of %s',
    async (_page, headers) => {
      const server = await start();
      for (const name of names) {
        expect([name, await send(server, sent, { ...headers, ...ambient[name] })]).toEqual([name, 200]);
      }
      expect(runs).toHaveLength(names.length);
    },
  );

  it('a request with a bearer token or an API key runs, from every page', async () => {
    const server = await start();
    const pages = [...foreigners, ...relatives];
    for (const [, headers] of pages) {
      expect(await send(server, sent, { ...headers, authorization: 'Bearer x' })).toBe(200);
    }
    expect(runs).toHaveLength(pages.length);
  });

  it('a request with a cookie by a page of cors.origins runs only with cors.credentials', async () => {
    const headers = { ...foreign['another site'], origin: 'https://shop.example', ...ambient['a cookie'] };
    const cors = { origins: ['https://shop.example'] };
    expect(await send(await start('a middleware', { ...cors, credentials: true }), sent, headers)).toBe(200);
    // Those that need a preflight do not arrive: the answer to it does not allow credentials.
    const isSimple = !('type' in sent && sent.type === 'application/json') && sent !== working['PUT'];
    expect(await send(await start('a middleware', cors), sent, headers)).toBe(isSimple ? 403 : 200);
  });
});

it.each(foreigners)('POST without a credential runs for a page of %s', async (_page, headers) => {
  const server = await start();
  for (const sent of Object.values(simple)) {
    expect(await send(server, { path: '/v1/anonymous', ...sent }, headers)).toBe(200);
  }
  expect(await send(server, { path: '/trpc/anonymous', ...simple['multipart'] }, headers)).toBe(200);
});

it.each(foreigners)(
  'POST of a procedure with protect: false runs with a cookie for a page of %s',
  async (_page, headers) => {
    const server = await start();
    const cookies = { ...headers, ...ambient['a cookie'] };
    expect(await send(server, { path: '/v1/public' }, cookies)).toBe(200);
    expect(await send(server, { path: '/trpc/public', ...simple['multipart'] }, cookies)).toBe(200);
    // All calls of a batch must be public.
    expect(await send(server, { path: '/trpc/public,none?batch=1', ...simple['multipart'] }, cookies)).toBe(
      403,
    );
  },
);

it('POST of JSON runs for a page whose preflight a proxy or the framework has answered', async () => {
  const server = await start();
  const headers = { ...foreign['another site'], ...ambient['a cookie'] };
  const json = { type: 'application/json', body: () => '{}' };
  expect(await send(server, { path: '/trpc/none', ...json }, headers)).toBe(200);
  expect(await send(server, { path: '/v1/optional', ...json }, headers)).toBe(200);
});

describe('a WebSocket', () => {
  const shop = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' };
  const origins = [shop.origin];
  const pages: readonly [string, Record<string, string>, number][] = [
    ['a page of cors.origins', shop, 101],
    ['a program', {}, 101],
    ['a page of an origin that is not in cors.origins', foreign['another site'], 403],
    ['such a page in an older browser', foreign['another site in an older browser'], 403],
    ['a sandboxed frame', foreign['a sandboxed frame'], 403],
    ['a sibling subdomain that is not in cors.origins', siblings['a sibling subdomain'], 403],
  ];
  it.each(pages)(
    'cors.origins alone decides on a WebSocket of %s if a middleware checks credentials',
    async (_page, headers, status) => {
      needs('WebSockets');
      for (const cors of [{ origins }, { origins, credentials: true }]) {
        const server = await start('a middleware', cors);
        for (const credential of [{}, ...Object.values(ambient)]) {
          expect(await upgradeStatus(server, { ...headers, ...credential })).toBe(status);
        }
      }
    },
  );

  it('without cors, no page of another origin opens a WebSocket', async () => {
    needs('WebSockets');
    const server = await start();
    expect(await upgradeStatus(server, { ...shop, ...ambient['a cookie'] })).toBe(403);
    expect(await upgradeStatus(server, { ...siblings['a sibling subdomain'], ...ambient['a cookie'] })).toBe(
      403,
    );
    expect(await upgradeStatus(server, { origin: server.origin, ...ambient['a cookie'] })).toBe(101);
  });
});

it('the document has the 403 of POST that a page can forge, and not of others', async () => {
  const { fetch, origin } = await start();
  const { paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as {
    readonly paths: Record<string, Record<string, { readonly responses: object }>>;
  };
  const guarded = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).some(({ responses }) => '403' in responses) ? [path] : [],
  );
  expect(guarded.toSorted()).toEqual(['/anonymous', '/form', '/lines', '/none', '/optional', '/touch']);
});
