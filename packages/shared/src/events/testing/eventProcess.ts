/*
 * A process that shares a folder event log: `node eventProcess.ts OPTIONS`, where OPTIONS is JSON. It appends an event to `to`, of
 * which it sends its parent a message, and then each event of `channel`, until it is killed.
 */
import { folderEventLog } from '../folder.ts';

export interface EventProcessOptions {
  readonly path: string;
  readonly channel: string;
  readonly to: string;
}

/** What it sends. */
export interface Written {
  readonly id: string;
  readonly event: string;
}

const { channel, path, to }: EventProcessOptions = JSON.parse(process.argv[2] ?? '');
const keep = { events: 1000, ms: 3_600_000 };
const log = folderEventLog({ path });
// A reader does not keep its process alive.
process.on('message', () => {});
process.on('disconnect', () => process.exit());
for await (const item of log.read(channel, undefined, new AbortController().signal)) {
  if (item.type === 'event') await log.append(to, item.event, keep);
  else {
    const event = `of process ${process.pid}`;
    process.send?.({ event, id: await log.append(to, event, keep) } satisfies Written);
  }
}
