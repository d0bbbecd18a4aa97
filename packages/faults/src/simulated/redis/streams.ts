import { ErrorReply, integer, type Reply } from './reply.ts';

interface Id {
  readonly ms: number;
  readonly sequence: number;
}

/** A stream of Redis. */
export class Stream {
  entries: (Id & { readonly fields: readonly string[] })[] = [];
  last: Id = { ms: 0, sequence: 0 };
  /** How many entries more than requested are kept before `MAXLEN ~` trims: Redis trims whole nodes of 100 entries. */
  surplus = 0;
}

interface StreamKeys {
  /** Chooses the next surplus of a stream. */
  readonly surplus: () => number;
  readonly now: () => number;
  readonly find: (key: string, create?: () => Stream) => Stream | undefined;
  readonly added: (key: string) => void;
}

const compare = (one: Id, other: Id): number => one.ms - other.ms || one.sequence - other.sequence;
const after = ({ ms, sequence }: Id): Id => ({ ms, sequence: sequence + 1 });
const format = ({ ms, sequence }: Id): string => `${ms}-${sequence}`;

function parseId(word = '', sequence = 0): Id {
  const [, ms, rest] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  if (ms === undefined) throw new ErrorReply('ERR Invalid stream ID specified as stream command argument');
  return { ms: Number(ms), sequence: rest === undefined ? sequence : Number(rest) };
}

/** Finds the first entry with this id or a later one. */
function indexOf({ entries }: Stream, id: Id): number {
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(entries[middle] as Id, id) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function read(stream: Stream, from: number, to: number): Reply[] {
  return stream.entries.slice(from, to).map((entry) => [format(entry), entry.fields]);
}

/** The commands of streams. */
export function streamCommands({ added, find, now, surplus }: StreamKeys) {
  function trim(stream: Stream, operator: string, length: number): void {
    const extra = stream.entries.length - length;
    if (extra <= 0 || (operator === '~' && extra < stream.surplus)) return;
    stream.entries.splice(0, extra);
    if (operator === '~') stream.surplus = surplus();
  }

  return {
    XADD([, key = '', ...words]: readonly string[]): Reply {
      const trims = words[0] === 'MAXLEN';
      const [operator = '', length = ''] = trims ? words.slice(1) : [];
      if (trims && operator !== '=' && operator !== '~') throw new Error('MAXLEN without = or ~');
      const [word, ...fields] = trims ? words.slice(3) : words;
      const stream = find(key);
      const last = stream?.last ?? { ms: 0, sequence: 0 };
      const next =
        now() > last.ms ? { ms: now(), sequence: 0 } : { ms: last.ms, sequence: last.sequence + 1 };
      const id = word === '*' ? next : parseId(word);
      if (compare(id, last) <= 0)
        throw new ErrorReply(
          'ERR The ID specified in XADD is equal or smaller than the target stream top item',
        );
      const target = stream ?? find(key, () => new Stream()) ?? new Stream();
      target.entries.push({ ...id, fields });
      target.last = id;
      if (trims) trim(target, operator, integer(length));
      added(key);
      return format(id);
    },
    XRANGE([, key = '', start, end, count, limit]: readonly string[]): Reply {
      const stream = find(key);
      if (stream === undefined) return [];
      const from = start === '-' ? 0 : indexOf(stream, parseId(start));
      const to = end === '+' ? stream.entries.length : indexOf(stream, after(parseId(end, Infinity)));
      return read(stream, from, count === 'COUNT' ? Math.min(to, from + integer(limit)) : to);
    },
    XDEL([, key = '', ...ids]: readonly string[]): Reply {
      const stream = find(key);
      if (stream === undefined) return 0;
      const before = stream.entries.length;
      for (const word of ids) {
        const id = parseId(word);
        const at = indexOf(stream, id);
        const entry = stream.entries[at];
        if (entry && compare(entry, id) === 0) stream.entries.splice(at, 1);
      }
      return before - stream.entries.length;
    },
    /** As without BLOCK. */
    XREAD(words: readonly string[]): Reply {
      const at = words.indexOf('STREAMS');
      const [key = '', id, ...more] = words.slice(at + 1);
      if (at < 0 || more.length > 0) throw new Error('XREAD of several streams');
      const stream = find(key);
      if (stream === undefined) return null;
      const from = indexOf(stream, after(parseId(id)));
      const limit = words[1] === 'COUNT' ? integer(words[2]) : Infinity;
      const entries = read(stream, from, from + limit);
      return entries.length === 0 ? null : [[key, entries]];
    },
  };
}
