import { setTimeout as sleep } from 'node:timers/promises';
import { hasRedis, startRedis } from '@petstore/testing/redis';
import { createClient } from 'redis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Random } from '../../random.ts';
import { SimulatedProcess } from '../simulatedProcess.ts';
import { SimulatedRedis } from './simulatedRedis.ts';

async function realRedis() {
  const server = await startRedis();
  onTestFinished(() => server.remove());
  return { server, newClient: () => createClient({ url: server.url }) };
}

async function simulatedRedis() {
  const server = new SimulatedRedis(new Random(Number(process.env['TEST_SEED'])));
  return { server, newClient: () => server.client(new SimulatedProcess('p')) };
}

const withoutAddress = (message: string) => message.replace(/ 127\.0\.0\.1:\d+/, '');

/** How a promise has settled. */
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value ?? 'nothing',
    (error: Error) => [error.constructor.name, withoutAddress(error.message)],
  );

describe.each([
  ['redis', hasRedis, realRedis],
  ['the simulated Redis', true, simulatedRedis],
] as const)('a client of %s', (_name, isHere, start) => {
  async function connected() {
    const { newClient, server } = await start();
    const errors: string[] = [];
    const open = async () => {
      const client = newClient();
      client.on('error', ({ message }: Error) => errors.push(withoutAddress(message)));
      await client.connect();
      onTestFinished(() => client.destroy());
      const evaluate = (script = 'return 1') => outcome(client.eval(script, { keys: [], arguments: [] }));
      return { client, evaluate };
    };
    return { ...(await open()), open, server, errors };
  }

  it.skipIf(!isHere)(
    'rejects what was sent when the server is lost, and sends later commands when it is back',
    async () => {
      const { errors, evaluate, server } = await connected();
      server.freeze();
      const sent = evaluate();
      await sleep(20);
      await server.kill();
      expect(await sent).toEqual(['Error', 'read ECONNRESET']);
      const waiting = evaluate('return 2');
      await sleep(300);
      expect(errors.slice(0, 2)).toEqual(['read ECONNRESET', 'connect ECONNREFUSED']);
      await server.start();
      expect(await waiting).toBe(2);
    },
  );

  it.skipIf(!isHere)('rejects all commands when it is destroyed, and later ones', async () => {
    const { client, evaluate, server } = await connected();
    server.freeze();
    const sent = evaluate();
    await sleep(20);
    const waiting = evaluate();
    client.destroy();
    client.destroy();
    expect(client.isOpen).toBe(false);
    const disconnected = ['DisconnectsClientError', 'Disconnects client'];
    expect([await sent, await waiting]).toEqual([disconnected, disconnected]);
    expect(await evaluate()).toEqual(['ClientClosedError', 'The client is closed']);
    expect(await outcome(client.close())).toEqual(['ClientClosedError', 'The client is closed']);
    server.resume();
  });

  it.skipIf(!isHere)('waits for replies when it is closed', async () => {
    const { client, evaluate } = await connected();
    const blocked = client.xRead({ key: 'none', id: '0-0' }, { BLOCK: 100, COUNT: 1 });
    const sent = evaluate();
    const closed = client.close();
    expect(await evaluate()).toEqual(['ClientClosedError', 'The client is closed']);
    await closed;
    expect([await blocked, await sent]).toEqual([null, 1]);
  });

  it.skipIf(!isHere)(
    'rejects connect and all commands when it is destroyed before the server greets it',
    async () => {
      const { newClient, server } = await start();
      const client = newClient();
      client.on('error', () => {});
      server.freeze();
      const connecting = outcome(client.connect());
      const waiting = outcome(client.eval('return 1', { keys: [], arguments: [] }));
      await sleep(100);
      client.destroy();
      const disconnected = ['DisconnectsClientError', 'Disconnects client'];
      expect([await connecting, await waiting]).toEqual([disconnected, disconnected]);
      server.resume();
    },
  );

  it.skipIf(!isHere)('waits in XREAD for an entry, which the script of another client adds', async () => {
    const { client, evaluate, open } = await connected();
    const reader = client.xRead({ key: 'x', id: '0-0' }, { BLOCK: 60_000, COUNT: 10 });
    const next = evaluate();
    const other = await open();
    expect(await Promise.race([reader, next, sleep(50)])).toBeUndefined();
    await other.evaluate(
      'redis.call("XADD", "x", "1", "f", "ä") return redis.call("XADD", "x", "2", "g", "", "h", "1")',
    );
    const messages = [
      { id: '1-0', message: { f: 'ä' } },
      { id: '2-0', message: { g: '', h: '1' } },
    ];
    expect(JSON.parse(JSON.stringify(await reader))).toMatchObject([{ name: 'x', messages }]);
    expect(await next).toBe(1);
  });
});
