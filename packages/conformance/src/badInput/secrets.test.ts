import { appRouter, type Store } from '@petstore/core';
import { bearer, createGateway, type Gateway } from '@petstore/gateway';
import { type Listening, serve } from '@petstore/gateway/uws';
import { type TestResponse, sendUnchecked } from '@petstore/gateway-test';
import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey, authorization, contentTypeJson } from './badRequest.ts';
import { type Failure, failures, secrets, unexpected } from './failures.ts';

/** What fails, and how: the store at once or in a promise, or what is called before it. */
type Place = 'store throws' | 'store rejects' | 'authenticate' | 'createContext';
const places: readonly Place[] = ['store throws', 'store rejects', 'authenticate', 'createContext'];

type Call = readonly [method: string, target: string, body?: unknown, header?: readonly [string, string]];

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const jsonl = ['trpc-accept', 'application/jsonl'] as const;
const pet = { name: 'Ada', categoryId: 1 };

/** Each operation on each protocol, and each form of answer that the tRPC protocol has. */
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

const shownIn = (text: string) => secrets.filter((secret) => text.includes(secret));

/** What an answer tells: each error in it has a code and a status, in whatever envelope. */
function seen([method, target, , header]: Call, received: TestResponse) {
  const text = received.body.toString();
  const errors = target.startsWith('/v1')
    ? [`${received.error().code} ${received.error().status}`]
    : [...text.matchAll(/"code":"([A-Z_]+)","httpStatus":(\d+)/g)].map((found) => `${found[1]} ${found[2]}`);
  return {
    call: `${method} ${target}`,
    shown: shownIn(`${JSON.stringify(received.headers)}\n${text}`),
    errors: [...new Set(errors)],
    // A stream's head is out before its calls have failed.
    status: header === jsonl ? undefined : received.status,
    text,
  };
}

/** What it should tell. */
const told = ([method, target, , header]: Call, { code, status }: Failure['told']) => ({
  call: `${method} ${target}`,
  shown: [],
  errors: [`${code} ${status}`],
  status: header === jsonl ? undefined : status,
  text: expect.stringMatching(
    target.startsWith('/v1') ? /^\{"code":"[A-Z_]+","message":"[^"]*\w[^"]*","status":\d+\}$/ : /error/,
  ),
});

describe('an error that holds a connection string, a path and a stack', () => {
  let listening: Listening;
  let gateway: Gateway;
  let failing: { readonly failure: Failure; readonly place: Place } | undefined;
  const agent = new Agent({ keepAlive: true, timeout: 3000 });

  const failAt = (place: Place) => {
    // oxlint-disable-next-line typescript/only-throw-error -- what careless code throws
    if (failing?.place === place) throw failing.failure.make();
  };
  const fail = (): Promise<never> => {
    failAt('store throws');
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what careless code rejects with
    return Promise.reject(failing?.failure.make());
  };

  beforeAll(async () => {
    // Whatever a procedure asks of it fails.
    const records = new Proxy({}, { get: () => fail });
    const store = { collection: () => records } as unknown as Store;
    gateway = await createGateway({
      router: appRouter,
      authentication: bearer({
        noun: 'API key',
        verify: async (token) => {
          failAt('authenticate');
          return token === apiKey ? { name: 'secrets' } : undefined;
        },
      }),
      createContext: ({ response, identity, idempotencyKey }) => {
        failAt('createContext');
        return { store, response, caller: identity?.name, idempotencyKey };
      },
      document: { title: 'Pet Store', version: '1.0.0' },
      // Procedures fail here as they are meant to: nothing is to be printed.
      onResponse: () => {},
    });
    listening = await serve(gateway);
  });
  afterAll(() => listening.close());

  async function send([method, target, body, header]: Call): Promise<TestResponse> {
    const headers = [authorization, contentTypeJson, ...(header ? [header] : [])];
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return sendUnchecked(agent, `http://127.0.0.1:${listening.port}`, method, target, headers, bytes, false);
  }

  it.each(places.flatMap((place) => failures.map((failure) => ({ place, failure, what: failure.what }))))(
    'is shown on no protocol: $place, $what',
    async ({ place, failure }) => {
      failing = { place, failure };
      // A StoreError is one only where the store is asked; elsewhere it is as unexpected as any.
      const isExpected = place.startsWith('store') || !failure.what.startsWith('a StoreError');
      const responses = await Promise.all(calls.map(async (call) => seen(call, await send(call))));
      expect(responses).toEqual(calls.map((call) => told(call, isExpected ? failure.told : unexpected)));
    },
  );

  it('is not in the document, whatever failed before it was made', async () => {
    expect(shownIn(JSON.stringify(await gateway.document()))).toEqual([]);
    const response = await send(['GET', '/openapi.json']);
    expect(response.status).toBe(200);
    expect(shownIn(response.body.toString())).toEqual([]);
  });
});
