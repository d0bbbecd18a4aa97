import { hasRedis, startRedis } from '@petstore/testing/redis';
import { createClient } from 'redis';
import { redisState } from 'trpc-gateway-shared/state/redis';
import { expect, it, onTestFinished } from 'vitest';
import { openRedisLog } from '../../../../shared/src/events/testing/collect.ts';
import { describeEventLog } from '../../../../shared/src/events/testing/eventLogContract.ts';
import { describeState } from '../../../../shared/src/state/testing/stateContract.ts';
import { Random } from '@petstore/testing/random';
import { SimulatedProcess } from '../simulatedProcess.ts';
import { SimulatedRedis } from './simulatedRedis.ts';

const newRedis = () => new SimulatedRedis(new Random(Number(process.env['TEST_SEED'])));

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

/** Scripts with their arguments, and what both return. */
const scripts: readonly (readonly [script: string, args: readonly string[], result: unknown])[] = [
  ['return { 3.99, 0 - 3.99, true, false, "x" }', [], [3, -3, 1, null, 'x']],
  ['return { 1, nil, 3 }', [], [1]],
  ['return { redis.call("GET", "none"), redis.call("GET", "none") == false }', [], [null, 1]],
  ['return redis.call("SET", "a", "b")', [], 'OK'],
  ['return redis.call("SET", "a", "b", "NX")', [], null],
  ['if 0 then if "" then return "both" end end return "one"', [], 'both'],
  ['return { not nil, not 0, 1 == "1", "a" < "b", "2" < "10" }', [], [1, null, null, 1, null]],
  ['return { nil or "x", false and 1 or "y", 1 and 2 }', [], ['x', 'y', 2]],
  [
    'return { "10" + 1, #ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]) > 5 }',
    ['ä', ' 12 ', 'Infinity'],
    [11, 2, 12, 1],
  ],
  ['local t = nil return t[1]', [], 'attempt to index'],
  ['return 1 < "2"', [], 'attempt to compare'],
  ['local a, b = string.match(ARGV[1], "(%d+) (.*)") return { a, b }', ['12 rest'], ['12', 'rest']],
  [
    'return { redis.sha1hex("ä"), string.sub("hello", 1, 2) }',
    [],
    ['961fa22f61a56e19f3f5f8867901ac8cf5e6d11f', 'he'],
  ],
  ['local n = 0 for at = 1, 5, 2 do n = n + at end return n', [], 9],
  [
    'redis.call("HSET", "h", "a", 1, "b", 2.5) return redis.call("HMGET", "h", "a", "b", "c")',
    [],
    ['1', '2.5', null],
  ],
  ['return redis.call("SET", "s", "x", "PX", "0")', [], 'ERR invalid'],
  [
    'return { redis.call("PTTL", "none"), redis.call("PTTL", "a"), redis.call("PEXPIRE", "a", 0) }',
    [],
    [-2, -1, 1],
  ],
  [
    'redis.call("XADD", "x", "MAXLEN", "=", 2, "1", "f", "a") return redis.call("XADD", "x", "3-1", "f", "b")',
    [],
    '3-1',
  ],
  ['return redis.call("XADD", "x", "3-1", "f", "a")', [], 'ERR The'],
  [
    'return { redis.call("XRANGE", "x", "2", "+", "COUNT", 1), redis.call("XDEL", "x", "3-1", "9") }',
    [],
    [[['3-1', ['f', 'b']]], 1],
  ],
];

it.each([...(hasRedis ? ['Redis'] : []), 'the simulated Redis'])('%s runs scripts', async (name) => {
  const newClient = async () => {
    if (name !== 'Redis') return newRedis().client(new SimulatedProcess('p'));
    const { remove, url } = await startRedis();
    onTestFinished(remove);
    return createClient({ url });
  };
  const client = await newClient();
  await client.connect();
  onTestFinished(() => client.destroy());
  const found: unknown[][] = [];
  for (const [script, args] of scripts) {
    const reply = client.eval(script, { keys: [], arguments: [...args] });
    // Redis adds the place in the script to the message of Lua.
    const error = ({ message }: Error) => /attempt to \w+|^ERR (?!user)\w+/.exec(message)?.[0];
    found.push([script, await reply.catch(error)]);
  }
  expect(found).toEqual(scripts.map(([script, , result]) => [script, result]));
});
