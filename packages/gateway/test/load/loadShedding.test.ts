import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { validKey, startEdge, type EdgeOptions } from '../edge/startEdge.ts';
import { bearer } from '@petstore/gateway';

/** How long each request keeps the server from all others, in milliseconds. */
const busyMs = 20;
/** Beyond `maxQueueMs` together. */
const clients = 10;

function keepBusy() {
  const end = performance.now() + busyMs;
  while (performance.now() < end);
}

const startBusy = (options: EdgeOptions = {}) => {
  needs('load shedding');
  return startEdge({
    maxQueueMs: 50,
    authentication: bearer({
      verify(token) {
        keepBusy();
        return token === 'good-key' ? { name: 'Ada' } : undefined;
      },
    }),
    ...options,
  });
};

const times = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

/** So many clients at once, each of which asks again as soon as it is answered: the queue stands. */
async function press(send: () => Promise<Response>, rounds = 10): Promise<Response[]> {
  const responses = times(clients, async () => {
    const answered: Response[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const response = await send();
      await response.clone().arrayBuffer();
      answered.push(response);
    }
    return answered;
  });
  return (await Promise.all(responses)).flat();
}

const isRefused = ({ status }: Response) => status === 503;
const message = 'The server is overloaded. Try again later.';

describe('requests that wait too long, behind others that did', () => {
  it('are answered 503 over REST, in the usual form, before their credential is looked at', async () => {
    let lookedUp = 0;
    const { send: call, records } = await startBusy({
      cors: { origins: ['https://pets.example'] },
      authentication: bearer({
        verify() {
          lookedUp += 1;
          keepBusy();
          return { name: 'Ada' };
        },
      }),
    });
    const responses = await press(() => call('/v1/list', { headers: { origin: 'https://pets.example' } }));
    const refused = responses.filter(isRefused);
    expect(refused.length).toBeGreaterThan(0);
    expect(lookedUp).toBe(responses.length - refused.length);
    for (const { headers } of refused) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/json',
        'retry-after': '1',
        'x-request-id': expect.any(String),
        'access-control-allow-origin': 'https://pets.example',
      });
    }
    // One alone, however many were refused before: they share an answer.
    for (const { headers } of refused) expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    expect(new Set(refused.map(({ headers }) => headers.get('x-request-id'))).size).toBe(refused.length);
    expect(await refused[0]?.json()).toEqual({ code: 'SERVICE_UNAVAILABLE', message, status: 503 });
    const shed = records.filter(({ limit }) => limit === 'queue-time');
    expect(shed).toHaveLength(refused.length);
    expect(shed.every(({ status, error }) => status === 503 && error === undefined)).toBe(true);
  });

  it('are answered 503 over tRPC as one error that every link understands', async () => {
    const { send } = await startBusy();
    const refused = (await press(() => send('/trpc/list,list?batch=1'))).filter(isRefused);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(await refused[0]?.json()).toMatchObject({
      error: { message, data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } },
    });
  });

  it('are served as soon as the others have gone', async () => {
    const { send } = await startBusy();
    expect((await press(() => send('/v1/list'))).some(isRefused)).toBe(true);
    expect((await send('/v1/list')).status).toBe(200);
  });

  it('are served where they are for pages or preflights', async () => {
    const { send } = await startBusy();
    const pressed = press(() => send('/v1/list'), 12);
    const others: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      others.push((await send('/page')).status, (await send('/v1/list', { method: 'OPTIONS' })).status);
    }
    expect((await pressed).some(isRefused)).toBe(true);
    expect(others).toEqual(times(20, () => [200, 204]).flat());
  });

  it('are served where the limit is lifted', async () => {
    const { send } = await startBusy({ maxQueueMs: Infinity });
    expect((await press(() => send('/v1/list'))).some(isRefused)).toBe(false);
  });

  it('are served where they wait in no socket, but call the gateway in this process', async () => {
    const { send, gateway } = await startBusy();
    const request = {
      method: 'GET',
      path: '/v1/list',
      query: '',
      header: (name: string) => (name === 'authorization' ? validKey : undefined),
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof gateway.handle>[0];
    const pressed = press(() => send('/v1/list'));
    const responses = await Promise.all(times(clients, async () => gateway.handle(request)));
    expect((await pressed).some(isRefused)).toBe(true);
    await sleep(0);
    responses.push(...(await Promise.all(times(clients, async () => gateway.handle(request)))));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  });

  it('include those that would open a WebSocket', async () => {
    // Whoever is read behind one other has waited longer.
    const { send, dial } = await startBusy({ maxQueueMs: 5 });
    const dialled = new Set<number>();
    // This process does all of it: where it gets little of the machine no socket may come at the right time.
    for (let attempt = 0; attempt < 5 && !dialled.has(503); attempt += 1) {
      const pressing = new AbortController();
      void press(() => send('/v1/list'), 12).then(() => pressing.abort());
      while (!pressing.signal.aborted) {
        for (const { status } of await Promise.all(times(10, () => dial()))) dialled.add(status);
      }
    }
    dialled.add((await dial()).status);
    expect(dialled).toEqual(new Set([101, 503]));
  });
});

describe('a lone burst', () => {
  it('is served whole, and so is the next', async () => {
    const { send } = await startBusy();
    for (let round = 0; round < 2; round += 1) {
      expect((await press(() => send('/v1/list'), 1)).some(isRefused)).toBe(false);
      await sleep(250);
    }
  });
});
