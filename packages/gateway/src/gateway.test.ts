import { initTRPC, lazy, TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { createGateway, type Gateway } from './gateway.ts';
import { GatewayError } from './http/gatewayError.ts';
import { headersOf, type ResponseControls } from './http/response.ts';
import type { GatewayMeta, RestMeta } from './procedures/meta.ts';
import type { RequestRecord } from './calls/requestRecord.ts';
import type { RequestTelemetry, Telemetry } from './calls/telemetry.ts';
import type { GatewayOptions } from './options.ts';
import { inProcessRequest } from './testing/inProcessRequest.ts';
import { bearer } from './auth/schemes/bearer.ts';

const t = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create({ isDev: false });

function echo(rest: RestMeta, input: z.ZodType = z.object({}), output: z.ZodType = z.unknown()) {
  const base = t.procedure.meta({ openapi: rest }).input(input).output(output);
  return rest.method === 'GET'
    ? base.query(({ input: value }) => value)
    : base.mutation(({ input: value }) => value);
}

/** A thenable that is not a promise, such as a query builder. */
const thenable = {
  // oxlint-disable-next-line unicorn/no-thenable -- the subject of the test
  then: (resolve: (value: undefined) => undefined) => Promise.resolve(undefined).then(resolve),
};

type Options = GatewayOptions<ReturnType<typeof t.router>, unknown>;
const gatewayOf = (procedures: Parameters<typeof t.router>[0], options: Partial<Options> = {}) =>
  createGateway({
    router: t.router(procedures),
    createContext: ({ response }) => ({ response }),
    document: { title: 'Test', version: '0.0.0' },
    // Keeps the expected errors of these tests off stderr.
    onResponse: () => {},
    ...options,
  });

const send = (
  { fetch }: Gateway,
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body?: string,
) => fetch(`http://localhost${target}`, { method, headers, body });

describe('createGateway at start', () => {
  const get = (path: `/${string}`): RestMeta => ({ method: 'GET', path });

  it.each<
    [what: string, procedures: Parameters<typeof t.router>[0], options: Partial<Options>, sentence: RegExp]
  >([
    [
      'REST and tRPC at the same base path',
      {},
      { restBasePath: '/api', trpcBasePath: '/api/' },
      /both served below "\/api"/,
    ],
    [
      'a route at the path of the document',
      {},
      { routes: { '/openapi.json': () => ({ status: 200, headers: [] }) } },
      /GET "\/openapi\.json" is served twice/,
    ],
    [
      'an operation at the path of the document',
      { a: echo(get('/openapi.json')) },
      { restBasePath: '/' },
      /Procedure "a" cannot be served over REST: .* is the path of the document or of a route/,
    ],
    [
      'an operation below the base path of tRPC',
      { a: echo(get('/trpc/x')) },
      { restBasePath: '/' },
      /Procedure "a" cannot be served over REST: .* is the path of the document or of a route/,
    ],
  ])('createGateway rejects %s', async (_what, procedures, options, sentence) => {
    await expect(gatewayOf(procedures, options)).rejects.toThrow(sentence);
  });

  it.each<[options: object, sentence: string]>([
    [{ restBasePath: 'api' }, 'restBasePath is "api"; it must start with a slash, such as "/api".'],
    [{ trpcBasePath: 'trpc' }, 'trpcBasePath is "trpc"; it must start with a slash, such as "/trpc".'],
    [
      { documentPath: 'api.json' },
      'documentPath is "api.json"; it must start with a slash, such as "/api.json".',
    ],
    [{ restBasePath: '' }, 'restBasePath is ""; it must start with a slash, such as "/".'],
  ])('createGateway rejects a path without a leading slash: %j', async (options, sentence) => {
    await expect(gatewayOf({}, options)).rejects.toThrow(new GatewayError(sentence));
  });

  it.each([
    ['https://pets.example/api', '/api/v1', '/api/api/v1', '/api'],
    ['https://pets.example/a/b/', '/a/b/v1', '/a/b/a/b/v1', '/a/b'],
    ['/api', '/api/v1', '/api/api/v1', '/api'],
    ['https://pets.example/v1', '/v1', '/v1/v1', '/v1'],
    ['https://pets.example/store/v1/', '/v1', '/store/v1/v1', '/v1'],
    ['https://pets.example/api', '/api', '/api/api', '/api'],
    ['/store/v1', '/v1', '/store/v1/v1', '/v1'],
  ] as const)(
    'createGateway rejects the publicUrl %s with the restBasePath %s, since paths of links would begin with %s',
    async (publicUrl, restBasePath, path, both) => {
      await expect(gatewayOf({}, { publicUrl, restBasePath })).rejects.toThrow(
        new GatewayError(
          `publicUrl is ${publicUrl}, to which links add restBasePath "${restBasePath}": their paths would begin with "${path}". Remove ${both} from restBasePath if the proxy or the framework removes it from requests, otherwise from publicUrl.`,
        ),
      );
    },
  );

  it.each([
    ['https://pets.example/api', '/apis/v1'],
    ['https://pets.example/api', '/v1/api/x'],
    ['/', '/api/v1'],
  ] as const)(
    'createGateway accepts the publicUrl %s with the restBasePath %s',
    async (publicUrl, restBasePath) => {
      await expect(gatewayOf({}, { publicUrl, restBasePath })).resolves.toBeDefined();
    },
  );

  it.each([
    ['https://v1', undefined],
    ['https://pets.example/dev1', undefined],
    ['https://pets.example/v1', '/'],
  ] as const)(
    'createGateway accepts the publicUrl %s with restBasePath %s',
    async (publicUrl, restBasePath) => {
      const options = { publicUrl, ...(restBasePath && { restBasePath }) };
      await expect(gatewayOf({}, options)).resolves.toBeDefined();
    },
  );

  it.each([
    'example.test',
    '//example.test',
    'ftp://example.test',
    'api',
    '/api?a',
    'https:api',
    '/'.repeat(3),
  ])('createGateway rejects the publicUrl %s, which is neither a URL nor a path', async (publicUrl) => {
    await expect(gatewayOf({}, { publicUrl })).rejects.toThrow(`publicUrl is "${publicUrl}"; it must be`);
  });
});

describe('a gateway', () => {
  it.each([
    [Infinity, 104_857_600],
    [1_048_576, 2_097_152],
    [99.5, 65_536],
  ])(
    'with maxBodyBytes %s, WebSocket messages of up to %s bytes are received',
    async (maxBodyBytes, maxMessageBytes) => {
      expect((await gatewayOf({}, { maxBodyBytes })).maxMessageBytes).toBe(maxMessageBytes);
    },
  );

  it('createGateway does not modify the schemas of the router', async () => {
    const input = z.object({ n: z.int(), list: z.array(z.boolean()).optional() });
    const before = JSON.stringify(z.toJSONSchema(input));
    const gateway = await gatewayOf({ a: echo({ method: 'GET', path: '/a' }, input) });
    await send(gateway, 'GET', '/v1/a?n=1&list=true');
    await gateway.document();
    expect(JSON.stringify(z.toJSONSchema(input))).toBe(before);
    expect(input.safeParse({ n: '1' }).success).toBe(false);
  });

  it('schemas of zod/mini are validated as strictly as those of zod', async () => {
    const gateway = await gatewayOf({
      a: t.procedure
        .meta({ openapi: { method: 'GET', path: '/a/{n}' } })
        .input(mini.object({ n: mini.int() }))
        .output(z.unknown())
        .query(({ input }) => input),
    });
    const statuses = await Promise.all(
      ['5', '1e3', '5.0', '9007199254740993'].map(
        async (n) => (await send(gateway, 'GET', `/v1/a/${n}`)).status,
      ),
    );
    expect(statuses).toEqual([200, 400, 400, 404]);
  });

  it('meta({ override }) describes a transformed output in the document', async () => {
    const output = z
      .string()
      .transform(Number)
      .meta({ override: { type: 'number' } });
    const gateway = await gatewayOf({
      a: t.procedure
        .meta({ openapi: { method: 'GET', path: '/a' } })
        .output(output)
        .query(() => '5'),
    });
    expect(await (await send(gateway, 'GET', '/v1/a')).text()).toBe('5');
    expect(JSON.stringify(await gateway.document())).toContain('"schema":{"type":"number"}');
  });

  it('the document describes responseHeaders from a zod object and from computed values', async () => {
    const described = z.object({
      'X-Total': z.string().meta({ description: 'How many there are.' }),
      'X-Name': z.string(),
    });
    const gateway = await gatewayOf({
      a: echo({ method: 'GET', path: '/a', responseHeaders: described }),
      b: echo({
        method: 'GET',
        path: '/b',
        responseHeaders: { 'X-Computed': { description: 'Computed.', value: () => 'x' } },
      }),
    });
    const { paths } = (await gateway.document()) as {
      paths: Record<string, { get: { responses: Record<string, { headers: object }> } }>;
    };
    const text = { type: 'string' };
    expect(paths['/a']?.get.responses['200']?.headers).toMatchObject({
      'X-Total': { description: 'How many there are.', schema: text },
      'X-Name': { description: 'X-Name', schema: text },
    });
    expect(paths['/b']?.get.responses['200']?.headers).toMatchObject({
      'X-Computed': { description: 'Computed.', schema: text },
    });
  });

  const pet = z.object({ name: z.string() });
  it.each([
    ['nullable', pet.nullable()],
    ['nullish', pet.nullish()],
    ['nullable with a default', pet.nullable().default({ name: 'Rex' })],
    ['nullable and transformed', pet.nullable().transform((value) => value?.name)],
  ])('a body is documented as an object and null gets 400 if the input is %s', async (_what, input) => {
    const gateway = await gatewayOf({ a: echo({ method: 'POST', path: '/a' }, input) });
    const headers = { 'content-type': 'application/json' };
    expect((await send(gateway, 'POST', '/v1/a', headers, 'null')).status).toBe(400);
    expect((await send(gateway, 'POST', '/v1/a', headers, '{"name":"Rex"}')).status).toBe(200);
    expect(await gateway.document()).toMatchObject({
      paths: {
        '/a': {
          post: {
            requestBody: {
              content: {
                'application/json': {
                  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
                },
              },
            },
          },
        },
      },
    });
  });

  it.each<['/' | '/api/', `/${string}`]>([
    ['/', '/a'],
    ['/api/', '/api/a'],
  ])('restBasePath: %s serves REST operations at %s', async (restBasePath, path) => {
    const gateway = await gatewayOf({ a: echo({ method: 'DELETE', path: '/a' }) }, { restBasePath });
    expect((await send(gateway, 'DELETE', path)).status).toBe(200);
    expect((await send(gateway, 'GET', '/openapi.json')).status).toBe(200);
    expect((await send(gateway, 'GET', '/v1x')).status).toBe(404);
  });

  it('a route without a method serves GET, HEAD and OPTIONS, and gives 405 to POST', async () => {
    const gateway = await gatewayOf(
      {},
      { routes: { '/page': () => ({ status: 200, headers: [], body: 'hi' }) } },
    );
    const page = await send(gateway, 'GET', '/page');
    expect([page.status, await page.text()]).toEqual([200, 'hi']);
    expect((await send(gateway, 'HEAD', '/page')).status).toBe(200);
    expect((await send(gateway, 'OPTIONS', '/page')).status).toBe(204);
    const rejected = await send(gateway, 'POST', '/page');
    expect(rejected.status).toBe(405);
    expect(rejected.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('a route that rejects gets 500 with the request id, and onResponse receives the error', async () => {
    const records: RequestRecord[] = [];
    const error = new Error('disk on fire');
    const gateway = await gatewayOf(
      {},
      {
        routes: { '/page': () => Promise.reject(error) },
        onResponse: (record) => records.push(record),
      },
    );
    const response = await send(gateway, 'GET', '/page', { 'x-request-id': 'client-1' });
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('fire')]);
    expect(response.headers.get('x-request-id')).toBe('client-1');
    expect(records).toMatchObject([{ requestId: 'client-1', status: 500, error, protocol: 'other' }]);
  });

  it('a request whose body throws gets 500 with the headers of all policies', async () => {
    const gateway = await gatewayOf(
      { a: echo({ method: 'POST', path: '/a' }, z.object({ n: z.number() })) },
      { rateLimit: { calls: 10, windowSeconds: 10 }, cors: { origins: ['https://pets.example'] } },
    );
    const body = () => {
      throw new Error('no body');
    };
    const request = inProcessRequest('POST', '/v1/a', { 'content-type': 'application/json' });
    const response = await gateway.handle(Object.assign(request, { body }));
    expect(response.status).toBe(500);
    expect(Object.keys(Object.fromEntries(headersOf(response)))).toEqual(
      expect.arrayContaining(['ratelimit', 'ratelimit-policy', 'vary', 'x-request-id']),
    );
  });

  it('a stream in JSON lines continues after another call of the batch has exceeded callTimeoutMs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const gateway = await gatewayOf(
      {
        slow: t.procedure.query(() => new Promise(() => {})),
        numbers: t.procedure.query(async function* ({ signal }) {
          yield 1;
          await promise;
          yield signal?.aborted;
        }),
      },
      { callTimeoutMs: 20 },
    );
    const headers = { 'trpc-accept': 'application/jsonl' };
    const { body } = await send(gateway, 'GET', '/trpc/numbers,slow?batch=1', headers);
    let text = '';
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString();
      if (text.includes('GATEWAY_TIMEOUT')) resolve();
    }
    expect(text).toContain('[6,1,[[false]]]');
  });

  it('an error of createContext that cannot be converted to a string gets 500 over REST and tRPC', async () => {
    const unconvertible = { message: Object.create(null) as string };
    const gateway = await gatewayOf(
      { a: echo({ method: 'POST', path: '/a' }) },
      {
        createContext: async () => {
          // oxlint-disable-next-line typescript/only-throw-error -- user code may throw any value
          throw unconvertible;
        },
      },
    );
    expect((await send(gateway, 'POST', '/v1/a')).status).toBe(500);
    const json = { 'content-type': 'application/json' };
    expect((await send(gateway, 'POST', '/trpc/a', json)).status).toBe(500);
  });

  it('onResponse receives the protocol, procedure, path and status of each response', async () => {
    const onResponse = vi.fn();
    const gateway = await gatewayOf({ a: echo({ method: 'POST', path: '/a' }) }, { onResponse });
    await send(gateway, 'POST', '/v1/a?secret=1');
    await send(gateway, 'POST', '/trpc/a', { 'content-type': 'application/json' }, '{}');
    expect(
      onResponse.mock.calls.map(([{ protocol, operation, path, status }]) => [
        protocol,
        operation,
        path,
        status,
      ]),
    ).toEqual([
      ['rest', 'a', '/v1/a', 200],
      ['trpc', 'a', '/trpc/a', 200],
    ]);
  });

  it.each<[code: string | undefined, status: number]>([
    [undefined, 401],
    ['Bearer good', 200],
    ['bEaReR   good', 200],
    ['Bearer bad', 401],
    ['Bearer', 401],
    ['Bearer good, more', 401],
    ['Basic good', 401],
    ['Bearer down', 500],
    ['Bearer null', 401],
    ['Bearer false', 401],
    ['Bearer thenable', 401],
  ])('Authorization: %s gets %i over REST and tRPC', async (authorization, status) => {
    const gateway = await gatewayOf(
      { a: echo({ method: 'POST', path: '/a' }) },
      {
        authentication: bearer({
          verify(token) {
            if (token === 'down') throw new Error('The keys cannot be read.');
            const identity = new Map<string, object | null | false>([
              ['good', {}],
              ['null', null],
              ['false', false],
            ]).get(token);
            return token === 'thenable' ? thenable : Promise.resolve(identity);
          },
        }),
      },
    );
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    const rest = await send(gateway, 'POST', '/v1/a', headers, '{}');
    const rpc = await send(gateway, 'POST', '/trpc/a', headers, '{}');
    expect([rest.status, rpc.status]).toEqual([status, status]);
    const challenge = rest.headers.get('www-authenticate');
    expect(challenge?.includes('invalid_token') ?? false).toBe(
      status === 401 && /^bearer/i.test(authorization ?? ''),
    );
  });

  it.each<[what: string, target: string, headers: Record<string, string>, outcome: unknown]>([
    ['at the tRPC base path', '/trpc', {}, expect.any(Function)],
    ['below the tRPC base path', '/trpc/any?x=1', {}, expect.any(Function)],
    ['at a REST path', '/v1/a', {}, undefined],
    [
      'of WebSocket version 8',
      '/trpc',
      { 'sec-websocket-version': '8' },
      expect.objectContaining({ status: 426 }),
    ],
  ])('gateway.upgrade decides on a WebSocket request %s', async (_what, target, headers, outcome) => {
    const gateway = await gatewayOf({});
    const requestHeaders = { 'sec-websocket-version': '13', ...headers };
    expect(await gateway.upgrade(inProcessRequest('GET', target, requestHeaders))).toEqual(outcome);
  });

  it('Location, Link and servers begin with publicUrl', async () => {
    const gateway = await gatewayOf(
      {
        a: echo({
          method: 'POST',
          path: '/a',
          responseHeaders: {
            Location: { description: 'x', value: (_output, { basePath }) => `${basePath}/a/1` },
          },
          deprecated: { since: new Date(0), successor: '/b', documentation: '/docs' },
        }),
      },
      { publicUrl: 'https://pets.example/store/' },
    );
    const { headers } = await send(gateway, 'POST', '/v1/a');
    expect(headers.get('location')).toBe('https://pets.example/store/v1/a/1');
    expect(headers.get('link')).toBe(
      '<https://pets.example/store/v1/b>; rel="successor-version", ' +
        '<https://pets.example/store/docs>; rel="deprecation"; type="text/html"',
    );
    expect(await gateway.document()).toMatchObject({ servers: [{ url: 'https://pets.example/store/v1' }] });
  });

  it('Link and servers begin with the path of the mount if publicUrl is a path', async () => {
    const list = echo({ method: 'GET', path: '/a', deprecated: { since: new Date(0), successor: '/b' } });
    const gateway = await gatewayOf({ a: list }, { publicUrl: '/api/' });
    const { headers } = await send(gateway, 'GET', '/v1/a');
    expect(headers.get('link')).toBe('</api/v1/b>; rel="successor-version"');
    expect(await gateway.document()).toMatchObject({ servers: [{ url: '/api/v1' }] });
  });
});

it.each<[path: string, isServed: boolean]>([
  ['/v1', true],
  ['/v1/', true],
  ['/v1/none', true],
  ['/v10', false],
  ['/V1', false],
  ['/trpc', true],
  ['/trpc/a,b', true],
  ['/openapi.json', true],
  ['/openapi.json/', false],
  ['/docs', true],
  ['/docs/a', false],
  ['/', false],
])('gateway.serves(%j) returns %s', async (path, isServed) => {
  const gateway = await gatewayOf({}, { routes: { '/docs': () => ({ status: 200, headers: [] }) } });
  expect(gateway.serves(path)).toBe(isServed);
});

it('gateway.serves returns true for every path if restBasePath is /', async () => {
  const gateway = await gatewayOf({}, { restBasePath: '/' });
  expect(gateway.serves('/anything')).toBe(true);
});

describe('a router with a public procedure', () => {
  const createPublicGateway = () =>
    gatewayOf(
      {
        pub: t.procedure
          .meta({ openapi: { method: 'GET', path: '/pub', protect: false } })
          .output(z.string())
          .query(() => 'public'),
        secret: t.procedure
          .meta({ openapi: { method: 'GET', path: '/secret' } })
          .output(z.string())
          .query(() => 'protected'),
      },
      { authentication: bearer({ verify: () => undefined }) },
    );

  it.each(['a/trpc/secret?', 'a/trpc/secret#', 'a/trpc/secret', 'secret@a', 'a\\trpc\\secret?'])(
    'a call of the public procedure with Host: %s does not reach a protected procedure',
    async (host) => {
      const gateway = await createPublicGateway();
      const response = await send(gateway, 'GET', '/trpc/pub', { host });
      expect(await response.text()).not.toContain('protected');
    },
  );

  it('a Host with a user name gets 400', async () => {
    const gateway = await gatewayOf({ a: echo({ method: 'GET', path: '/a' }) });
    expect((await send(gateway, 'GET', '/trpc/a', { host: 'a@b' })).status).toBe(400);
  });

  it.each([
    '/trpc/pub,secret?batch=1',
    '/trpc/secret',
    '/trpc/x/../secret',
    '/trpc/%73ecret',
    '/trpc/pub/%2e%2e/secret',
    '/v1/secret',
    '/v1/%73ecret',
  ])('GET %s without a credential gets 401', async (target) => {
    const gateway = await createPublicGateway();
    expect((await gateway.handle(inProcessRequest('GET', target))).status).toBe(401);
  });
});

it('errors of the gateway itself over tRPC contain no stack and no internal message, even with isDev: true', async () => {
  const dev = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create({ isDev: true });
  const gateway = await createGateway({
    router: dev.router({}),
    authentication: bearer({
      verify: (token) => {
        if (token === 'x') throw new Error('connect mongodb://root:hunter2@db failed');
        return undefined;
      },
    }),
    createContext: ({ response }) => ({ response }),
    document: { title: 'Test', version: '0.0.0' },
    onResponse: () => {},
  });
  for (const authorization of ['', 'Bearer x', 'Bearer y']) {
    const body = await (await send(gateway, 'GET', '/trpc/a', { authorization })).text();
    expect(body).not.toMatch(/stack|hunter2|\.ts/);
  }
});

it('gateway.procedures lists path, type and execution of each procedure, including lazy ones', async () => {
  const t0 = initTRPC.create({ isDev: false });
  const traced = t0.procedure.use(({ next }) => next());
  const invoked = t0.procedure.experimental_caller(async ({ args, invoke }) => invoke(args[0] as never));
  const gateway = await createGateway({
    router: t0.router({
      echo: t0.procedure
        .input(z.string())
        .output(z.string())
        .query(({ input }) => input),
      pets: { traced: traced.mutation(() => 1) },
      later: lazy(async () => t0.router({ events: t0.procedure.subscription(async function* () {}) })),
      // experimental_caller turns the procedure into a function, which routers accept but their types do not
      // (@trpc/server 11.25).
      invoked: invoked.query(() => 1) as never,
    }),
    createContext: () => ({}),
    document: { title: 'Test', version: '0.0.0' },
  });
  expect(gateway.procedures.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
    { path: 'echo', type: 'query', execution: 'compiled' },
    { path: 'invoked', type: 'query', execution: 'trpc' },
    { path: 'later.events', type: 'subscription', execution: 'compiled' },
    { path: 'pets.traced', type: 'mutation', execution: 'compiled' },
  ]);
});

it('gateway.document does not modify the metadata of date schemas', async () => {
  const [at, day] = [z.date(), z.date().meta({ description: 'The day.' })];
  const times = z.object({ at, day });
  const gateway = await gatewayOf({ when: echo({ method: 'GET', path: '/when' }, times) });
  expect(JSON.stringify(await gateway.document())).toContain('"format":"date-time"');
  expect([at.meta(), day.meta()]).toEqual([undefined, { description: 'The day.' }]);
});

describe('an error with an unreadable member', () => {
  const unreadable = (member: 'code' | 'message' | 'cause') =>
    Object.defineProperty(new TRPCError({ code: 'NOT_FOUND', message: 'secret' }), member, {
      get: () => {
        throw new Error('unreadable');
      },
    });

  it.each(['code', 'message', 'cause'] as const)(
    'an error whose %s getter throws gets 500 over REST and tRPC',
    async (member) => {
      const gateway = await gatewayOf({
        a: t.procedure
          .meta({ openapi: { method: 'GET', path: '/a' } })
          .input(z.object({}).prefault({}))
          .output(z.void())
          .query(async () => {
            await Promise.resolve();
            throw unreadable(member);
          }),
      });
      for (const path of ['/v1/a', '/trpc/a']) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const response = await send(gateway, 'GET', path);
        expect(response.status).toBe(500);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await response.text()).not.toContain('secret');
      }
    },
  );
});

describe('telemetry that throws', () => {
  const throwError = () => {
    throw new Error('no span');
  };
  const observed: RequestTelemetry = {
    trace: undefined,
    run: (run) => run(),
    call: throwError,
    end: throwError,
  };
  it.each<[when: string, telemetry: Telemetry]>([
    ['when a request begins', { begin: throwError }],
    ['when a call begins, and when the request ends', { begin: () => observed }],
  ])('telemetry that throws %s changes no response', async (_when, telemetry) => {
    const records: RequestRecord[] = [];
    const gateway = await gatewayOf(
      { get: echo({ method: 'GET', path: '/get' }) },
      { telemetry, onResponse: (record) => void records.push(record) },
    );
    expect((await gateway.fetch('http://localhost/v1/get')).status).toBe(200);
    expect((await gateway.fetch('http://localhost/trpc/get?input={}')).status).toBe(200);
    expect(records).toMatchObject([{ status: 200 }, { status: 200 }]);
  });
});
