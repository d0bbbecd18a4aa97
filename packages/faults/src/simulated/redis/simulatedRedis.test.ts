import FakeTimers from '@sinonjs/fake-timers';
import { redisState } from 'trpc-gateway-shared/state/redis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  collect,
  keepAll,
  numbers,
  openRedisLog,
  received,
  textsOf,
} from '../../../../shared/src/events/testing/collect.ts';
import { describeEventLog } from '../../../../shared/src/events/testing/eventLogContract.ts';
import { describeState } from '../../../../shared/src/state/testing/stateContract.ts';
import { Random } from '../../random.ts';
import { SimulatedProcess } from '../simulatedProcess.ts';
import { SimulatedRedis } from './simulatedRedis.ts';

const newRedis = () => new SimulatedRedis(new Random(Number(process.env['TEST_SEED'])));

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeState('in a simulated Redis', async () => {
  const redis = newRedis();
  const reopen = async () => {
    const state = await redisState({ connect: () => redis.client(new SimulatedProcess('p')) });
    onTestFinished(() => state.close());
    return state;
  };
  return { state: await reopen(), reopen };
});

describeEventLog('in a simulated Redis', async () => {
  const redis = newRedis();
  const reopen = async () => openRedisLog(() => redis.client(new SimulatedProcess('p')), 'events');
  return { log: await reopen(), reopen };
});

it('after a failover to a replica that lacks an event, its id leads to a resync', async () => {
  const redis = newRedis();
  const log = openRedisLog(() => redis.client(new SimulatedProcess('p')));
  await log.append('a', '1', keepAll);
  await wait(300);
  const lost = await log.append('a', '2', keepAll);
  redis.failover(250);
  await vi.waitFor(() => log.append('a', '3', keepAll));
  await log.append('a', '4', keepAll);
  const items = collect(log, 'a', lost);
  await received(items, '4');
  expect(textsOf(items)).toEqual(['(resync)', '3', '4']);
});

it('a process whose network was frozen for more changes than Redis keeps wakes all its readers', async () => {
  const redis = newRedis();
  const [writer, reader] = [new SimulatedProcess('p1'), new SimulatedProcess('p2')];
  const log = openRedisLog(() => redis.client(writer), 'events');
  const items = collect(
    openRedisLog(() => redis.client(reader), 'events'),
    'a',
  );
  await received(items, '(joined)');
  // Then it has read its channel, and waits in XREAD, which event 0 answers: the next one begins when the network is back.
  await wait(50);
  redis.link(reader).freeze();
  await log.append('b', '0', keepAll);
  await log.append('a', '1', keepAll);
  await Promise.all(numbers(1, 1200).map((event) => log.append('b', event, keepAll)));
  redis.link(reader).resume();
  await vi.waitFor(() => expect(textsOf(items).at(-1)).toBe('1'), 5000);
  expect(textsOf(items)).toEqual(['(joined)', '1']);
});

describe('a server', () => {
  /** Adds an entry, and reads them all: those that were added, by name. */
  const script = `
if ARGV[1] then redis.call('XADD', 'x', '*', 'name', ARGV[1]) end
local names = {}
for _, entry in ipairs(redis.call('XRANGE', 'x', '-', '+')) do names[#names + 1] = entry[2][2] end
return names`;
  const clientOf = async (redis: SimulatedRedis, process = new SimulatedProcess('p')) => {
    const client = redis.client(process);
    client.on('error', () => {});
    await client.connect();
    onTestFinished(() => client.destroy());
    return (...names: string[]) => client.eval(script, { keys: [], arguments: names });
  };

  it('may receive what a process sent before it was killed, and the process never learns of it', async () => {
    const outcomes = new Set<number>();
    for (let seed = 1; seed <= 20; seed += 1) {
      const redis = new SimulatedRedis(new Random(seed));
      const process = new SimulatedProcess('p1');
      const add = await clientOf(redis, process);
      let hasSettled = false;
      const sent = add('a').finally(() => (hasSettled = true));
      // The client writes at the end of the turn.
      await new Promise((resolve) => setImmediate(resolve));
      process.kill();
      await Promise.race([sent, wait(6)]);
      outcomes.add(((await (await clientOf(redis))()) as string[]).length);
      expect(hasSettled).toBe(false);
    }
    expect(outcomes).toEqual(new Set([0, 1]));
  });

  it('loses what was written last when it is killed without it, and executes a command whose reply is lost', async () => {
    const redis = newRedis();
    const process = new SimulatedProcess('p1');
    const add = await clientOf(redis, process);
    await add('a');
    await wait(300);
    expect(await add('b')).toEqual(['a', 'b']);
    redis.kill(250);
    redis.start();
    // The first command may find the connection lost.
    await vi.waitFor(() => add());
    expect(await add('d')).toEqual(['a', 'd']);
    redis.link(process).dropReplies();
    await expect(add('e')).rejects.toThrow('read ECONNRESET');
    expect(await add('f')).toEqual(['a', 'd', 'e', 'f']);
    redis.kill(Infinity);
    redis.start();
    await vi.waitFor(() => add());
    expect(await add('g')).toEqual(['g']);
  });
});

/** What happens to two processes and a server at random in 20 s of virtual time. */
async function historyOf(seed: number): Promise<string[]> {
  const clock = FakeTimers.install({ now: 1_700_000_000_000 });
  try {
    const random = new Random(seed);
    const redis = new SimulatedRedis(random);
    const history: string[] = [];
    const note = (what: string) => void history.push(`${Date.now()} ${what}`);
    const work = async (name: string) => {
      const process = new SimulatedProcess(name);
      const client = redis.client(process);
      client.on('error', ({ message }: Error) => note(`${name} ${message}`));
      client.connect().catch(() => {});
      void (async () => {
        for (let at = 0; ; at += 1) {
          const options = { keys: ['x'], arguments: [`${name} ${at}`] };
          const script = `redis.call('SET', ARGV[1], '1') return redis.call('XADD', KEYS[1], 'MAXLEN', '~', 5, '*', 'n', ARGV[1])`;
          await client.eval(script, options).then(
            (id) => note(`${name} ${at} ${String(id)}`),
            ({ message }: Error) => note(`${name} ${at} ${message}`),
          );
          const read = await client
            .xRead({ key: 'x', id: '0-0' }, { BLOCK: 50, COUNT: 3 })
            .catch(() => 'lost');
          note(`${name} ${JSON.stringify(read)}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      return process;
    };
    const processes = [await work('p1'), await work('p2')];
    for (let step = 0; step < 40; step += 1) {
      await clock.tickAsync(random.from(1, 1000));
      const [at, ms] = [random.below(2), random.from(0, 500)];
      const process = processes[at] as SimulatedProcess;
      const link = redis.link(process);
      const faults: readonly (() => unknown)[] = [
        () => redis.kill(random.pick([0, ms, Infinity])),
        () => redis.start(),
        () => redis.freeze(),
        () => redis.resume(),
        () => redis.failover(ms),
        () => redis.flush(),
        () => redis.evict(0.5),
        () => link.cut(),
        () => link.mend(),
        () => link.freeze(),
        () => link.resume(),
        () => link.dropReplies(),
        () => (link.delayMs = random.below(30)),
        async () => {
          process.kill();
          processes[at] = await work(`${process.name}'`);
        },
      ];
      const fault = random.pick(faults);
      note(String(fault));
      await fault();
    }
    return history;
  } finally {
    clock.uninstall();
  }
}

it('the same seed gives the same history, and others give others', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const history = await historyOf(seed);
    expect(await historyOf(seed)).toEqual(history);
    expect(await historyOf(seed + 100)).not.toEqual(history);
  }
});
