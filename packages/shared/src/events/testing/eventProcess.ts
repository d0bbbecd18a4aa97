/*
 * A process that shares a folder event log: `node eventProcess.ts OPTIONS`, where OPTIONS is JSON. It runs until it is killed, and
 * sends its parent a message for each item that it has read, or for each event that it has stored.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderEventLog } from '../folder.ts';
import type { LogItem, Retention } from '../eventLog.ts';

export type EventProcessOptions = { readonly path: string; readonly keep: Retention } & (
  | { readonly role: 'writer'; readonly channels: readonly string[] }
  /** It disconnects at random. */
  | { readonly role: 'reader'; readonly channel: string; readonly after: string | undefined }
  /** Appends each event of a channel to another one. */
  | { readonly role: 'echo'; readonly channel: string; readonly to: string }
);

/** What a writer sends for an event. */
export interface Written {
  readonly channel: string;
  readonly id: string;
  readonly event: string;
}

const options: EventProcessOptions = JSON.parse(process.argv[2] ?? '');
const log = folderEventLog({ path: options.path });
// A reader does not keep its process alive.
process.on('message', () => {});
process.on('disconnect', () => process.exit());
if (options.role === 'writer') await write(options.channels);
else if (options.role === 'reader') await read(options.channel, options.after);
else await echo(options.channel, options.to);

async function write(channels: readonly string[]): Promise<void> {
  for (let from = 0; ; from += 10) {
    const group = Array.from({ length: 10 }, async (_, at) => {
      const channel = channels[at % channels.length] ?? '';
      const event = `${process.pid}:${from + at}`.padEnd(randomInt(2000), ' ');
      const written: Written = { channel, event, id: await log.append(channel, event, options.keep) };
      process.send?.(written);
    });
    // oxlint-disable-next-line no-await-in-loop -- one group after the other
    await Promise.all(group);
    // oxlint-disable-next-line no-await-in-loop
    await sleep(randomInt(5));
  }
}

async function read(channel: string, after: string | undefined): Promise<void> {
  let id = after;
  for (;;) {
    const controller = new AbortController();
    let left = randomInt(1, 1000);
    // oxlint-disable-next-line no-await-in-loop -- one connection after the other
    for await (const item of log.read(channel, id, controller.signal)) {
      process.send?.(item);
      id = item.id;
      left -= 1;
      if (left === 0) controller.abort();
    }
  }
}

async function echo(channel: string, to: string): Promise<void> {
  for await (const item of log.read(channel, undefined, new AbortController().signal)) {
    if (item.type === 'event') await log.append(to, item.event, options.keep);
    else process.send?.(item satisfies LogItem);
  }
}
