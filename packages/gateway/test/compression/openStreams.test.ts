import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { startPinned } from '../load/pinned.ts';
import { has } from '../servers.ts';
import type { HeldStreams } from './streamTarget.ts';

const targetFile = fileURLToPath(new URL('streamTarget.ts', import.meta.url));
/** How many streams are open at the same time. */
const atOnce = 100;

/** Opens streams, and waits for the first event of each. */
const openMany = (port: number, coding: string, count = atOnce) =>
  Promise.all(Array.from({ length: count }, () => openStream(port, coding)));

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

it.runIf(has('a port')).each(['zstd', 'gzip', 'br'])(
  'streams in %s take less than 500 kB each while they are open, and nothing when they are dropped',
  async (coding) => {
    // Another process than its clients.
    const server = startPinned(0, targetFile, { ADAPTER: adapterOfRun() });
    onTestFinished(() => server.stop());
    const held = () => server.call<HeldStreams>({});
    const { port } = await held();
    const drop = async (sockets: readonly Socket[]) => {
      for (const socket of sockets) socket.destroy();
      // Streams of clients that have left.
      await vi.waitFor(async () => expect((await held()).open).toBe(0));
    };
    await drop(await openMany(port, coding, 20));
    const before = await server.rss();
    const sockets = await openMany(port, coding);
    expect((await server.rss()) - before).toBeLessThan(500 * 1024 * atOnce);
    await drop(sockets);
    const dropMany = async (times: number) => {
      for (let at = 0; at < times; at += 1) await drop(await openMany(port, coding));
      return (await held()).bytes;
    };
    // The heap and the encoders.
    const first = await dropMany(2);
    expect((await dropMany(8)) - first).toBeLessThan(2e6);
  },
);
