import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { apiKey, newFolder } from './testing/newFolder.ts';
import { logLines } from './testing/petStoreProcess.ts';
import { innerText, storeFaults, type StoreFault } from './testing/storeFaults.ts';

const entry = fileURLToPath(new URL('testing/failingServer.ts', import.meta.url));

/** The response to each injected fault. */
const responses: Partial<Record<StoreFault, readonly [status: number, code: string]>> = {
  unavailable: [503, 'SERVICE_UNAVAILABLE'],
  full: [503, 'SERVICE_UNAVAILABLE'],
  forbidden: [503, 'SERVICE_UNAVAILABLE'],
  'outcome-unknown': [504, 'GATEWAY_TIMEOUT'],
  damaged: [500, 'INTERNAL_SERVER_ERROR'],
  incompatible: [500, 'INTERNAL_SERVER_ERROR'],
  bug: [500, 'INTERNAL_SERVER_ERROR'],
};
/** The response to each fault of a key lookup: while keys cannot be read, a key cannot be verified. */
const keyResponses = {
  ...responses,
  'outcome-unknown': [503, 'SERVICE_UNAVAILABLE'],
  damaged: [503, 'SERVICE_UNAVAILABLE'],
  incompatible: [503, 'SERVICE_UNAVAILABLE'],
} as typeof responses;

const pet = { name: 'Rex', categoryId: 1 };
const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});

interface Call {
  readonly target: string;
  readonly init?: {
    readonly method: string;
    readonly body: string;
    readonly headers: Record<string, string>;
  };
}

/** Each store method that a request reaches, with a call over each protocol that reaches it. */
const rows: readonly [method: string, rest: Call, rpc: Call, expected: typeof responses][] = [
  [
    'create',
    { target: '/v1/pets', init: post(pet) },
    { target: '/trpc/createPet', init: post(pet) },
    responses,
  ],
  [
    'createOnce',
    { target: '/v1/pets', init: post(pet, { 'idempotency-key': 'once' }) },
    { target: '/trpc/createPet', init: post(pet, { 'idempotency-key': 'once' }) },
    responses,
  ],
  ['get', { target: '/v1/pets/1' }, { target: '/trpc/getPet?input={"petId":1}' }, responses],
  ['list', { target: '/v1/pets' }, { target: '/trpc/listPets?input={}' }, responses],
  ['keys.find', { target: '/v1/pets' }, { target: '/trpc/listPets?input={}' }, keyResponses],
];

describe.each(rows)('a failing %s', (method, rest, rpc, expected) => {
  test(`a failing ${method} gets a JSON error and a log line with the request id, and stores nothing`, async () => {
    const { serve } = await newFolder();
    const server = await serve({ entry, env: { FAILING: method, LOG_REQUESTS: 'all' } });
    // A stored key: the key of the environment is never looked up.
    const [key = ''] = /psk_[\w-]{43}/.exec(server.stderr()) ?? [];
    const send = ({ target, init }: Call) =>
      fetch(server.origin + target, {
        ...init,
        headers: { ...init?.headers, authorization: `Bearer ${key}` },
      });

    for (const call of [rest, rpc]) {
      for (const fault of storeFaults) {
        const response = await send(call);
        const [status, code] = expected[fault] ?? [];
        const text = await response.text();
        const body: unknown = JSON.parse(text);
        expect({ fault, status: response.status }).toEqual({ fault, status });
        expect(body).toMatchObject(
          call === rest ? { code, status } : { error: { data: { code, httpStatus: status } } },
        );
        expect(text).not.toContain(innerText);
        const requestId = response.headers.get('x-request-id');
        await vi.waitFor(() => {
          const line = logLines(server).find((each) => each.requestId === requestId);
          expect(JSON.stringify(line)).toContain(innerText);
        });
      }
    }

    // Nothing fails any more: the failed calls had no effect.
    expect(await (await send({ target: '/v1/pets' })).json()).toEqual([]);
    const created = await send({ target: '/v1/pets', init: post(pet, { 'idempotency-key': 'once' }) });
    expect([created.status, created.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(await (await send({ target: '/v1/pets' })).json()).toHaveLength(1);
  });
});

test('a failing keys.touch does not fail calls', async () => {
  const { serve } = await newFolder();
  const server = await serve({ entry, env: { FAILING: 'keys.touch' } });
  const [key = ''] = /psk_[\w-]{43}/.exec(server.stderr()) ?? [];
  const received = await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  expect(received.status).toBe(200);
});

test('a failing ready gives /readyz a one-word reason, and /healthz is 200', async () => {
  const { serve } = await newFolder();
  const { origin } = await serve({ entry, env: { FAILING: 'ready', API_KEY: apiKey } });
  const reasons: unknown[] = [];
  for (const _ of storeFaults) reasons.push(await (await fetch(`${origin}/readyz`)).json());
  expect(reasons).toEqual(
    storeFaults.map((fault) => ({ status: 'unavailable', reason: fault === 'bug' ? 'unknown' : fault })),
  );
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
});

test('a failing keys.addFirst ends the start with an error message, and the next start creates the key', async () => {
  const { start, serve } = await newFolder();
  const failedStart = start({ entry, env: { FAILING: 'keys.addFirst' } });
  expect(await failedStart.exited).toEqual({ code: 1, signal: null });
  expect(failedStart.stderr()).toBe(`${innerText}.\n`);
  expect((await serve()).stderr()).toMatch(/psk_/);
});
