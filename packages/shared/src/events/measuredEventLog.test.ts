import { expect, it } from 'vitest';
import { eventChannel, type EventLog, measuredEventLog, memoryEventLog } from '../index.ts';
import { z } from 'zod';
import { cutLog } from './testing/cutLog.ts';

it('metrics has what the channels of a name have published, rejected and delivered, and RESYNC', async () => {
  const memory = memoryEventLog();
  const log = measuredEventLog(memory);
  const channel = eventChannel({ log, name: 'changes', event: z.int(), keep: { events: 2 } });
  const client = new AbortController();
  const events = await channel.subscribe('north', { signal: client.signal });
  const ids = [];
  for (let each = 1; each <= 4; each += 1) ids.push(await channel.publish('south', each));
  await channel.publish('north', 1);
  // A run of `resumable` counts, and the heartbeats of its producer do not.
  const append = (each: string) => log.append(each, '1', { events: 1, ms: 1000 });
  await Promise.all(['changes/run', 'producer 1'].map(append));
  const subscriber = events[Symbol.asyncIterator]();
  await subscriber.next();
  const late = await channel.subscribe('south', { lastEventId: ids[0], signal: client.signal });
  await expect(late[Symbol.asyncIterator]().next()).rejects.toThrow('no longer kept');
  const values = () => Object.fromEntries(log.metrics().map(({ name, values: [sample] }) => [name, sample]));
  const sample = (value: unknown) => ({ labels: { channel: 'changes' }, value });
  expect(values()).toEqual({
    events_published_total: sample(6),
    events_rejected_total: sample(0),
    events_delivered_total: sample(1),
    events_resync_total: sample(1),
    events_subscribers: sample(1),
    // It has an event, and has not requested the next one.
    events_lag_seconds: sample(expect.any(Number)),
  });
  expect(values()['events_lag_seconds']?.value).toBeGreaterThan(0);

  const next = subscriber.next();
  expect(values()).toMatchObject({ events_lag_seconds: sample(0) });
  client.abort();
  await next;
  await memory.close();
  await expect(channel.publish('north', 2)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(values()).toMatchObject({ events_rejected_total: sample(1), events_subscribers: sample(0) });
});

it('an event that is not stored within 1.5 s counts as rejected when its publisher learns it, and once', async () => {
  const memory = memoryEventLog();
  const storing = Promise.withResolvers<void>();
  let stored: Promise<string> | undefined;
  const append: EventLog['append'] = (...args) =>
    (stored = storing.promise.then(() => memory.append(...args)));
  const log = measuredEventLog({ ...memory, append });
  const channel = eventChannel({ log, name: 'changes', event: z.int() });
  const counts = () =>
    log.metrics().flatMap(({ name, values }) => (/published|rejected/.test(name) ? values : []));
  await expect(channel.publish('north', 1)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(counts()).toMatchObject([{ value: 0 }, { value: 1 }]);
  storing.resolve();
  await stored;
  expect(counts()).toMatchObject([{ value: 0 }, { value: 1 }]);
});

it('ready resolves, and rejects if the log does not respond or fails', async () => {
  const memory = memoryEventLog();
  await expect(measuredEventLog(memory).ready()).resolves.toBeUndefined();
  const away = cutLog(memory);
  away.cut();
  await expect(measuredEventLog(away.log).ready()).rejects.toThrow('1000 ms');
  await memory.close();
  await expect(measuredEventLog(memory).ready()).rejects.toThrow('closed');
});
