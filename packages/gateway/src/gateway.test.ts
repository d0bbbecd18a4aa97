import { initTRPC, lazy } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Gateway } from './gateway.ts';
import { GatewayError } from './checks/gatewayError.ts';
import type { RestMeta } from './procedures/meta.ts';
import type { Telemetry } from './calls/telemetry.ts';
import type { GatewayOptions } from './assembly/options.ts';
import { inProcessRequest } from './testing/inProcessRequest.ts';
import { bearer } from './auth/schemes/bearer.ts';
import { echo, t, testGateway } from './testing/testGateway.ts';

type Options = GatewayOptions<ReturnType<typeof t.router>, unknown>;
const gatewayOf = (procedures: Parameters<typeof t.router>[0], options: Partial<Options> = {}) =>
  testGateway(t.router(procedures), {
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

  it.each([
    ['https://pets.example/api', '/api/v1', '/api/api/v1', '/api'],
    ['/api', '/api/v1', '/api/api/v1', '/api'],
    ['https://pets.example/v1', '/v1', '/v1/v1', '/v1'],
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

  it.each<[options: Partial<Options>, procedures?: Parameters<typeof t.router>[0]]>([
    [{ publicUrl: 'https://pets.example/api', restBasePath: '/apis/v1' }],
    [{ publicUrl: 'https://pets.example/api', restBasePath: '/v1/api/x' }],
    [{ publicUrl: '/', restBasePath: '/api/v1' }],
    // Beside the base path of tRPC.
    [{ restBasePath: '/' }, { a: echo(get('/trpcs')) }],
  ])('createGateway accepts the options %j', async (options, procedures = {}) => {
    await expect(gatewayOf(procedures, options)).resolves.toBeDefined();
  });

  it.each([
    'example.test',
    '//example.test',
    'ftp://example.test',
    'localhost:3000',
    'api',
    '/api?a',
    'https:api',
    '/'.repeat(3),
  ])('createGateway rejects the publicUrl %s, which is neither a URL nor a path', async (publicUrl) => {
    const sentence = `publicUrl is "${publicUrl}"; it must be an absolute http or https URL, or a path such as /api, without query or fragment.`;
    await expect(gatewayOf({}, { publicUrl })).rejects.toThrow(new GatewayError(sentence));
  });
});

describe('a gateway', () => {
  it.each([
    [Infinity, 104_857_600],
    [1_048_576, 2_097_152],
    [99.5, 65_536],
  ])(
    'with maxBodySize %s, WebSocket messages of up to %s bytes are received',
    async (maxBodySize, maxMessageSize) => {
      expect((await gatewayOf({}, { maxBodySize })).maxMessageSize).toBe(maxMessageSize);
    },
  );

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
    expect(await gateway.document()).toHaveProperty(
      ['paths', '/a', 'post', 'requestBody', 'content', 'application/json', 'schema'],
      { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    );
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
          headers: {
            Location: { description: 'x', value: (_output, { basePath }) => `${basePath}/a/1` },
          },
          deprecation: { since: new Date(0), successor: '/b', documentation: '/docs' },
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
});

it.each<[path: string, isServed: boolean]>([
  ['/v1/none', true],
  ['/v10', false],
  ['/trpc', true],
  ['/openapi.json', true],
  ['/openapi.json/', false],
  ['/docs', true],
  ['/docs/a', false],
])('gateway.serves(%j) returns %s', async (path, isServed) => {
  const gateway = await gatewayOf({}, { routes: { '/docs': () => ({ status: 200, headers: [] }) } });
  expect(gateway.serves(path)).toBe(isServed);
});

const routes = {
  '/page': () => ({ status: 200, headers: [] }),
  '/v1/page': () => ({ status: 200, headers: [] }),
  'POST /trpc/hook': () => ({ status: 200, headers: [] }),
};

it.each<[options: Partial<Options>, path: string, protocol: string]>([
  [{ routes }, '/v1/pets', 'rest'],
  [{ routes }, '/trpcs', 'other'],
  [{ routes }, '/v1/page', 'other'],
  [{ routes }, '/v1/page/', 'rest'],
  [{ routes }, '/trpc/hook', 'other'],
  [{ routes }, '/page', 'other'],
  [{ restBasePath: '/' }, '/anything', 'rest'],
  [{ restBasePath: '/' }, '/trpc/a', 'trpc'],
  [{ restBasePath: '/trpc/rest' }, '/trpc/rest/a', 'trpc'],
  [{ trpcBasePath: '/' }, '/v1/a', 'trpc'],
  [{ restBasePath: '/api/' }, '/api/a', 'rest'],
  [{ compatibility: 'trpc-to-openapi', restBasePath: '/V1' }, '/v1', 'rest'],
  [{ compatibility: 'trpc-to-openapi' }, '/V10/a', 'other'],
  [{ compatibility: 'trpc-to-openapi' }, '/TRPC/a', 'other'],
])('with the options %j, a request of %s belongs to the protocol %s', async (options, path, protocol) => {
  const protocols: string[] = [];
  const gateway = await gatewayOf(
    {},
    { ...options, onResponse: (record) => protocols.push(record.protocol) },
  );
  await send(gateway, 'GET', path);
  expect(protocols).toEqual([protocol]);
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

it('gateway.procedures lists path, type and execution of each procedure, including lazy ones', async () => {
  const t0 = initTRPC.create();
  const traced = t0.procedure.use(({ next }) => next());
  const invoked = t0.procedure.experimental_caller(async ({ args, invoke }) => invoke(args[0] as never));
  const gateway = await testGateway(
    t0.router({
      echo: t0.procedure
        .input(z.string())
        .output(z.string())
        .query(({ input }) => input),
      pets: { traced: traced.mutation(() => 1) },
      later: lazy(async () => t0.router({ events: t0.procedure.subscription(async function* () {}) })),
      // Makes the procedure a function, which routers accept but their types do not (@trpc/server 11.25).
      invoked: invoked.query(() => 1) as never,
    }),
  );
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

it('telemetry that throws after a call has run changes no response, and the call runs once', async () => {
  const throwError = () => {
    throw new Error('no span');
  };
  const telemetry: Telemetry = {
    begin: () => ({
      trace: undefined,
      run: (run) => run(),
      call: () => ({
        trace: undefined,
        run(run) {
          run();
          return throwError();
        },
        end: throwError,
      }),
      end: throwError,
    }),
  };
  let runs = 0;
  const count = t.procedure
    .meta({ openapi: { method: 'GET', path: '/count' } })
    .output(z.int())
    .query(() => (runs += 1));
  const gateway = await gatewayOf({ count }, { telemetry });
  expect(await (await send(gateway, 'GET', '/v1/count')).json()).toBe(1);
  expect(await (await send(gateway, 'GET', '/trpc/count')).json()).toEqual({ result: { data: 2 } });
});
