import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { createGateway } from './gateway.ts';
import { bearer } from './auth/schemes/bearer.ts';
import { apiKey } from './auth/schemes/apiKey.ts';
import { cookie } from './auth/schemes/cookie.ts';
import { custom } from './auth/schemes/custom.ts';
import { jwt } from './auth/schemes/jwt.ts';
import { GatewayError } from './http/gatewayError.ts';

const validOptions = {
  router: initTRPC.create().router({}),
  createContext: () => ({}),
  document: { title: 'Test', version: '0.0.0' },
};

it.each<[options: object, sentence: string]>([
  [
    { authenticate: bearer({ verify: () => undefined }) },
    '"authenticate" is not an option of createGateway; did you mean "authentication"?',
  ],
  [
    { documents: {}, rateLimits: {} },
    '"documents" is not an option of createGateway; did you mean "document"?\n"rateLimits" is not an option of createGateway; did you mean "rateLimit"?',
  ],
  [
    { trpc: { batching: false } },
    '"batching" is not an option of trpc; its options are allowBatching, allowMethodOverride, maxBatchSize, responseMeta, onError.',
  ],
  [
    { sockets: { keepAlives: { enabled: true } } },
    '"keepAlives" is not an option of sockets; did you mean "keepAlive"?',
  ],
  [
    { cors: { origins: ['https://a.example'], credential: true } },
    '"credential" is not an option of cors; did you mean "credentials"?',
  ],
  [
    { document: { title: 'a', version: '1', licence: { name: 'MIT' } } },
    '"licence" is not an option of document; did you mean "license"?',
  ],
  [
    { rateLimit: { calls: 1, windowSeconds: 1, windowSecond: 1 } },
    '"windowSecond" is not an option of rateLimit; did you mean "windowSeconds"?',
  ],
  [
    { failedAttempts: { attempts: 1, windowSeconds: 1, windowMs: 1 } },
    '"windowMs" is not an option of failedAttempts; its options are attempts, windowSeconds.',
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
])('createGateway rejects unknown options: %j', async (options, sentence) => {
  await expect(createGateway({ ...validOptions, ...options })).rejects.toThrow(new GatewayError(sentence));
});

it.each<[options: object, sentence: string]>([
  [
    { createContext: undefined },
    'createContext is undefined; it must be a function, such as createContext: () => ({}).',
  ],
  [{ createContext: {} }, 'createContext is {}; it must be a function, such as createContext: () => ({}).'],
  [
    { document: undefined },
    "document is undefined; it must be an object, such as document: { title: 'Pets', version: '1.0.0' }.",
  ],
  [
    { document: { title: 'Pets' } },
    "document.version is undefined; it must be a string: document: { title: 'Pets', version: '1.0.0' }.",
  ],
  [
    { router: undefined },
    'router is undefined; it must be a router of tRPC, such as router: t.router({ … }).',
  ],
  [{ router: {} }, 'router is {}; it must be a router of tRPC, such as router: t.router({ … }).'],
  [
    { authentication: () => 'x' },
    'authentication must be a scheme, or a list of one or more schemes, such as authentication: bearer({ verify: (token) => users.get(token) }).',
  ],
  [
    { authentication: [bearer({ verify: () => undefined }), undefined] },
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
  [{ restBasePath: 1 }, 'restBasePath is 1; it must be a string.'],
  [{ trpc: { allowBatching: 'false' } }, 'trpc.allowBatching is "false"; it must be true or false.'],
  [{ trpc: { allowMethodOverride: 1 } }, 'trpc.allowMethodOverride is 1; it must be true or false.'],
  [
    { trpc: { maxBatchSize: '10' } },
    'trpc.maxBatchSize is "10"; it must be a positive number, or Infinity for no limit.',
  ],
  [
    { sockets: { keepAlive: { enabled: true, pingMs: 0 } } },
    'sockets.keepAlive.pingMs is 0; it must be a positive integer.',
  ],
  [
    { sockets: { keepAlive: { enabled: true, pongWaitMs: '5s' } } },
    'sockets.keepAlive.pongWaitMs is "5s"; it must be a positive integer.',
  ],
  [{ onError: 'log' }, 'onError is "log"; it must be a function.'],
])('createGateway rejects missing options and options of the wrong type: %j', async (options, sentence) => {
  await expect(createGateway({ ...validOptions, ...options })).rejects.toThrow(new GatewayError(sentence));
});

it('createGateway rejects a call without options', async () => {
  await expect(createGateway(undefined as never)).rejects.toThrow(
    'createGateway takes an object of options, not undefined.',
  );
});

it.each([
  ['bearer', () => bearer({} as never)],
  ['apiKey', () => apiKey({} as never)],
  ['cookie', () => cookie({ name: 'session', cookie: 's' } as never)],
  [
    'custom',
    () => custom({ name: 'a', read: () => null, challenge: 'A', document: { type: 'http' } } as never),
  ],
])('%s rejects a missing verify', (name, create) => {
  expect(create).toThrow(new GatewayError(`${name}.verify is undefined; it must be a function.`));
});

const verify = () => undefined;

it.each<[sentence: string, create: () => unknown]>([
  ['"relm" is not an option of bearer; did you mean "realm"?', () => bearer({ verify, relm: 'a' } as never)],
  [
    '"header" is not an option of bearer; its options are verify, scopes, realm, name, noun, protectedResource.',
    () => bearer({ verify, header: 'X-Key' } as never),
  ],
  [
    '"verfy" is not an option of bearer; did you mean "verify"?\nbearer.verify is undefined; it must be a function.',
    () => bearer({ verfy: verify } as never),
  ],
  [
    '"headers" is not an option of apiKey; did you mean "header"?',
    () => apiKey({ verify, headers: 'X-Key' } as never),
  ],
  [
    '"scope" is not an option of cookie; did you mean "scopes"?',
    () => cookie({ cookie: 'a', verify, scope: () => [] } as never),
  ],
  [
    '"header" is not an option of custom; its options are verify, scopes, realm, name, read, challenge, document.',
    () =>
      custom({
        name: 'a',
        read: verify,
        verify,
        challenge: 'A',
        document: { type: 'http' },
        header: 'a',
      } as never),
  ],
  [
    '"algorithm" is not an option of jwt; did you mean "algorithms"?',
    () => jwt({ issuer: 'a', audience: 'a', jwksUri: 'https://a.example/jwks', algorithm: 'RS256' } as never),
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
])('a scheme rejects its unknown options: %s', (sentence, create) => {
  expect(create).toThrow(new GatewayError(sentence));
});

it('a route that returns no response gets 500, and the error names the route and the value', async () => {
  const messages: unknown[] = [];
  const gateway = await createGateway({
    ...validOptions,
    routes: { '/h': (() => 'ok') as never, '/later': (async () => undefined) as never },
    onResponse: ({ error }) => messages.push((error as Error | undefined)?.message),
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
