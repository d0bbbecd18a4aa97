import { bearer, cookie, custom, type CorsOptions } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Server } from '../listen.ts';
import { callMessage, openSocket } from '../socketClient.ts';
import { openShape } from '../startShape.ts';

// CSRF, to routers that check credentials in a middleware or by a scheme (oRPC #1846, honojs/hono csrf).

interface Identity {
  readonly id: string;
}
interface Context {
  readonly credential: string | undefined;
  readonly identity: Identity | undefined;
}
const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

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
  read: checked.meta({ openapi: { method: 'GET', path: '/read' } }).query(() => 'ran'),
  public: open.meta({ openapi: { method: 'POST', path: '/public' }, protect: false }).mutation(() => 'ran'),
  anonymous: open.meta({ openapi: { method: 'POST', path: '/anonymous' } }).mutation(() => 'ran'),
  me: t.procedure.query(({ ctx }) => ctx.identity?.id),
});

const session = { cookie: 'session=ada' };
const basic = { authorization: 'Basic YWRhOnNlY3JldA==' };
const token = { authorization: 'Bearer eve' };
/** The headers in which proxies forward a client certificate: that of RFC 9440, and those of AWS, Azure, Envoy and nginx. */
const certificates = [
  'client-cert',
  'client-cert-chain',
  'ssl-client-cert',
  'x-amzn-mtls-clientcert',
  'x-amzn-mtls-clientcert-leaf',
  'x-arr-clientcert',
  'x-forwarded-client-cert',
] as const;
/** Credentials that browsers add to the requests of every page. */
const ambient: readonly Readonly<Record<string, string>>[] = [
  session,
  basic,
  ...['Digest username="ada"', 'Negotiate YII=', 'NTLM TlRM', 'ntlm'].map((authorization) => ({
    authorization,
  })),
  ...certificates.map((name) => ({ [name]: ':MIIB:' })),
];

const credentialOf = (header: (name: string) => string | undefined) =>
  ['cookie', 'authorization', ...certificates].map(header).find(Boolean);

const verify = (id: string) => (id === 'stale' ? undefined : { id });
const authentications = {
  'a middleware': undefined,
  'cookie()': [bearer({ verify }), cookie({ cookie: 'session', verify, proxyRejectsNonAscii: true })],
  'custom()': custom({
    name: 'any',
    document: { type: 'http', scheme: 'basic' },
    challenge: 'Basic',
    read: (source) => credentialOf((name) => source.header(name)),
    verify: () => ({ id: 'ada' }),
  }),
};
type Check = keyof typeof authentications;

/** Serves the router until the test ends. */
async function start(check: Check = 'a middleware', cors?: CorsOptions): Promise<Server> {
  const authentication = authentications[check];
  const { close, server } = await openShape<typeof router, Identity>(router, {
    ...(authentication && { authentication }),
    createContext: ({ identity, request }) => ({
      credential: credentialOf((name) => request.header(name)),
      identity,
    }),
    ...(cors && { cors }),
  });
  onTestFinished(close);
  return server;
}
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
  'another port of the server in an older browser': { origin: 'http://127.0.0.1:1' },
} as const;
/** Those of a page of the same site: `www.example.com` beside `api.example.com`. Older browsers do not tell them apart. */
const siblings = {
  'a sibling subdomain': { 'sec-fetch-site': 'same-site', origin: 'https://blog.127.0.0.1' },
  'a sibling subdomain without Origin': { 'sec-fetch-site': 'same-site' },
  'a sibling subdomain that hides its origin': { 'sec-fetch-site': 'same-site', origin: 'null' },
} as const;

/** The headers of pages, by the origin of the server. */
type Pages = (origin: string) => readonly Readonly<Record<string, string>>[];
const others: Pages = () => Object.values(foreign);
const relatives: Pages = () => Object.values(siblings);
const everyPage: Pages = () => [...Object.values(foreign), ...Object.values(siblings)];
/** A program, a page of the server, one in an older browser, and the address bar. */
const own: Pages = (origin) => [
  {},
  { 'sec-fetch-site': 'same-origin', origin },
  { origin },
  { 'sec-fetch-site': 'none' },
];

/** Sends a request with each of the headers and of the credentials. Returns what has another status. */
async function sendAll(
  server: Server,
  sent: Sent,
  status: number,
  pages: Pages,
  credentials: readonly object[],
): Promise<readonly unknown[]> {
  const different: unknown[] = [];
  for (const headers of pages(server.origin)) {
    for (const credential of credentials) {
      const all = { ...headers, ...credential };
      const received = await send(server, sent, all);
      if (received !== status) different.push([received, all]);
    }
  }
  return different;
}

describe.each(Object.entries(forged))('%s', (_what, sent) => {
  it.each<[page: string, check: Check, pages: Pages, credentials: readonly object[]]>([
    ['another site', 'a middleware', others, ambient],
    ['another site or a sibling subdomain', 'cookie()', everyPage, [session]],
    ['another site or a sibling subdomain', 'custom()', everyPage, [basic]],
  ])(
    'a request by a page of %s is 403 and runs nothing: %s checks its credential',
    async (_page, check, pages, credentials) => {
      expect(await sendAll(await start(check), sent, 403, pages, credentials)).toEqual([]);
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
  PUT: { path: '/v1/replace', method: 'PUT' },
} satisfies Record<string, Sent>;

describe.each(Object.entries(working))('%s', (_what, sent) => {
  it.each<[page: string, check: Check, pages: Pages, credentials: readonly object[]]>([
    ['a program or a page of the server', 'a middleware', own, ambient],
    ['a program or a page of the server', 'cookie()', own, [session]],
    ['a page of a sibling subdomain', 'a middleware', relatives, ambient],
    ['every page, with a bearer token,', 'a middleware', everyPage, [token]],
    ['every page, with a bearer token,', 'cookie()', everyPage, [token]],
  ])('a request by %s runs if %s checks its credential', async (_page, check, pages, credentials) => {
    expect(await sendAll(await start(check), sent, 200, pages, credentials)).toEqual([]);
    expect(runs).toHaveLength(pages('').length * credentials.length);
  });

  it.each(['a middleware', 'cookie()'] as const)(
    'a request with a cookie that %s checks by a page of cors.origins runs only with cors.credentials',
    async (check) => {
      const headers = { ...foreign['another site'], origin: 'https://shop.example', ...session };
      const cors = { origins: ['https://shop.example'] };
      expect(await send(await start(check, { ...cors, credentials: true }), sent, headers)).toBe(200);
      // Those that need a preflight do not arrive: the answer to it does not allow credentials.
      const isSimple = !('type' in sent && sent.type === 'application/json') && sent !== working['PUT'];
      const isRejected = isSimple || check === 'cookie()';
      expect(await send(await start(check, cors), sent, headers)).toBe(isRejected ? 403 : 200);
    },
  );
});

it('POST without a credential runs for every page, also if a proxy sends an empty client certificate', async () => {
  const server = await start();
  const none = [{}, ...certificates.map((name) => ({ [name]: '' })), { authorization: 'Basically nothing' }];
  for (const sent of Object.values(simple)) {
    const rest = { path: '/v1/anonymous', ...sent };
    expect(await sendAll(server, rest, 200, others, none)).toEqual([]);
  }
  const trpc = { path: '/trpc/anonymous', ...simple['multipart'] };
  expect(await sendAll(server, trpc, 200, others, none)).toEqual([]);
});

it.each(Object.entries(foreign))(
  'POST of a procedure with protect: false runs with a cookie for a page of %s',
  async (_page, headers) => {
    const server = await start();
    const cookies = { ...headers, ...session };
    expect(await send(server, { path: '/v1/public' }, cookies)).toBe(200);
    expect(await send(server, { path: '/trpc/public', ...simple['multipart'] }, cookies)).toBe(200);
    // All calls of a batch must be public.
    expect(await send(server, { path: '/trpc/public,none?batch=1', ...simple['multipart'] }, cookies)).toBe(
      403,
    );
  },
);

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
      for (const cors of [undefined, { origins }, { origins, credentials: true }]) {
        const server = await start('a middleware', cors);
        const expected = headers === shop && cors === undefined ? 403 : status;
        for (const credential of [{}, ...ambient]) {
          expect(await openSocket(server, '/trpc', { ...headers, ...credential }).status).toBe(expected);
        }
      }
    },
  );

  it.each([
    ['cookie()', session, true],
    ['custom()', basic, true],
    ['cookie()', token, false],
  ] as const)(
    'with %s and %o, pages of another origin open a WebSocket only with cors.credentials, if the browser adds it: %s',
    async (check, credential, isAmbient) => {
      const server = await start(check, { origins });
      const expected = [
        ...own(server.origin).map((headers) => [headers, 101] as const),
        // A browser always sends the origin of a page that opens a WebSocket.
        ...everyPage('').map((headers) => [headers, isAmbient || 'origin' in headers ? 403 : 101] as const),
        [shop, isAmbient ? 403 : 101] as const,
      ];
      const statuses: unknown[] = [];
      for (const [headers] of expected) {
        statuses.push([headers, await openSocket(server, '/trpc', { ...headers, ...credential }).status]);
      }
      expect(statuses).toEqual(expected);
      const allowing = await start(check, { origins, credentials: true });
      expect(await openSocket(allowing, '/trpc', { ...shop, ...credential }).status).toBe(101);
    },
  );

  it('connection parameters with a bearer token take precedence over a cookie, which is used without them', async () => {
    const server = await start('cookie()');
    const me = async (headers: Record<string, string>, data: Record<string, string>) => {
      const client = openSocket(server, '/trpc?connectionParams=1', headers);
      client.send({ method: 'connectionParams', data });
      return JSON.stringify(await client.call(callMessage(1, 'query', 'me')));
    };
    expect(await me(session, token)).toContain('"eve"');
    expect(await me(session, {})).toContain('"ada"');
    expect(await me({ cookie: 'session=stale' }, token)).toContain('"eve"');
    expect(await me({}, session)).toContain('UNAUTHORIZED');
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
  expect(guarded.toSorted()).toEqual(['/anonymous', '/form', '/lines', '/none', '/optional']);
});
