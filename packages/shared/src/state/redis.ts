import { randomUUID } from 'node:crypto';
import { type State, takeTokens } from 'trpc-gateway';
import { hashKey } from '../hashKey.ts';
import { type RedisClient, RedisConnection } from '../redis/redisConnection.ts';
import { bucketEpoch } from './bucketEpoch.ts';

export interface RedisStateOptions {
  /**
   * Creates a client of `redis` that is not connected, such as `() => createClient({ url })`; `createSentinel` and
   * `createCluster` work too. The state connects and closes it, and creates another one after a command that took 5 s.
   */
  readonly connect: () => RedisClient;
  /**
   * How the keys in Redis begin, in braces: in a cluster, all of them are on one server. Services that share a server need
   * different prefixes. Default: `gatewayState`.
   */
  readonly prefix?: string;
}

/** State shared by processes on several machines. */
export interface RedisState extends State {
  /** Waits for replies for at most 2 s, and disconnects. */
  close(): Promise<void>;
}

/** Returns the value that marks the keys as those that this state has opened, and creates it for the first process. */
const openScript = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])`;

/** Stores a value unless the key has one, which is returned. Returns 0 if the keys were removed since the state was opened. */
const addScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then return false end
return redis.call('GET', KEYS[2])`;

const setScript = `redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`;

const deleteScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/**
 * Takes tokens as \`takeTokens\` does, by the clock of Redis. Returns when the bucket was full before, and the time, with which
 * \`takeTokens\` has the same result.
 */
const takeScript = `
local count, size, windowMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = (time[1] - ${bucketEpoch / 1000}) * 1000 + time[2] / 1000
local fullAt = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[4]))
local msPerToken = windowMs / size
local usedMs = math.min(math.max(fullAt - now, 0), windowMs)
local takenMs = usedMs + count * msPerToken
local isTaken = count > 0 and takenMs <= windowMs + 0.001 * msPerToken
if not isTaken then takenMs = usedMs end
-- If the clock was set back, the bucket is empty, not blocked for the difference.
if isTaken or fullAt - now > windowMs + 1 then
  redis.call('SET', KEYS[1], string.format('%.17g', now + takenMs), 'PX', string.format('%.0f', takenMs + 1))
end
return { string.format('%.17g', fullAt), string.format('%.17g', now) }`;

const rememberedBuckets = 10_000;

/**
 * Opens state in Redis 6.2 or newer, or Valkey: each function is one script, atomic on the server.
 *
 * Redis acknowledges writes before they are on a disk or on a replica. `appendonly yes` keeps keys when it restarts, and
 * `min-replicas-to-write 1` limits what a failover loses. `maxmemory-policy` must be `noeviction`, or one that keeps keys
 * with a TTL. After all keys were removed (`FLUSHALL`, a restart without its files), `add` rejects until the processes of
 * the service restart, since calls would run twice; limits go on from what each process remembers.
 * @throws the client's errors while Redis is unavailable
 */
export async function redisState({
  connect,
  prefix = 'gatewayState',
}: RedisStateOptions): Promise<RedisState> {
  const redis = new RedisConnection(connect);
  const marker = `{${prefix}}:opened`;
  const valueKey = (key: string) => `{${prefix}}:v:${hashKey(key)}`;
  /** When buckets are full again, as this process knows. */
  const known = new Map<string, number>();
  let opened: string;
  try {
    opened = await redis.eval<string>(openScript, [marker], [randomUUID()]);
  } catch (error) {
    await redis.close();
    throw error;
  }
  return {
    async add(key, value, ttlMs) {
      const existing = await redis.eval<string | 0 | null>(
        addScript,
        [marker, valueKey(key)],
        [opened, value, wholeMs(ttlMs)],
      );
      if (existing === 0) {
        throw new Error(
          'The keys of the state in Redis were removed: calls with an idempotency key could run twice. Restart all processes of the service.',
        );
      }
      return existing ?? undefined;
    },
    async set(key, value, ttlMs) {
      await redis.eval(setScript, [valueKey(key)], [value, wholeMs(ttlMs)]);
    },
    async delete(key, value) {
      await redis.eval(deleteScript, [valueKey(key)], [value]);
    },
    async take(key, count, bucket) {
      const id = `{${prefix}}:b:${hashKey(key)}`;
      const reply = await redis.eval<[string, string]>(
        takeScript,
        [id],
        [count, bucket.size, bucket.windowMs, known.get(id) ?? 0],
      );
      const [before, now] = [Number(reply[0]), Number(reply[1])];
      const { fullAt, taken } = takeTokens(before, count, bucket, now);
      remember(known, id, fullAt);
      return taken;
    },
    close: () => redis.close(),
  };
}

/** Remembers when a bucket is full, and forgets the bucket that was used least recently. */
function remember(known: Map<string, number>, id: string, fullAt: number): void {
  known.delete(id);
  known.set(id, fullAt);
  const { value: oldest = '' } = known.keys().next();
  if (known.size > rememberedBuckets) known.delete(oldest);
}

/** Redis accepts whole milliseconds from 1. */
const wholeMs = (ms: number) => Math.max(1, Math.ceil(ms));
