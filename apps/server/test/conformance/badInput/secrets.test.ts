import { appRouter, type Store, StoreError, type StoreErrorCode } from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { bearer, createGateway, type Gateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { listen, type Server, type TestResponse, sendUnchecked } from 'trpc-gateway-test';
import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey, authorization, contentTypeJson } from './badRequest.ts';

const message =
  'connect ECONNREFUSED mongodb://root:hunter2@db.internal:27017/pets?authSource=admin; see /srv/petstore/data/data.mdb';

/** Parts of the values that are thrown. A response that contains one of them leaks the error. */
const secrets: readonly string[] = [
  'hunter2',
  'mongodb',
  'db.internal',
  // With its colon: a request id may contain these digits.
  ':27017',
  'authSource',
  'ECONNREFUSED',
  '/srv/',
  'Topology',
  'stack',
  'node_modules',
  'secrets.test.ts',
  '    at ',
  'file:',
  'StoreError',
  'MongoError',
];

/** The error that a client receives, on each protocol. */
type ClientError = readonly [code: string, status: number];
const unexpected: ClientError = ['INTERNAL_SERVER_ERROR', 500];
const unavailable: ClientError = ['SERVICE_UNAVAILABLE', 503];

/** Repeats the mapping of `procedures/records.ts`, so that a change there fails a test. */
const storeErrors: Readonly<Record<StoreErrorCode, ClientError>> = {
  unavailable,
  full: unavailable,
  forbidden: unavailable,
  fatal: unavailable,
  closed: unavailable,
  'outcome-unknown': ['GATEWAY_TIMEOUT', 504],
  'key-reused': ['UNPROCESSABLE_CONTENT', 422],
  'too-many-reservations': ['TOO_MANY_REQUESTS', 429],
  conflict: ['CONFLICT', 409],
  invalid: ['BAD_REQUEST', 400],
  'version-mismatch': ['CONFLICT', 409],
  'migration-needed': unavailable,
  damaged: unexpected,
  incompatible: unexpected,
};

/** A value that a store may throw. */
interface ThrownValue {
  readonly title: string;
  /** Creates a new value for each throw. */
  readonly create: () => unknown;
  readonly clientError: ClientError;
}

const newError = () =>
  Object.assign(new Error(message, { cause: new Error(`Topology is closed: ${message}`) }), {
    name: 'MongoError',
    code: 'ECONNREFUSED',
    issues: [{ path: [message], message }],
  });

const thrownValues: readonly ThrownValue[] = [
  { title: 'an Error of a driver', create: newError, clientError: unexpected },
  { title: 'a string', create: () => message, clientError: unexpected },
  { title: 'an object', create: () => ({ message, stack: newError().stack }), clientError: unexpected },
  { title: 'undefined', create: () => undefined, clientError: unexpected },
  ...Object.entries(storeErrors).map(([name, clientError]): ThrownValue => ({
    title: `a StoreError ${name}`,
    create: () => new StoreError(name as StoreErrorCode, message, { cause: newError() }),
    clientError,
  })),
  {
    title: 'a TRPCError with the message of its cause',
    create: () => new TRPCError({ code: 'CONFLICT', cause: newError() }),
    clientError: ['CONFLICT', 409],
  },
  {
    title: 'a TRPCError with a StoreError as its cause',
    create: () =>
      new TRPCError({
        code: 'SERVICE_UNAVAILABLE',
        cause: new StoreError('unavailable', message, { cause: newError() }),
      }),
    clientError: unavailable,
  },
];

/** The function that throws: a method of the store (synchronously or by its promise), or a hook called before it. */
type Place = 'the store throws' | 'the store rejects' | 'verify throws' | 'createContext throws';
const places: readonly Place[] = [
  'the store throws',
  'the store rejects',
  'verify throws',
  'createContext throws',
];

type Call = readonly [method: string, target: string, body?: unknown, header?: readonly [string, string]];

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const jsonl = ['trpc-accept', 'application/jsonl'] as const;
const pet = { name: 'Ada', categoryId: 1 };

/** Each operation on each protocol, and each response format of tRPC. */
const calls: readonly Call[] = [
  ['GET', '/v1/pets'],
  ['GET', '/v1/pets/1'],
  ['POST', '/v1/pets', pet],
  ['GET', '/trpc/listPets'],
  ['GET', `/trpc/getPet?${input({ petId: 1 })}`],
  ['POST', '/v1/pets', pet, ['Idempotency-Key', 'k']],
  ['POST', '/trpc/createPet', pet],
  ['POST', '/trpc/createPet', pet, ['Idempotency-Key', 'k']],
  ['GET', `/trpc/listPets,getPet?batch=1&${input({ 1: { petId: 1 } })}`],
  ['POST', '/trpc/createPet,createPet?batch=1', { 0: pet, 1: pet }],
  ['GET', `/trpc/listPets,getPet?batch=1&${input({ 1: { petId: 1 } })}`, undefined, jsonl],
];

const leaksIn = (text: string) => secrets.filter((secret) => text.includes(secret));

/** Summarises a response: the secrets in it, and the code and status of each error in its envelopes. */
function summaryOf([method, target, , header]: Call, received: TestResponse) {
  const text = received.body.toString();
  const errors = target.startsWith('/v1')
    ? [`${received.error().code} ${received.error().status}`]
    : [...text.matchAll(/"code":"([A-Z_]+)","httpStatus":(\d+)/g)].map((match) => `${match[1]} ${match[2]}`);
  return {
    call: `${method} ${target}`,
    leaks: leaksIn(`${JSON.stringify(received.headers)}\n${text}`),
    errors: [...new Set(errors)],
    // The head of a stream is sent before its calls fail.
    status: header === jsonl ? undefined : received.status,
    text,
  };
}

/** The expected summary of a response. */
const expectedSummary = ([method, target, , header]: Call, [code, status]: ClientError) => ({
  call: `${method} ${target}`,
  leaks: [],
  errors: [`${code} ${status}`],
  status: header === jsonl ? undefined : status,
  text: expect.stringMatching(
    target.startsWith('/v1') ? /^\{"code":"[A-Z_]+","message":"[^"]*\w[^"]*","status":\d+\}$/ : /error/,
  ),
});

describe('secrets in errors', () => {
  let listening: Server;
  let gateway: Gateway;
  let throwing: { readonly thrown: ThrownValue; readonly place: Place } | undefined;
  const agent = new Agent({ keepAlive: true, timeout: 3000 });

  const throwAt = (place: Place) => {
    // oxlint-disable-next-line typescript/only-throw-error -- careless code throws any value
    if (throwing?.place === place) throw throwing.thrown.create();
  };
  const throwOrReject = (): Promise<never> => {
    throwAt('the store throws');
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- careless code rejects with any value
    return Promise.reject(throwing?.thrown.create());
  };

  beforeAll(async () => {
    // Every method of every collection fails.
    const records = new Proxy({}, { get: () => throwOrReject });
    const store = { collection: () => records } as unknown as Store;
    gateway = await createGateway({
      router: appRouter,
      authentication: bearer({
        noun: 'API key',
        verify: async (token) => {
          throwAt('verify throws');
          return token === apiKey ? { name: 'secrets' } : undefined;
        },
      }),
      createContext: ({ response, identity, idempotencyKey }) => {
        throwAt('createContext throws');
        return { store, response, caller: identity?.name, idempotencyKey };
      },
      document: { title: 'Pet Store', version: '1.0.0' },
      mcp: mcp(),
      // The failures are intended: log nothing.
      onResponse: () => {},
    });
    listening = await listen(gateway);
  });
  afterAll(() => listening.close());

  async function send([method, target, body, header]: Call): Promise<TestResponse> {
    const headers = [authorization, contentTypeJson, ...(header ? [header] : [])];
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return sendUnchecked(agent, `http://127.0.0.1:${listening.port}`, method, target, headers, bytes, false);
  }

  it.each(places.flatMap((place) => thrownValues.map((thrown) => ({ place, thrown, title: thrown.title }))))(
    'no protocol leaks $title to clients if $place',
    async ({ place, thrown }) => {
      throwing = { place, thrown };
      // A StoreError is known only if the store throws it; from other functions it is an unexpected error.
      const isExpected = place.startsWith('the store') || !thrown.title.startsWith('a StoreError');
      const responses = await Promise.all(calls.map(async (call) => summaryOf(call, await send(call))));
      expect(responses).toEqual(
        calls.map((call) => expectedSummary(call, isExpected ? thrown.clientError : unexpected)),
      );
    },
  );

  it('the OpenAPI document contains no secret of earlier errors', async () => {
    expect(leaksIn(JSON.stringify(await gateway.document()))).toEqual([]);
    const response = await send(['GET', '/openapi.json']);
    expect(response.status).toBe(200);
    expect(leaksIn(response.body.toString())).toEqual([]);
  });
});
