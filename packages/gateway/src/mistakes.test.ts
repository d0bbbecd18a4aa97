import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { apiKey, bearer, cookie, createGateway, custom, GatewayError, type RequestRecord } from './index.ts';
import { serve } from './adapters/node/index.ts';
import { jwt } from './auth/schemes/jwt.ts';
import { t, testGateway } from './testing/testGateway.ts';

// Mistakes of users and their error messages. Each message names the value that was found and the fix.

const verify = () => 'ada';
const issuer = { issuer: 'a', audience: 'a', jwksUri: 'https://a.example/jwks' };

/** Creates a gateway from options or metadata that the types reject. */
function create(options: object, procedures: Parameters<typeof t.router>[0] = {}) {
  return testGateway(t.router(procedures), options);
}

async function messageOf(gateway: Promise<unknown>): Promise<string> {
  const error = await gateway.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(GatewayError);
  // What Node prints at the end of a process that does not catch it.
  expect(inspect(error)).not.toContain('problems');
  return error instanceof GatewayError ? error.message : '';
}

it('createGateway rejects schemes, base paths and routes in one message', async () => {
  const message = await messageOf(
    create({
      authentication: [bearer({ verify, name: 'a b' }), bearer({ verify, name: 'c d' })],
      restBasePath: 'v1',
      routes: { metrics: () => ({ status: 200, headers: [] }) },
    }),
  );
  expect(message.split('\n')).toEqual([
    expect.stringContaining('a scheme named "a b"'),
    expect.stringContaining('both read "Authorization: Bearer"'),
    expect.stringContaining('v1'),
    expect.stringContaining('metrics'),
  ]);
});

it.each([
  ['openApi', 'openapi'],
  ['callTimeoutMS', 'callTimeoutMs'],
])('createGateway rejects the metadata %s and suggests %s', async (name, right) => {
  const procedure = t.procedure.meta({ [name]: {} }).query(() => 1);
  expect(await messageOf(create({}, { a: procedure }))).toBe(
    `Procedure "a": "${name}" is not read from the metadata; did you mean "${right}"?`,
  );
});

it('createGateway rejects two procedures with the same operationId', async () => {
  const gateway = create(
    {},
    {
      a: t.procedure.meta({ openapi: { method: 'GET', path: '/a', operationId: 'x' } }).query(() => 1),
      b: t.procedure.meta({ openapi: { method: 'GET', path: '/b', operationId: 'x' } }).query(() => 1),
    },
  );
  expect(await messageOf(gateway)).toBe(
    'Procedure "b" cannot be served over REST: "a" has the operationId "x" too; give one of them another operationId.',
  );
});

it('createGateway rejects an operationId that returns a promise, and ignores its rejection', async () => {
  const procedure = t.procedure.meta({ openapi: { method: 'GET', path: '/a' } }).query(() => 1);
  const operationId = (async () => Promise.reject(new Error('late'))) as never;
  expect(
    await messageOf(create({ document: { title: 'Pets', version: '1.0.0', operationId } }, { a: procedure })),
  ).toContain('document.operationId returned a promise for it; return a string, such as its path.');
});

it('createGateway rejects idempotency keys of clients that it cannot tell apart', async () => {
  const pay = t.procedure.meta({ idempotencyKey: 'optional' }).mutation(() => 1);
  const message = await messageOf(create({ idempotency: {} }, { pay }));
  expect(message).toContain('Procedure "pay" accepts idempotency keys, but without authentication');
  await create({ idempotency: {}, authentication: bearer({ verify }) }, { pay });
  await create({ idempotency: { caller: () => undefined } }, { pay });
});

it('serve rejects an unknown option of tls', async () => {
  const gateway = await create({});
  // @ts-expect-error options that the types reject
  await expect(serve(gateway, { tls: { cert: 'cert.pem', key: 'key.pem' } })).rejects.toThrow(
    '"cert" is not an option of tls; its options are certFile, keyFile.',
  );
});

it.each<[options: object, sentence: string]>([
  [
    { authenticate: bearer({ verify: () => undefined }) },
    '"authenticate" is not an option of createGateway; did you mean "authentication"?',
  ],
  [
    { trpc: { batching: false } },
    '"batching" is not an option of trpc; its options are allowBatching, allowMethodOverride, maxBatchSize, responseMeta, onError.',
  ],
  [
    { document: { title: 'a', version: '1', license: { name: 'MIT', identifer: 'MIT' } } },
    '"identifer" is not an option of document.license; did you mean "identifier"?',
  ],
  [
    { sockets: { keepAlive: { enabled: true, pingMS: 1, pongWait: 1 } } },
    '"pingMS" is not an option of sockets.keepAlive; did you mean "pingMs"?\n' +
      '"pongWait" is not an option of sockets.keepAlive; did you mean "pongWaitMs"?',
  ],
  [{ CORS: {} }, '"CORS" is not an option of createGateway; did you mean "cors"?'],
  [{ cros: {} }, '"cros" is not an option of createGateway; did you mean "cors"?'],
  [
    { rateLimit: { calls: ['x'.repeat(200)], windowMs: 60_000 } },
    `rateLimit.calls is ["${'x'.repeat(98)}; it must be a positive integer.`,
  ],
  [
    { document: { title: 'Pets', version: '1', openapi: '3.0' } },
    `document.openapi is "3.0"; it must be '3.1' or '3.2'.`,
  ],
  [
    { callTimeoutMs: '30s' },
    'callTimeoutMs is "30s"; it must be a positive number, or Infinity for no limit.',
  ],
  [
    { document: { title: 'Pets', version: '1.0.0', securitySchemes: { bearer: 'http' } } },
    `document.securitySchemes is {"bearer":"http"}; it must be an object of Security Scheme Objects by names of letters, digits, '.', '_' and '-', such as securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }.`,
  ],
  [
    { errorFormat: 'problemDetails' },
    'errorFormat is "problemDetails"; it must be an object, such as errorFormat: problemDetails, which trpc-gateway exports.',
  ],
  [
    { createContext: undefined },
    'createContext is undefined; it must be a function, such as createContext: () => ({}).',
  ],
  [
    { document: undefined },
    "document is undefined; it must be an object, such as document: { title: 'Pets', version: '1.0.0' }.",
  ],
  [
    { router: undefined },
    'router is undefined; it must be a router of tRPC, such as router: t.router({ … }).',
  ],
  [
    { authentication: () => 'x' },
    'authentication must be a scheme, or a list of one or more schemes, such as authentication: bearer({ verify: (token) => users.get(token) }).',
  ],
  [
    { cors: true },
    "cors is true; it must be an object, such as cors: { origins: ['https://pets.example'] }.",
  ],
  [
    { cors: { origin: 'https://a.example' } },
    '"origin" is not an option of cors; did you mean "origins"?\n' +
      "cors.origins is undefined; it must be an array of origins or a function, such as cors: { origins: ['https://pets.example'] }.",
  ],
  [
    { trustProxy: true },
    "trustProxy is true; it must be an array of the addresses of your proxies, such as trustProxy: ['10.0.0.0/8'].",
  ],
  [{ trpc: { allowBatching: 'false' } }, 'trpc.allowBatching is "false"; it must be true or false.'],
  [
    { sockets: { keepAlive: { enabled: true, pingMs: 0 } } },
    'sockets.keepAlive.pingMs is 0; it must be a positive integer.',
  ],
  [{ onError: 'log' }, 'onError is "log"; it must be a function.'],
  [{ compression: { level: 9 } }, 'compression is {"level":9}; it must be true or false.'],
  [
    { cors: { origins: ['*'] } },
    'cors.origins contains "*", which is not an origin. Write only scheme, host and port, such as https://pets.example. For patterns, use a function.',
  ],
  [{ maxQueueMs: 0 }, 'maxQueueMs is 0; it must be a positive number, or Infinity for no limit.'],
  [{ trpc: { onError: 'log' } }, 'trpc.onError is "log"; it must be a function.'],
  [{ restBasePath: 'api' }, 'restBasePath is "api"; it must start with a slash, such as "/api".'],
  [{ restBasePath: '' }, 'restBasePath is ""; it must start with a slash, such as "/".'],
  [{ trpcBasePath: 'trpc' }, 'trpcBasePath is "trpc"; it must start with a slash, such as "/trpc".'],
  [
    { document: { title: 'Pets', version: '1.0.0', path: 'api.json' } },
    'document.path is "api.json"; it must start with a slash, such as "/api.json".',
  ],
])(
  'createGateway rejects unknown and missing options, and those of a wrong type: %j',
  async (options, sentence) => {
    expect(await messageOf(create(options))).toBe(sentence);
  },
);

it('createGateway rejects a call without options', async () => {
  await expect(createGateway(undefined as never)).rejects.toThrow(
    'createGateway takes an object of options, not undefined.',
  );
});

it.each<[sentence: string, create: () => unknown]>([
  ['bearer.verify is undefined; it must be a function.', () => bearer({} as never)],
  ['apiKey.verify is undefined; it must be a function.', () => apiKey({} as never)],
  [
    'cookie.verify is undefined; it must be a function.',
    () => cookie({ name: 'session', cookie: 's' } as never),
  ],
  [
    'custom.verify is undefined; it must be a function.',
    () => custom({ name: 'a', read: () => null, challenge: 'A', document: { type: 'http' } } as never),
  ],
  [
    '"verfy" is not an option of bearer; did you mean "verify"?\nbearer.verify is undefined; it must be a function.',
    () => bearer({ verfy: verify } as never),
  ],
  ...[['HS256'], []].map((algorithms): [string, () => unknown] => [
    `jwt.algorithms is ${JSON.stringify(algorithms)}; it must be a list of one or more of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, and no other.`,
    () => jwt({ ...issuer, algorithms }),
  ]),
  // From JavaScript, such as an environment variable that is not set.
  ...[[], [undefined], ['a', '']].map((audience): [string, () => unknown] => [
    `jwt.audience is ${JSON.stringify(audience)}; it must be a string or an array of strings, none of them empty.`,
    () => jwt({ ...issuer, audience } as never),
  ]),
  [
    'jwt.issuer is undefined; it must be a string that is not empty.',
    () => jwt({ ...issuer, issuer: undefined } as never),
  ],
  [
    'jwt.jwksUri is "file:///etc/passwd"; it must be an http or https URL.',
    () => jwt({ ...issuer, jwksUri: 'file:///etc/passwd' }),
  ],
  [
    '"authorizationServer" is not an option of bearer.protectedResource; did you mean "authorizationServers"?\n' +
      'bearer.protectedResource.authorizationServers is undefined; it must be an array of issuer URLs.',
    () =>
      bearer({
        verify,
        protectedResource: { resource: 'https://a.example', authorizationServer: ['https://b.example'] },
      } as never),
  ],
])('a scheme rejects a missing verify, and its unknown options: %s', (sentence, createScheme) => {
  expect(createScheme).toThrow(new GatewayError(sentence));
});

it('a route that returns no response gets 500, and the error names the route and the value', async () => {
  const messages: unknown[] = [];
  const gateway = await create({
    routes: { '/h': (() => 'ok') as never, '/later': (async () => undefined) as never },
    onResponse: ({ error }: RequestRecord) => messages.push((error as Error | undefined)?.message),
  });
  for (const path of ['/h', '/later']) {
    expect((await gateway.fetch(`http://localhost${path}`)).status).toBe(500);
  }
  const example =
    "{ status: 200, headers: [['content-type', 'text/plain']], body: 'ok' }, whose body is a string, bytes or a stream";
  expect(messages).toEqual([
    `The route GET /h returned "ok"; it must return a response, such as ${example}.`,
    `The route GET /later returned undefined; it must return a response, such as ${example}.`,
  ]);
});
