import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, test, vi } from 'vitest';
import { turn as serverTurn } from '../http/turn.ts';
import { inProcessRequest } from '../testing/inProcessRequest.ts';
import { createLoadShedding } from './loadShedding.ts';

const clock = { ms: 1000 };
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => clock.ms));

test('createLoadShedding does not load undici, which takes 6 MB', async () => {
  const from = JSON.stringify(new URL('loadShedding.ts', import.meta.url).href);
  const code = `
    import { createLoadShedding } from ${from};
    const shed = createLoadShedding(50);
    const request = { method: 'GET' };
    shed(request);
    // After 50 ms, the message of the first probe has arrived.
    setTimeout(() => console.log(shed(request), process.moduleLoadList.filter((name) => name.endsWith('undici/undici'))), 50);
  `;
  const flags = ['--conditions=trpc-gateway-source', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  expect(stdout).toBe('undefined []\n');
});

describe('createLoadShedding', () => {
  const request = inProcessRequest('GET', '/v1/pets');
  /** Lets the message of a probe arrive. */
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

  /** Creates the load shedding, and a function that returns the last rejection after the queue has had a length for a while. */
  function start() {
    const shed = createLoadShedding(50);
    const rejectedAfter = async (queueMs: number, turns: number) => {
      let rejection: ReturnType<typeof shed>;
      for (let count = 0; count < turns; count += 1) {
        shed(request);
        clock.ms += queueMs;
        rejection = shed(request);
        await turn();
      }
      return rejection;
    };
    return { shed, rejectedAfter };
  }

  it('requests that have waited longer than maxQueueMs are rejected with 503 after half a second', async () => {
    const { rejectedAfter } = start();
    expect(await rejectedAfter(51, 9)).toBeUndefined();
    expect(await rejectedAfter(51, 1)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      limit: 'queue-time',
      message: 'The server is overloaded. Try again later.',
      retryAfterSeconds: 1,
    });
  });

  it('requests that have waited exactly maxQueueMs are served', async () => {
    expect(await start().rejectedAfter(50, 40)).toBeUndefined();
  });

  it('a pause of several seconds rejects nothing', async () => {
    const { rejectedAfter } = start();
    expect(await rejectedAfter(5000, 1)).toBeUndefined();
    expect(await rejectedAfter(20, 5)).toBeUndefined();
    expect(await rejectedAfter(5000, 1)).toBeUndefined();
  });

  it('a queue that was shorter than half of maxQueueMs is rejected only after another half second', async () => {
    const { rejectedAfter } = start();
    expect(await rejectedAfter(51, 20)).toBeDefined();
    expect(await rejectedAfter(24, 1)).toBeUndefined();
    expect(await rejectedAfter(51, 9)).toBeUndefined();
    expect(await rejectedAfter(51, 2)).toBeDefined();
  });

  it('a queue that is still longer than half of maxQueueMs is rejected again at once', async () => {
    const { rejectedAfter } = start();
    expect(await rejectedAfter(51, 20)).toBeDefined();
    expect(await rejectedAfter(26, 1)).toBeUndefined();
    expect(await rejectedAfter(51, 1)).toBeDefined();
  });

  it('a queue of requests beyond the budget of a turn counts, although their sockets were read', async () => {
    const { shed } = start();
    for (let round = 0; round < 10; round += 1) {
      shed(request);
      const handled = Promise.withResolvers<void>();
      // 100 ms of work, in ten turns.
      for (let count = 0; count < 5000; count += 1) serverTurn.laterRequest(() => (clock.ms += 0.02));
      serverTurn.laterRequest(handled.resolve);
      await handled.promise.then(turn);
    }
    shed(request);
    clock.ms += 51;
    expect(shed(request)).toBeDefined();
  });

  it('OPTIONS is served while other methods are rejected', async () => {
    const { shed, rejectedAfter } = start();
    await rejectedAfter(51, 20);
    shed(request);
    clock.ms += 51;
    expect(shed(inProcessRequest('OPTIONS', '/v1/pets'))).toBeUndefined();
    expect(shed(request)).toBeDefined();
  });
});
