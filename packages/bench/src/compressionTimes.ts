/**
 * `npm run bench:compression -w @petstore/bench`: a list of 20 kB in gzip at level 6, requests per second of processor time, beside
 * Hono's middleware and that of Elysia's documentation. Interleaved rounds; each server has a core of its own.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { freePort } from '@petstore/testing/freePort';
import { startProcess } from '@petstore/testing/startProcess';
import { checkCores, onCore, serverCore } from './cores.ts';
import { listFrom, maxFrom } from './compressed/list.ts';
import { findBun } from './findBun.ts';
import { processorSeconds } from './processTree.ts';
import { median } from './statistics.ts';

const rounds = 7;
const requestsPerRound = 3000;
const connections = 32;

interface Subject {
  readonly title: string;
  readonly file: string;
  readonly runtime: 'node' | 'bun';
  readonly adapter?: string;
}

const subjects: readonly Subject[] = [
  { title: 'this gateway on uWebSockets.js', file: 'gateway', runtime: 'node', adapter: 'uws' },
  { title: 'this gateway on node:http', file: 'gateway', runtime: 'node', adapter: 'node' },
  { title: 'Hono on node:http', file: 'hono', runtime: 'node' },
  { title: 'this gateway on Bun', file: 'gateway', runtime: 'bun', adapter: 'bun' },
  { title: 'Elysia on Bun', file: 'elysia', runtime: 'bun' },
];

/** Starts a server, and checks its response. */
async function start({ adapter = '', file, runtime }: Subject) {
  const port = await freePort();
  const executable = runtime === 'bun' ? await findBun() : process.execPath;
  const path = fileURLToPath(new URL(`compressed/${file}.ts`, import.meta.url));
  const [command, ...args] = onCore(serverCore, [executable, '--conditions=trpc-gateway-source', path]);
  const server = startProcess(command, args, {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: String(port), ADAPTER: adapter },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = async (from: number) => {
    const headers = { 'accept-encoding': 'gzip' };
    const sent = request({ port, host: '127.0.0.1', agent, headers, path: `/v1/animals?from=${from}` }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { coding: response.headers['content-encoding'], body: Buffer.concat(await response.toArray()) };
  };
  for (;;) {
    const received = await send(0).catch(() => undefined);
    if (received === undefined) {
      await sleep(50);
      continue;
    }
    const expected = JSON.stringify(listFrom(0));
    if (received.coding === 'gzip' && String(gunzipSync(received.body)) === expected) break;
    throw new Error(`${file} does not send the list in gzip.`);
  }
  return { send, pid: server.pid as number, stop: () => void server.kill('SIGKILL') };
}

checkCores();
const servers = await Promise.all(subjects.map(start));
const rates = subjects.map((): number[] => []);
let next = 0;
for (let round = -2; round < rounds; round += 1) {
  for (const [index, { pid, send }] of servers.entries()) {
    const before = await processorSeconds(pid);
    const worker = async () => {
      for (let sent = 0; sent < requestsPerRound / connections; sent += 1) await send((next += 1) % maxFrom);
    };
    await Promise.all(Array.from({ length: connections }, worker));
    const rate = requestsPerRound / ((await processorSeconds(pid)) - before);
    // The first rounds warm up.
    if (round >= 0) rates[index]?.push(rate);
  }
}
for (const { stop } of servers) stop();

process.stdout.write('| server | requests per second of processor time |\n| --- | --- |\n');
for (const [index, { title }] of subjects.entries()) {
  process.stdout.write(`| ${title} | ${Math.round(median(rates[index] ?? [])).toLocaleString('en')} |\n`);
}
