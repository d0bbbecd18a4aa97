import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { loadExpress } from '@petstore/testing/express';
import { bearer, createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { nodeHandler } from 'trpc-gateway/node';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpSubscriptionLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { EventSource } from 'eventsource';
import type { Express, RequestHandler } from 'express';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { rawSocket } from '../wire/rawSocket.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const Text = z.object({ name: z.string() });

let subscriptions = 0;

const router = t.router({
  getText: t.procedure
    .meta({ openapi: { method: 'GET', path: '/texts/{name}' } })
    .input(Text)
    .output(Text)
    .query(({ input }) => input),
  addText: t.procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/texts',
        contentTypes: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
      },
    })
    .input(Text)
    .output(Text)
    .mutation(({ input }) => input),
  changeText: t.procedure
    .meta({
      openapi: { method: 'PATCH', path: '/texts/{name}', contentTypes: ['application/merge-patch+json'] },
    })
    .input(z.object({ name: z.string(), note: z.string().nullable() }))
    .output(z.unknown())
    .mutation(({ input }) => input),
  echo: t.procedure.input(z.unknown()).mutation(({ input }) => ({ input })),
  count: t.procedure.subscription(async function* ({ signal }) {
    subscriptions += 1;
    try {
      for (let value = 1; ; value += 1) {
        if (signal?.aborted) return;
        yield value;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      subscriptions -= 1;
    }
  }),
});

const express = await loadExpress();

const createTexts = (base: '' | '/api' = '') =>
  createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Texts', version: '1.0.0', path: `${base}/openapi.json` },
    restBasePath: `${base}/v1`,
    trpcBasePath: `${base}/trpc`,
  });

/** Serves until the test ends. @returns the origin */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = { 'content-type': 'application/json' };
const postJson = (url: string, body: RequestInit['body'], headers: Record<string, string> = json) =>
  fetch(url, { method: 'POST', headers, body: body ?? null }).then(async (response) => [
    response.status,
    await response.json(),
  ]);

/** How a gateway can be mounted below `/api`. */
const mounts: Readonly<Record<string, () => Promise<RequestListener>>> = {
  'Express after its body parsers': async () =>
    express()
      .use(express.json({ strict: false, limit: '1mb' }), express.text())
      .use('/api', nodeHandler(await createTexts())),
  async 'Fastify after its body parsers'() {
    const app = fastify();
    const handler = nodeHandler(await createTexts('/api'));
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, body),
    );
    app.all('/api/*', (request, reply) => {
      reply.hijack();
      handler(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await app.ready();
    return (req, res) => app.routing(req, res);
  },
};

describe.each(Object.entries(mounts))('a gateway mounted in %s', (server, mount) => {
  const start = async () => `${await listen(await mount())}/api`;

  it(`a gateway mounted in ${server} serves REST: GET with a query, HEAD, POST of JSON and of a form, 404 and 405`, async () => {
    const base = await start();
    const get = await fetch(`${base}/v1/texts/a%20b?x=1`);
    expect([get.status, await get.json()]).toEqual([200, { name: 'a b' }]);
    const head = await fetch(`${base}/v1/texts/a`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '12']);
    expect(await postJson(`${base}/v1/texts`, '{"name":"ä"}')).toEqual([200, { name: 'ä' }]);
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await postJson(`${base}/v1/texts`, 'name=a+b', type)).toEqual([200, { name: 'a b' }]);
    expect((await fetch(`${base}/v1/none`)).status).toBe(404);
    expect((await fetch(`${base}/v1/texts/a`, { method: 'DELETE' })).status).toBe(405);
    expect(await postJson(`${base}/v1/texts`, '{}')).toMatchObject([400, { code: 'BAD_REQUEST' }]);
  });

  it.each(['false', '0', 'null', '"text"', '{"a":[1]}'])(
    `a gateway mounted in ${server} reads the JSON body %s`,
    async (body) => {
      const base = await start();
      expect(await postJson(`${base}/trpc/echo`, body)).toEqual([
        200,
        { result: { data: { input: JSON.parse(body) as unknown } } },
      ]);
    },
  );

  it(`a gateway mounted in ${server} serves tRPC’s client: batches, JSON Lines and a subscription`, async () => {
    const base = await start();
    const url = `${base}/trpc`;
    for (const link of [httpBatchLink({ url }), httpBatchStreamLink({ url })]) {
      const client = createTRPCClient<typeof router>({ links: [link] });
      const names = ['a', 'b', 'c'];
      const results = await Promise.all(names.map((name) => client.getText.query({ name })));
      expect(results).toEqual(names.map((name) => ({ name })));
      expect(await client.echo.mutate([1])).toEqual({ input: [1] });
    }
    const events = createTRPCClient<typeof router>({ links: [httpSubscriptionLink({ url, EventSource })] });
    const values: number[] = [];
    const subscription = events.count.subscribe(undefined, { onData: (value) => values.push(value) });
    await vi.waitFor(() => expect(values.length).toBeGreaterThan(2));
    subscription.unsubscribe();
    expect(values.slice(0, 3)).toEqual([1, 2, 3]);
  });
});

/** Serves Express with body parsers before the gateway, and collects the errors that Express receives. */
const listenAfterParsers = async (addParsers: (app: Express) => void, errors: unknown[] = []) => {
  const app = express();
  addParsers(app);
  app.use('/api', nodeHandler(await createTexts()));
  app.use((error: unknown, _req: unknown, res: ServerResponse, _next: unknown) => {
    errors.push(error);
    res.writeHead(500).end();
  });
  return `${await listen(app)}/api`;
};

// docs/mounting.md#mount-below-a-path
it('agents find the protected resource of a gateway that is mounted below a path', async () => {
  const resource = 'https://texts.example/api/mcp';
  const protectedResource = { resource, authorizationServers: ['https://login.example'] };
  const gateway = await createGateway({
    router,
    authentication: bearer({ verify: () => undefined, protectedResource }),
    createContext: () => ({}),
    document: { title: 'Texts', version: '1.0.0' },
    mcp: mcp({ tools: ({ path }) => path === 'getText' && { description: 'Returns a text.' } }),
    publicUrl: '/api',
  });
  const app = express();
  const place = '/.well-known/oauth-protected-resource/api/mcp';
  app.use('/api', nodeHandler(gateway));
  app.get(place, nodeHandler(gateway));
  const origin = await listen(app);
  const { headers, status } = await fetch(`${origin}/api/mcp`, { method: 'POST' });
  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining(`"https://texts.example${place}"`),
  ]);
  expect(await (await fetch(`${origin}${place}`)).json()).toMatchObject({ resource });
});

const merge = { method: 'PATCH', path: '/small', type: 'application/merge-patch+json' };
const merged = { name: 'small', note: null };
it.each<[what: string, parser: RequestHandler, coding?: 'gzip' | undefined, request?: typeof merge]>([
  ['JSON as text', express.text({ type: 'application/json' })],
  ['JSON as bytes', express.raw({ type: 'application/json' })],
  ['a merge patch as a value', express.json({ type: '*/*+json' }), undefined, merge],
  ['a merge patch as text', express.text({ type: '*/*+json' }), undefined, merge],
  ['decompressed JSON as a value', express.json(), 'gzip'],
  ['decompressed JSON as text', express.text({ type: 'application/json' }), 'gzip'],
  ['decompressed JSON as bytes', express.raw({ type: 'application/json' }), 'gzip'],
])('nodeHandler reads a body that a parser has left as %s', async (_what, parser, coding, request) => {
  const base = await listenAfterParsers((app) => app.use(parser));
  const { method, path, type } = request ?? { method: 'POST', path: '', type: 'application/json' };
  const body = request ? '{"note":null}' : '{"name":"ü"}';
  const response = await fetch(`${base}/v1/texts${path}`, {
    method,
    headers: { 'content-type': type, ...(coding && { 'content-encoding': coding }) },
    body: coding ? gzipSync(body) : body,
  });
  expect([response.status, await response.json()]).toEqual([200, request ? merged : { name: 'ü' }]);
});

describe('without req.body', () => {
  const message =
    "A body parser already read the body of POST /v1/texts (multipart/form-data) and left no req.body that the gateway can use. Mount the gateway before the parser, or exclude the gateway's paths from the parser.";
  const post = (url: string) => {
    const form = new FormData();
    form.set('name', 'x');
    return fetch(url, { method: 'POST', body: form });
  };
  const consume = (req: IncomingMessage, next: () => void) => void req.resume().on('end', next);

  it('nodeHandler passes an error that names the fix to Express if a parser has consumed the body', async () => {
    const errors: unknown[] = [];
    const base = await listenAfterParsers((app) => app.use((req, _res, next) => consume(req, next)), errors);
    expect((await post(`${base}/v1/texts`)).status).toBe(500);
    expect(errors).toEqual([new Error(message)]);
  });

  it('nodeHandler answers with 500 and emits a warning if a parser has consumed the body and no handler follows', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => emitWarning.mockRestore());
    const handler = nodeHandler(await createTexts());
    const origin = await listen((req, res) => consume(req, () => handler(req, res)));
    const response = await post(`${origin}/v1/texts`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('parser');
    expect(emitWarning).toHaveBeenCalledWith(new Error(message));
  });

  it('nodeHandler serves requests without a body after a parser that consumes bodies', async () => {
    const base = await listenAfterParsers((app) => app.use((req, _res, next) => consume(req, next)));
    expect((await fetch(`${base}/v1/texts/a`)).status).toBe(200);
    expect((await post(`${base}/other`)).status).toBe(404);
  });
});

it('nodeHandler answers pipelined requests that middleware passes on in another order: POST, then GET with Connection: close', async () => {
  const app = express();
  // Asynchronous for a request with a body, so the GET reaches the gateway first.
  app.use(express.json());
  app.use('/api', nodeHandler(await createTexts()));
  const post = `POST /api/v1/texts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"name":"first"}`;
  const bytes = `${post}GET /api/v1/texts/second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const { port } = new URL(await listen(app));
  expect(await text(rawSocket(Number(port), bytes))).toMatch(
    / 200 .*\{"name":"first"\}HTTP.* 200 .*\{"name":"second"\}$/s,
  );
});

it.each(['/v1/texts/a', '/apis/v1/texts/a', '/api/other', '/'])(
  'nodeHandler answers %s, a path outside of its gateway, with 404 if no handler follows',
  async (path) => {
    const origin = await listen(nodeHandler(await createTexts('/api')));
    const response = await fetch(`${origin}${path}`);
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  },
);

it('a mounted gateway ends a subscription whose client disconnects', async () => {
  const origin = await listen(nodeHandler(await createTexts()));
  const client = new AbortController();
  await fetch(`${origin}/trpc/count`, { headers: { accept: 'text/event-stream' }, signal: client.signal });
  await vi.waitFor(() => expect(subscriptions).toBe(1));
  client.abort();
  await vi.waitFor(() => expect(subscriptions).toBe(0));
});

it('nodeHandler does not change a response that another handler has sent', async () => {
  const handler = nodeHandler(await createTexts());
  const origin = await listen((req, res) => {
    res.end('mine');
    handler(req, res);
  });
  expect(await (await fetch(`${origin}/v1/texts/a`)).text()).toBe('mine');
});
