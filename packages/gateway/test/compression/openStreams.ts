import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from '@petstore/testing/eventually';
import { adapterOfRun } from '../adapters.ts';
import { startPinned } from '../load/pinned.ts';
import type { HeldStreams } from './streamTarget.ts';

const targetFile = fileURLToPath(new URL('streamTarget.ts', import.meta.url));

interface StreamCounts {
  /** Streams that are open at the same time. */
  readonly open: number;
  /** Streams that are opened and dropped. */
  readonly dropped: number;
}

interface StreamMemory {
  /** Physical memory of an open stream, with its connection, in kB. */
  readonly kilobytesPerStream: number;
  /** Growth of the heap and of the encoders from the first fifth of the dropped streams to the last one, in MB. */
  readonly heldMegabytes: number;
  /** Subscriptions that still run after all clients have disconnected. */
  readonly leftOpen: number;
}

/** Opens event streams, each with its first event, and drops them. */
export async function measureStreams(coding: string, { dropped, open }: StreamCounts): Promise<StreamMemory> {
  const server = startPinned(0, targetFile, { ADAPTER: adapterOfRun() });
  const held = () => server.call<HeldStreams>({});
  try {
    const { port } = await held();
    const openMany = (count: number) =>
      Promise.all(Array.from({ length: count }, () => openStream(port, coding)));
    const drop = async (sockets: readonly Socket[]) => {
      for (const socket of sockets) socket.destroy();
      await eventually(
        () => 'Streams of clients that have left are open.',
        async () => (await held()).open === 0,
      );
    };
    await drop(await openMany(20));
    const before = await server.rss();
    const sockets = await openMany(open);
    const kilobytesPerStream = Math.round(((await server.rss()) - before) / open / 1024);
    await drop(sockets);
    const atOnce = 100;
    const dropMany = async (count: number) => {
      for (let at = 0; at < count; at += atOnce) {
        await drop(await openMany(Math.min(atOnce, count - at)));
      }
      return held();
    };
    const first = await dropMany(dropped / 5);
    const last = await dropMany((dropped * 4) / 5);
    return {
      kilobytesPerStream,
      heldMegabytes: (last.bytes - first.bytes) / 1e6,
      leftOpen: last.open,
    };
  } finally {
    await server.stop();
  }
}

/** Opens a stream, and waits for its first event. */
function openStream(port: number, coding: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      // The head, and a chunk after it.
      const end = received.indexOf('\r\n\r\n');
      if (end >= 0 && received.length > end + 20) resolve(socket);
    });
    socket.write(`GET /v1/gated HTTP/1.1\r\nhost: a\r\naccept-encoding: ${coding}\r\n\r\n`);
  });
}
