import { integer, type Reply } from './resp.ts';

interface Id {
  readonly ms: number;
  readonly sequence: number;
}

/** A stream of Redis. */
export class Stream {
  entries: (Id & { readonly fields: readonly string[] })[] = [];
  last: Id = { ms: 0, sequence: 0 };
}

interface StreamKeys {
  readonly now: () => number;
  readonly find: (key: string, create?: () => Stream) => Stream | undefined;
  readonly added: (key: string) => void;
}

const compare = (one: Id, other: Id): number => one.ms - other.ms || one.sequence - other.sequence;
const format = ({ ms, sequence }: Id): string => `${ms}-${sequence}`;

/** Parses an id. @param sequence of one without a sequence number */
function parseId(word = '', sequence = 0): Id {
  if (word === '-') return { ms: 0, sequence: 0 };
  if (word === '+') return { ms: Infinity, sequence: 0 };
  const [, ms, rest] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  if (ms === undefined) throw new Error(`${word} is not an id.`);
  return { ms: Number(ms), sequence: rest === undefined ? sequence : Number(rest) };
}

export function streamCommands({ added, find, now }: StreamKeys) {
  const read = (key: string, isRead: (id: Id) => boolean, limit: number): Reply[] =>
    (find(key)?.entries ?? [])
      .filter(isRead)
      .slice(0, limit)
      .map((entry) => [format(entry), entry.fields]);

  return {
    XADD([, key = '', ...words]: readonly string[]): Reply {
      const trims = words[0] === 'MAXLEN';
      const [operator = '', length = ''] = trims ? words.slice(1) : [];
      if (trims && operator !== '=' && operator !== '~') throw new Error('MAXLEN without = or ~');
      const [word, ...fields] = trims ? words.slice(3) : words;
      const last = find(key)?.last ?? { ms: 0, sequence: 0 };
      const next =
        now() > last.ms ? { ms: now(), sequence: 0 } : { ms: last.ms, sequence: last.sequence + 1 };
      const id = word === '*' ? next : parseId(word);
      if (compare(id, last) <= 0) throw new Error(`XADD of ${word} after ${format(last)}`);
      const stream = find(key, () => new Stream()) ?? new Stream();
      stream.entries.push({ ...id, fields });
      stream.last = id;
      // With `~`, Redis may keep more.
      if (trims) stream.entries.splice(0, stream.entries.length - integer(length));
      added(key);
      return format(id);
    },
    XRANGE([, key = '', start, end, count, limit]: readonly string[]): Reply {
      const [from, to] = [parseId(start), parseId(end, Infinity)];
      const isRead = (id: Id) => compare(id, from) >= 0 && compare(id, to) <= 0;
      return read(key, isRead, count === 'COUNT' ? integer(limit) : Infinity);
    },
    XDEL([, key = '', ...words]: readonly string[]): Reply {
      const stream = find(key) ?? new Stream();
      const ids = words.map((word) => parseId(word));
      const before = stream.entries.length;
      stream.entries = stream.entries.filter((entry) => ids.every((id) => compare(entry, id) !== 0));
      return before - stream.entries.length;
    },
    /** As without BLOCK. */
    XREAD(words: readonly string[]): Reply {
      const at = words.indexOf('STREAMS');
      const [key = '', last, ...more] = words.slice(at + 1);
      if (at < 0 || more.length > 0) throw new Error('XREAD of several streams');
      const limit = words[1] === 'COUNT' ? integer(words[2]) : Infinity;
      const after = parseId(last);
      const entries = read(key, (id) => compare(id, after) > 0, limit);
      return entries.length === 0 ? null : [[key, entries]];
    },
  };
}
