import { hasRedis, startRedis } from '@petstore/testing/redis';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { Random } from '../../random.ts';
import { SimulatedProcess } from '../simulatedProcess.ts';
import { compileLua } from './compileLua.ts';
import { SimulatedRedis } from './simulatedRedis.ts';

const numbers = [
  '0.1',
  '1e17',
  '123456789012345678',
  '-0.00001',
  '1e-5',
  '2.5',
  '3.5',
  '-0.4',
  ' 12 ',
  '1e300',
  'Infinity',
  '-inf',
  'information',
  '',
];

/** Scripts with their arguments. */
const scripts: readonly (readonly [string, ...string[]])[] = [
  ['return 3.99'],
  ['return -3.99'],
  ['return { 1, true, false, 2 }'],
  ['return { 1, nil, 3 }'],
  ['return { a = 1, 2, { 3, { "x" } } }'],
  ['return nil'],
  ['return redis.call("GET", "none")'],
  ['return { redis.call("GET", "none"), redis.call("GET", "none") == false }'],
  ['return redis.call("SET", "a", "b")'],
  ['return redis.call("SET", "a", "b", "NX")'],
  ['redis.call("SET", "n", 0.1) return redis.call("GET", "n")'],
  ['redis.call("SET", "n", 1e17) return redis.call("GET", "n")'],
  ['return 0.1 .. ":" .. 1e14 .. ":" .. 123456789.125 .. ":" .. 10 / 3'],
  [
    'local t = {} for at = 1, #ARGV do t[at] = string.format("%.17g", tonumber(ARGV[at]) or 7) end return t',
    ...numbers,
  ],
  [
    'local t = {} for at = 1, #ARGV do t[at] = string.format("%.0f", tonumber(ARGV[at]) or 7) end return t',
    ...numbers,
  ],
  ['if 0 then if "" then return "both" end end return "one"'],
  ['return { not nil, not 0, 1 == "1", "a" < "b", 2 < 10, "2" < "10" }'],
  ['local a = nil or "x" local b = false and 1 or "y" return { a, b, 1 and 2 }'],
  ['return "10" + 1'],
  ['return "x" + 1'],
  ['return 1 < "2"'],
  ['local t = nil return t[1]'],
  ['return #ARGV[1]', 'ä'],
  ['return { string.sub(ARGV[1], 1, 2), string.sub(ARGV[1], -2), string.sub(ARGV[1], 2, -2) }', 'hello'],
  ['local a, b = string.match(ARGV[1], "(%d+) (.*)") return { a, b }', '12 rest of it'],
  [
    'return { string.match("run_id:abc1", "run_id:(%w+)"), string.match("x", "%d+") == nil, string.match("a12", "%d+") }',
  ],
  ['local a, b, c = unpack(ARGV) return { a, b, c == nil }', 'one', 'two'],
  [
    'local function f(x) if x > 3 then return x, "more" end end local a, b = f(4) return { a, b, f(1) == nil, f(5) }',
  ],
  ['local n = 0 while true do n = n + 1 if n == 5 then break end end return n'],
  [
    'local t = {} for _, each in ipairs(ARGV) do t[#t + 1] = each .. "!" end for at = 6, 1, -2 do t[#t + 1] = at end return t',
    'a',
    'b',
  ],
  ['local x = 1 if x == 2 then return 2 elseif x == 1 then local x = x + 10 return x else return 0 end'],
  ['return { math.floor(-1.5), math.max(1, "3", 2), math.min(4, 2), math.ceil(1.2), math.abs(-3) }'],
  ['return redis.sha1hex(ARGV[1])', 'ä'],
  ['redis.call("HSET", "h", "a", 1, "b", 2.5) return redis.call("HMGET", "h", "a", "b", "none")'],
  [
    'return { redis.call("HSET", "h", "a", 2, "c", 3), redis.call("HGET", "h", "a"), redis.call("DEL", "h", "none") }',
  ],
  ['redis.call("SET", "s", "") return redis.call("HGET", "s", "a")'],
  ['return redis.call("SET", "s", "x", "PX", "0")'],
  [
    'return { redis.call("PTTL", "none"), redis.call("PTTL", "s"), redis.call("PEXPIRE", "s", 0), redis.call("GET", "s") }',
  ],
  [
    'return { redis.call("XADD", "x", "MAXLEN", "=", 2, "1", "f", "a"), redis.call("XADD", "x", "3-1", "f", "b", "g", "c") }',
  ],
  ['return redis.call("XADD", "x", "3", "f", "a")'],
  ['return { redis.call("XADD", "x", "MAXLEN", "=", 2, 4, "f", "d"), redis.call("XRANGE", "x", "-", "+") }'],
  [
    'return { redis.call("XRANGE", "x", "4", "+", "COUNT", 1), redis.call("XRANGE", "x", "-", "3-1"), redis.call("XDEL", "x", "3-1", "9") }',
  ],
  [
    'return { redis.call("XREAD", "COUNT", 5, "STREAMS", "x", "3"), redis.call("XREAD", "STREAMS", "x", "4-0") }',
  ],
  ['redis.call("SET", "kept", 1) return redis.call("GET", {})'],
  ['return redis.call("GET", "kept")'],
];

it.skipIf(!hasRedis)('scripts return what they return in Redis', async () => {
  const server = await startRedis();
  onTestFinished(() => server.remove());
  const model = new SimulatedRedis(new Random(1)).client(new SimulatedProcess('p1'));
  const client = createClient({ url: server.url });
  onTestFinished(() => client.close());
  const results: unknown[][] = [];
  for (const each of [client, model]) {
    await each.connect();
    const replies = scripts.map(async ([script, ...args]) => {
      try {
        return await each.eval(script, { keys: [], arguments: args });
      } catch (error) {
        // Redis adds the place in the script to the message of Lua.
        const { message } = error as Error;
        return /attempt to \w+|must be strings/.exec(message)?.[0] ?? message.replace(/ script: .*/, '');
      }
    });
    results.push((await Promise.all(replies)).map((reply, at) => [scripts[at]?.[0], reply]));
  }
  expect(results[1]).toEqual(results[0]);
});

it.each([
  ['return tostring(1)', 'the function tostring'],
  ['return 5 % 3', 'the operator %'],
  ['repeat local x = 1 until true', 'RepeatStatement'],
  ['for k in pairs(KEYS) do end', 'without `ipairs`'],
  ['local f = function() end', 'FunctionDeclaration'],
  ['x = 1', 'the global variable x'],
  ['return string.match(ARGV[1], "[a-z]")', '[ in the pattern'],
  ['return string.match(ARGV[1], ARGV[2])', 'the function string.match'],
  ['return string.format("%d", 1)', 'the format %d'],
  ['return redis.pcall("GET", "a")', 'the function redis.pcall'],
  ['local function f() return 1, 2 end return (f())', 'a call in parentheses'],
  ['return string.match(ARGV[1], "(a)+")', 'the pattern (a)+'],
  ['return math.max(unpack(ARGV))', 'a call that returns several values'],
  ['return KEYS:len()', 'a call of a value'],
])('%s is not compiled', (script, message) => {
  expect(() => compileLua(script)).toThrow(message);
});
