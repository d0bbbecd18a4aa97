/*
 * A worker of the outage test: `node outageWorker.ts OPTIONS`, where OPTIONS is JSON. It serves two routes on a port of this
 * machine: `POST /CHANNEL` appends the events of its body, and `GET /CHANNEL?after=ID` reads the channel, a line of JSON for each
 * item.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type OutageLog, openOutageLog, type OutageLogOptions } from './outageLog.ts';

export interface PublishRequest {
  readonly events: readonly string[];
  /** How many events of the channel are kept. */
  readonly keep: number;
}

/** The id of each event that was stored, in the order of the request; `null` where the append failed. */
export type PublishResponse = readonly (string | null)[];

const options: OutageLogOptions = JSON.parse(process.argv[2] ?? '');
const log = openOutageLog(options);

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  const channel = pathname.slice(1);
  const handle =
    request.method === 'POST'
      ? publish(log, channel, request, response)
      : read(log, channel, searchParams.get('after') ?? undefined, response);
  // The client sees the end of its stream, and connects again.
  handle.catch(() => response.destroy());
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);

async function publish(
  to: OutageLog,
  channel: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { events, keep } = (await json(request)) as PublishRequest;
  const outcomes = await Promise.allSettled(events.map((event) => to.append(channel, event, keep)));
  const ids: PublishResponse = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : null,
  );
  response.end(JSON.stringify(ids));
}

async function read(
  from: OutageLog,
  channel: string,
  after: string | undefined,
  response: ServerResponse,
): Promise<void> {
  const controller = new AbortController();
  response.on('close', () => controller.abort());
  for await (const item of from.read(channel, after, controller.signal)) {
    if (response.write(`${JSON.stringify(item)}\n`)) continue;
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}
