import type { Animal, AppRouter } from '@petstore/core';
import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client';
import { describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../client.ts';
import type { Subject } from '../subject.ts';

/** The JSON-RPC error numbers of tRPC's codes (`TRPC_ERROR_CODES_BY_KEY` in `@trpc/server`). */
const NUMBERS = {
  BAD_REQUEST: -32600,
  UNAUTHORIZED: -32001,
  NOT_FOUND: -32004,
  METHOD_NOT_SUPPORTED: -32005,
  PAYLOAD_TOO_LARGE: -32013,
} as const;

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;

/** The complete error envelope of tRPC. */
const envelope = (code: keyof typeof NUMBERS, httpStatus: number, path?: string) => ({
  error: {
    message: expect.stringMatching(/\w/),
    code: NUMBERS[code],
    data: { code, httpStatus, ...(path !== undefined && { path }) },
  },
});

/** The animal in the response to a single call. */
function resultOf(response: ReceivedResponse): Animal {
  const body: { result: { data: Animal } } = JSON.parse(response.body.toString());
  return body.result.data;
}

const createResult = ({ name, categoryId }: { name: string; categoryId: number }) => ({
  result: { data: { id: expect.any(Number), name, categoryId } },
});

/**
 * Declares the cases about `/trpc`: docs/decisions.md#trpc. The differential suite compares the other behaviour with the
 * official adapter, byte by byte.
 */
export function rpcCases(subject: Subject): void {
  describe('docs/decisions.md#trpc', () => {
    it('GET /trpc/PROCEDURE answers a query', async () => {
      const { client } = subject;
      const animal = await client.create({ status: 'sold' });
      const received = await client.get(
        `/trpc/listPets?${input({ limit: 1, cursor: animal.id - 1, status: 'sold' })}`,
      );
      expect(received).toHaveStatus(200);
      expect(received.json()).toEqual({ result: { data: [animal] } });
      const one = await client.get(`/trpc/getPet?${input({ petId: animal.id })}`);
      expect(one.json()).toEqual({ result: { data: animal } });
    });

    it('POST /trpc/PROCEDURE answers a mutation', async () => {
      const { client } = subject;
      const response = await client.send('POST', '/trpc/createPet', { body: { name: 'Ada', categoryId: 1 } });
      expect(response).toHaveStatus(200);
      const { id } = resultOf(response);
      expect((await client.get(`/v1/pets/${id}`)).json()).toEqual({ id, name: 'Ada', categoryId: 1 });
    });

    it('a batch of queries returns the results in the order of the calls', async () => {
      const { client } = subject;
      const [a, b] = [await client.create({}), await client.create({ status: 'sold' })];
      const inputs = { 0: { petId: b.id }, 1: { limit: 1, cursor: a.id - 1 }, 2: { petId: a.id } };
      const response = await client.get(`/trpc/getPet,listPets,getPet?batch=1&${input(inputs)}`);
      expect(response).toHaveStatus(200);
      expect(response.json()).toEqual([
        { result: { data: b } },
        { result: { data: [a] } },
        { result: { data: a } },
      ]);
    });

    it('a batch of mutations runs each of them', async () => {
      const body = { 0: { name: 'Ada', categoryId: 1 }, 1: { name: 'Eve', categoryId: 2 } };
      const response = await subject.client.send('POST', '/trpc/createPet,createPet?batch=1', { body });
      expect(response).toHaveStatus(200);
      expect(response.json()).toEqual([createResult(body[0]), createResult(body[1])]);
    });

    it('a batch in which calls fail answers 207 with a result or an error for each call', async () => {
      const { client } = subject;
      const { id } = await client.create({});
      const inputs = { 0: { petId: id }, 1: { petId: Number.MAX_SAFE_INTEGER }, 2: { petId: 'x' } };
      const response = await client.get(`/trpc/getPet,getPet,getPet?batch=1&${input(inputs)}`);
      expect(response).toHaveStatus(207);
      expect(response.json()).toEqual([
        { result: { data: expect.objectContaining({ id }) } },
        envelope('NOT_FOUND', 404, 'getPet'),
        envelope('BAD_REQUEST', 400, 'getPet'),
      ]);
    });

    it('createPet omits the status of an animal created without one', async () => {
      const { client } = subject;
      const response = await client.send('POST', '/trpc/createPet', { body: { name: 'Ada', categoryId: 1 } });
      expect(resultOf(response)).not.toHaveProperty('status');
    });

    it('createPet rejects a lone surrogate in a name with 400', async () => {
      const response = await subject.client.send('POST', '/trpc/createPet', {
        body: '{"name":"\\ud800","categoryId":1}',
      });
      expect(response).toHaveStatus(400);
      expect(response.json()).toEqual(envelope('BAD_REQUEST', 400, 'createPet'));
    });

    it('createPet accepts a name of 1,000 characters, even if they are 2,000 UTF-16 code units', async () => {
      for (const name of ['a'.repeat(1_000), '🐶'.repeat(1_000)]) {
        const response = await subject.client.send('POST', '/trpc/createPet', {
          body: { name, categoryId: 1 },
        });
        expect(response).toHaveStatus(200);
        expect(resultOf(response).name).toBe(name);
      }
    });

    it.each(['a', '🐶'])('createPet rejects a name of 1,001 times %s with 400', async (character) => {
      const body = { name: character.repeat(1_001), categoryId: 1 };
      const response = await subject.client.send('POST', '/trpc/createPet', { body });
      expect(response).toHaveStatus(400);
      const parsed: { error: { message: string } } = JSON.parse(response.body.toString());
      expect(parsed).toEqual(envelope('BAD_REQUEST', 400, 'createPet'));
      expect(parsed.error.message).toMatch(/name.*at most 1000 characters/s);
    });

    it.each([
      [404, 'NOT_FOUND', 'GET', '/trpc/nothing', 'nothing', undefined],
      [
        404,
        'NOT_FOUND',
        'GET',
        `/trpc/getPet?${input({ petId: Number.MAX_SAFE_INTEGER })}`,
        'getPet',
        undefined,
      ],
      [400, 'BAD_REQUEST', 'GET', `/trpc/listPets?${input({ limit: 101 })}`, 'listPets', undefined],
      [400, 'BAD_REQUEST', 'GET', '/trpc/listPets?input=%7B', 'listPets', undefined],
      [400, 'BAD_REQUEST', 'POST', '/trpc/createPet', 'createPet', '{'],
      [405, 'METHOD_NOT_SUPPORTED', 'GET', '/trpc/createPet', 'createPet', undefined],
      [405, 'METHOD_NOT_SUPPORTED', 'POST', '/trpc/listPets', 'listPets', {}],
    ] as const)('tRPC answers %d %s to %s %s', async (status, code, method, target, path, body) => {
      const response = await subject.client.send(method, target, { body });
      expect(response).toHaveStatus(status);
      expect(response.json()).toEqual(envelope(code, status, path));
    });

    it('createPet answers 413 to a body over maxBodySize', async () => {
      const client = await subject.start({ maxBodySize: 1000 });
      const body = { name: 'x'.repeat(1000), categoryId: 1 };
      const response = await client.send('POST', '/trpc/createPet', { body });
      expect(response).toHaveStatus(413);
      expect(response.json()).toMatchObject({
        error: { data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } },
      });
      expect(await client.list()).toEqual([]);
    });
  });

  describe('docs/decisions.md#trpc: on /trpc the credential is checked first', () => {
    it.each([
      ['a query', 'GET', `/trpc/listPets?${input({})}`, undefined],
      ['a mutation', 'POST', '/trpc/createPet', { name: 'Ada', categoryId: 1 }],
      ['a batch', 'GET', `/trpc/listPets,listPets?batch=1&${input({ 0: {}, 1: {} })}`, undefined],
      ['a batch of mutations', 'POST', '/trpc/createPet,createPet?batch=1', { 0: {}, 1: {} }],
      ['an unknown procedure', 'GET', '/trpc/nothing', undefined],
      ['no procedure', 'GET', '/trpc', undefined],
      ['a wrong method', 'GET', '/trpc/createPet', undefined],
      ['an unknown method', 'DELETE', '/trpc/listPets', undefined],
      ['malformed JSON', 'POST', '/trpc/createPet', '{'],
      ['malformed input', 'GET', '/trpc/listPets?input=%zz', undefined],
    ] as const)(
      'a missing or invalid credential gets 401 and a single envelope: %s',
      async (_what, method, target, body) => {
        for (const authorization of [null, 'Bearer unknown']) {
          const response = await subject.client.send(method, target, { body, authorization });
          expect(response).toHaveStatus(401);
          // `path` is optional here: the procedure need not be known yet.
          expect(response.json()).toEqual({
            error: {
              message: expect.stringMatching(/\w/),
              code: NUMBERS.UNAUTHORIZED,
              data: expect.objectContaining({ code: 'UNAUTHORIZED', httpStatus: 401 }),
            },
          });
          const challenge = response.header('www-authenticate');
          expect(challenge).toMatch(
            authorization === null ? /^Bearer realm="petstore"$/ : /error="invalid_token"/,
          );
        }
      },
    );

    it('createPet checks the credential before the media type', async () => {
      const sending = { body: 'x', contentType: 'text/plain' };
      const response = await subject.client.send('POST', '/trpc/createPet', {
        ...sending,
        authorization: null,
      });
      expect(response).toHaveStatus(401);
    });

    it('tRPC is not served under /v1, nor REST under /trpc', async () => {
      expect(await subject.client.get('/v1/listPets')).toBeError(404);
      expect(await subject.client.get('/trpc/pets')).toHaveStatus(404);
    });
  });

  describe.each([
    ['httpLink', httpLink],
    ['httpBatchLink', httpBatchLink],
  ])('docs/decisions.md#trpc: @trpc/client with %s', (linkName, link) => {
    function rpc(key: string | null) {
      const { origin } = subject.client;
      const headers = key === null ? {} : { authorization: `Bearer ${key}` };
      return createTRPCClient<AppRouter>({ links: [link({ url: `${origin}/trpc`, headers })] });
    }

    it(`@trpc/client with ${linkName} creates, lists and gets animals`, async () => {
      const client = rpc(subject.client.apiKey);
      const animal = await client.createPet.mutate({ name: 'Ada', categoryId: 3, status: 'pending' });
      expect(animal).toEqual({ id: expect.any(Number), name: 'Ada', categoryId: 3, status: 'pending' });
      // Concurrent calls: httpBatchLink sends them as one batch.
      const [one, page] = await Promise.all([
        client.getPet.query({ petId: animal.id }),
        client.listPets.query({ cursor: animal.id - 1, limit: 1 }),
      ]);
      expect(one).toEqual(animal);
      expect(page).toEqual([animal]);
    });

    it(`@trpc/client with ${linkName} reads all pages by the cursor of an infinite query`, async () => {
      const client = rpc(subject.client.apiKey);
      const { id: cursor } = await client.createPet.mutate({ name: 'first', categoryId: 1 });
      const created = await Promise.all(
        Array.from({ length: 7 }, () =>
          client.createPet.mutate({ name: 'Ada', categoryId: 1, status: 'sold' }),
        ),
      );
      const received: Animal[] = [];
      for (let after: number | undefined = cursor; after !== undefined;) {
        const page: Animal[] = await client.listPets.query({ limit: 3, status: 'sold', cursor: after });
        received.push(...page);
        after = page.length === 3 ? page.at(-1)?.id : undefined;
      }
      expect(received).toEqual(created.toSorted((a, b) => a.id - b.id));
    });

    it.each([
      ['no key', 'UNAUTHORIZED', null, 1],
      ['an unknown key', 'UNAUTHORIZED', 'unknown', 1],
      ['an unknown animal', 'NOT_FOUND', undefined, Number.MAX_SAFE_INTEGER],
      ['a fraction as petId', 'BAD_REQUEST', undefined, 1.5],
    ] as const)(
      `@trpc/client with ${linkName} narrows the error of a call with %s by data.code to %s`,
      async (_what, code, key, petId) => {
        const client = rpc(key === undefined ? subject.client.apiKey : key);
        const error: unknown = await client.getPet.query({ petId }).catch((reason: unknown) => reason);
        if (!(error instanceof TRPCClientError))
          throw new Error('It did not fail as tRPC fails.', { cause: error });
        // `instanceof` cannot narrow to the router: without the annotation `data` is `any`.
        const { data }: TRPCClientError<AppRouter> = error;
        expect(data?.code).toBe(code);
        expect(data).not.toHaveProperty('stack');
      },
    );
  });
}
