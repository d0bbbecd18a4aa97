/*
 * A process that shares a folder event log: `node eventProcess.ts OPTIONS`, where OPTIONS is JSON. A reader disconnects after every
 * 50 items, until it has read the event `end`, and sends its parent the events. A writer sends each id when it is stored.
 */
import { folderEventLog } from '../folder.ts';
import { Journey } from './journey.ts';

export interface EventProcessOptions {
  readonly path: string;
  readonly role: 'reader' | 'writer';
  readonly name: string;
}

/** What a reader sends when it has read `end`, after `joined`. */
export interface ReadEvents {
  readonly events: readonly string[];
  readonly resyncCount: number;
}

const { name, path, role }: EventProcessOptions = JSON.parse(process.argv[2] ?? '');
// A reader does not keep its process alive.
process.on('message', () => {});
const log = folderEventLog({ path });
await (role === 'reader' ? read() : write());
await log.close();
process.disconnect();

async function read(): Promise<void> {
  const journey = new Journey();
  const events: string[] = [];
  while (events.at(-1) !== 'end') {
    const controller = new AbortController();
    let left = 50;
    // oxlint-disable-next-line no-await-in-loop -- one connection after the other
    for await (const item of log.read('a', journey.id, controller.signal)) {
      journey.add(item);
      if (item.type === 'joined') process.send?.('joined');
      if (item.type === 'event') events.push(item.event);
      left -= 1;
      if (left === 0 || events.at(-1) === 'end') controller.abort();
    }
  }
  const sent: ReadEvents = { events, resyncCount: journey.resyncCount };
  // A message that is not sent yet would be lost with the channel.
  await new Promise((resolve) => process.send?.(sent, undefined, undefined, resolve));
}

/** Appends up to 2,000 events, 20 at a time. */
async function write(): Promise<void> {
  for (let from = 0; from < 2000; from += 20) {
    const group = Array.from({ length: 20 }, async (_, at) => {
      const event = `${name}:${from + at}`;
      await log.append('a', event, { events: 100_000, ms: 3_600_000 });
      process.send?.(event);
    });
    // oxlint-disable-next-line no-await-in-loop -- one group after the other
    await Promise.all(group);
  }
}
