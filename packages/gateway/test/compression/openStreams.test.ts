import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { startPinned } from '../load/pinned.ts';
import { has } from '../servers.ts';
import type { HeldStreams } from './streamTarget.ts';

const targetFile = fileURLToPath(new URL('streamTarget.ts', import.meta.url));
/** How many streams are open at the same time. */
const atOnce = 100;

/** Opens streams, and waits for the first event of each. Returns what disconnects their clients. */
const openMany = (port: number, coding: string, count = atOnce) =>
  Promise.all(Array.from({ length: count }, () => openStream(port, coding)));

async function openStream(port: number, coding: string): Promise<AbortController> {
  const client = new AbortController();
  const init = { headers: { 'accept-encoding': coding }, signal: client.signal };
  const { body } = await fetch(`http://127.0.0.1:${port}/v1/gated`, init);
  await body?.getReader().read();
  return client;
}

it.runIf(has('a port')).each(['zstd', 'gzip', 'br'])(
  'streams in %s take less than 500 kB each while they are open, and nothing when they are dropped',
  async (coding) => {
    // Another process than its clients.
    const server = startPinned(0, targetFile, { ADAPTER: adapterOfRun() });
    onTestFinished(() => server.stop());
    const held = () => server.call<HeldStreams>({});
    const { port } = await held();
    const drop = async (clients: readonly AbortController[]) => {
      for (const client of clients) client.abort();
      // Streams of clients that have left.
      await vi.waitFor(async () => expect((await held()).open).toBe(0));
    };
    await drop(await openMany(port, coding, 20));
    const before = await server.rss();
    const clients = await openMany(port, coding);
    expect((await server.rss()) - before).toBeLessThan(500 * 1024 * atOnce);
    await drop(clients);
    const dropMany = async (times: number) => {
      for (let at = 0; at < times; at += 1) await drop(await openMany(port, coding));
      return (await held()).bytes;
    };
    // The heap and the encoders.
    const first = await dropMany(2);
    expect((await dropMany(8)) - first).toBeLessThan(2e6);
  },
);
