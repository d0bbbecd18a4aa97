import type { Random } from '@petstore/testing/random';
import { integer, type Reply } from './resp.ts';
import { type Stream, streamCommands } from './streams.ts';

type Value = string | Map<string, string> | Stream;

interface Stored {
  readonly value: Value;
  /** By the clock; `Infinity`: never. */
  expiresAt: number;
}

const writing = new Set(['SET', 'DEL', 'HSET', 'XDEL', 'PEXPIRE', 'FLUSHALL']);

/** The keys of a simulated Redis, and the journal of what was written: its append-only file. */
export class Keyspace {
  readonly #random: Random;
  readonly #keys = new Map<string, Stored>();
  #journal: { readonly at: number; readonly writtenAt: number; readonly words: readonly string[] }[] = [];
  /** The time of the command or script that runs: it does not change meanwhile. */
  now = 0;
  runId = '';
  /** Streams that have new entries. */
  readonly grown = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
    this.restart(0);
  }

  /** Begins as another server, without what was written in the last milliseconds. */
  restart(losesMs: number): void {
    this.runId = Array.from({ length: 40 }, () => this.#random.below(16).toString(16)).join('');
    this.#keys.clear();
    // Not by its time: the clock may have been set back.
    const kept = this.#journal.filter(({ writtenAt }) => writtenAt <= performance.now() - losesMs);
    this.#journal = [];
    for (const { at, words } of kept) {
      this.now = at;
      this.call(words);
    }
    this.grown.clear();
  }

  /** Runs a command. @throws for what the model does not know */
  call(words: readonly string[]): Reply {
    const [name = ''] = words;
    const command = this.#commands[name];
    if (command === undefined) throw new Error(`The simulated Redis does not know the command ${name}.`);
    const reply = command(words);
    // The id that an entry got, not `*`: it stays the same when the journal is read.
    if (name === 'XADD') this.#write(words.with(words[2] === 'MAXLEN' ? 5 : 2, reply as string));
    else if (writing.has(name)) this.#write(words);
    return reply;
  }

  #write(words: readonly string[]): void {
    this.#journal.push({ at: this.now, writtenAt: performance.now(), words });
  }

  #find(key: string): Stored | undefined {
    const stored = this.#keys.get(key);
    if (stored === undefined || this.now <= stored.expiresAt) return stored;
    this.#keys.delete(key);
    return undefined;
  }

  /** Finds a value, or stores a new one if `create` is given. The scripts use each key for one type. */
  #value<T extends Value>(key: string, create?: () => T): T | undefined {
    const found = this.#find(key);
    if (found !== undefined || create === undefined) return found?.value as T | undefined;
    const value = create();
    this.#keys.set(key, { value, expiresAt: Infinity });
    return value;
  }

  readonly #commands: Readonly<Record<string, (words: readonly string[]) => Reply>> = {
    GET: ([, key = '']) => this.#value<string>(key) ?? null,
    SET: ([, key = '', value = '', ...options]) => {
      const [first, second, third, ...rest] = options[0] === 'NX' ? options : ['', ...options];
      if (rest.length > 0 || (second !== undefined && second !== 'PX'))
        throw new Error(`SET with ${options.join(' ')}`);
      const ms = second === undefined ? Infinity : integer(third);
      if (first === 'NX' && this.#find(key) !== undefined) return null;
      this.#keys.set(key, { value, expiresAt: this.now + ms });
      // A status, which scripts take for true.
      return 'OK';
    },
    DEL: ([, ...keys]) =>
      keys.filter((key) => this.#find(key) !== undefined && this.#keys.delete(key)).length,
    HSET: ([, key = '', ...pairs]) => {
      const hash = this.#value(key, () => new Map<string, string>());
      const before = hash?.size ?? 0;
      for (let at = 0; at < pairs.length; at += 2) hash?.set(pairs[at] ?? '', pairs[at + 1] ?? '');
      return (hash?.size ?? 0) - before;
    },
    HMGET: ([, key = '', ...fields]) => {
      const hash = this.#value<Map<string, string>>(key);
      return fields.map((field) => hash?.get(field) ?? null);
    },
    PEXPIRE: ([, key = '', ms = '']) => {
      const stored = this.#find(key);
      if (stored === undefined) return 0;
      stored.expiresAt = this.now + integer(ms);
      return 1;
    },
    PTTL: ([, key = '']) => {
      const stored = this.#find(key);
      if (stored === undefined) return -2;
      return stored.expiresAt === Infinity ? -1 : stored.expiresAt - this.now;
    },
    TIME: () => [String(Math.floor(this.now / 1000)), String((this.now % 1000) * 1000)],
    INFO: ([, section]) => {
      if (section === 'stats') return `# Stats\r\nevicted_keys:0\r\n`;
      if (section === 'server') return `# Server\r\nredis_version:7.0.15\r\nrun_id:${this.runId}\r\n`;
      throw new Error(`INFO ${section}`);
    },
    FLUSHALL: () => {
      this.#keys.clear();
      return 'OK';
    },
    ...streamCommands({
      now: () => this.now,
      find: (key, create) => this.#value(key, create),
      added: (key) => this.grown.add(key),
    }),
  };
}
