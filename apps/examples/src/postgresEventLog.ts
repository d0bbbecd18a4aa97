import { setTimeout as sleep } from 'node:timers/promises';
import { beginning, type EventLog } from 'trpc-gateway-shared';

/** Such as that of `pg`. */
interface Pool {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** The tables. `epoch` names the log: after a restore, or a failover that may have lost commits, give it another value. */
export const schema = `
  CREATE TABLE event_log (epoch text NOT NULL DEFAULT md5(random()::text));
  INSERT INTO event_log DEFAULT VALUES;
  CREATE TABLE channels (channel text PRIMARY KEY, last bigint NOT NULL, bytes bigint NOT NULL);
  CREATE TABLE events (
    channel text, sequence bigint, event text NOT NULL, bytes_before bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (channel, sequence)
  );`;

/** How often a subscriber reads. `LISTEN` may wake it earlier, but not replace this: a notification is lost with its connection. */
const pollMs = 200;

/** Stores an event. The row of its channel is locked until the commit, so events appear in the order of their numbers. */
const appendStatement = `
  WITH channel AS (
    INSERT INTO channels AS known (channel, last, bytes) VALUES ($1, 1, octet_length($2::text))
    ON CONFLICT (channel) DO UPDATE SET last = known.last + 1, bytes = known.bytes + excluded.bytes
    RETURNING last, bytes
  ), removed AS (
    DELETE FROM events USING channel WHERE events.channel = $1
    AND (sequence <= last - $3::bigint OR at <= clock_timestamp() - $4::bigint * interval '1 ms'
      OR bytes_before < bytes - $5::bigint)
  )
  INSERT INTO events (channel, sequence, event, bytes_before)
  SELECT $1, last, $2, bytes - octet_length($2::text) FROM channel
  RETURNING (SELECT epoch FROM event_log) || '-' || sequence AS id`;

/** Reads the newest number of a channel and the next events, as of one moment: a row for each event, or one without. */
const readStatement = `
  SELECT epoch, coalesce(last, 0) AS last, sequence, event FROM event_log
  LEFT JOIN channels ON channels.channel = $1
  LEFT JOIN events ON events.channel = $1 AND sequence > $2
  ORDER BY sequence LIMIT 100`;

/** An event log in Postgres, to copy. Keys must not contain U+0000. `query` may be that of a pool. Tables: `schema`. See docs/events.md#postgres. */
export function postgresEventLog(pool: Pool): EventLog {
  const closing = new AbortController();
  let appended: Promise<unknown> = Promise.resolve();

  async function page(channel: string, after: number) {
    const { rows } = await pool.query(readStatement, [channel, after]);
    const events = rows.filter(({ sequence }) => sequence !== null);
    return {
      epoch: String(rows[0]?.['epoch']),
      last: Number(rows[0]?.['last']),
      events: events.map(({ event, sequence }) => ({ event: String(event), sequence: Number(sequence) })),
    };
  }

  return {
    async append(channel, event, keep) {
      closing.signal.throwIfAborted();
      // One after the other: the connections of a pool would change their order.
      const { bytes = Number.MAX_SAFE_INTEGER, events, ms } = keep;
      const result = appended.then(() => pool.query(appendStatement, [channel, event, events, ms, bytes]));
      appended = result.catch(() => {});
      return String((await result).rows[0]?.['id']);
    },

    async *read(channel, after, clientSignal) {
      closing.signal.throwIfAborted();
      const signal = AbortSignal.any([clientSignal, closing.signal]);
      let [, epoch = '', number = '0'] = /^(\w{1,32})-(\d{1,15})$/.exec(after ?? '') ?? [];
      let position = Number(number);
      let isLost = false;
      if (after === undefined || after === beginning) {
        const { epoch: current, last } = await page(channel, 0);
        if (signal.aborted) return;
        [epoch, position] = [current, after === undefined ? last : 0];
        if (position === last) yield { type: 'joined', id: `${epoch}-${last}` };
      }
      while (!signal.aborted) {
        try {
          const { epoch: current, events, last } = await page(channel, position);
          if (current !== epoch || last < position) {
            [epoch, position, isLost] = [current, 0, true];
            continue;
          }
          for (const { event, sequence } of events) {
            if (isLost || sequence !== position + 1) yield { type: 'resync', id: `${epoch}-${sequence - 1}` };
            [position, isLost] = [sequence, false];
            if (signal.aborted) return;
            yield { type: 'event', id: `${epoch}-${sequence}`, event };
          }
          if (events.length > 0) continue;
          if (isLost || last !== position) yield { type: 'resync', id: `${epoch}-${last}` };
          [position, isLost] = [last, false];
        } catch {
          // It waits for the database.
        }
        await sleep(pollMs, undefined, { signal }).catch(() => {});
      }
    },

    async close() {
      closing.abort(new Error('The event log is closed.'));
      await appended;
    },
  };
}
