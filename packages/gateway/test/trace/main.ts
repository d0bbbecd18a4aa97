/** Counts functions, files and changes of the file per request. `npm run trace -- get` prints functions. */
import { bearer, createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { once } from 'node:events';
import { Agent, request, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { listen } from '../listen.ts';
import { startCallLog } from './callLog.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const Pet = z.object({ id: z.int(), name: z.string() });

const router = t.router({
  getPet: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{id}' }, mcp: { description: 'Returns a pet.' } })
    .input(z.object({ id: z.int() }))
    .output(Pet)
    .query(({ input }) => ({ id: input.id, name: 'Rex' })),
  createPet: t.procedure
    .meta({ openapi: { method: 'POST', path: '/pets', successStatus: 201 } })
    .input(z.object({ name: z.string() }))
    .output(Pet)
    .mutation(({ input }) => ({ id: 1, name: input.name })),
  newPets: t.procedure.subscription(async function* () {
    yield { id: 1, name: 'Rex' };
    yield { id: 2, name: 'Ada' };
  }),
});

const headers = { authorization: 'Bearer key' };
let onResponse = () => {};

const gateway = await createGateway({
  router,
  authentication: bearer({ verify: (token) => token === 'key' && { name: 'Ada' } }),
  createContext: () => ({}),
  document: { title: 'Trace', version: '0.0.0' },
  mcp: mcp(),
  onResponse: () => onResponse(),
});
const server = await listen(gateway);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const socket = new WebSocket(`${server.origin}/trpc`, { headers });
await once(socket, 'open');

async function send(path: string, options: RequestOptions = {}, body?: string): Promise<void> {
  const url = `${server.origin}${path}`;
  const sent = request(url, { agent, ...options, headers: { ...headers, ...(options.headers as object) } });
  // In one write with the head, so that the server reads both at once.
  sent.end(body);
  const [response] = await once(sent, 'response');
  const received = await text(response);
  if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${received}`);
}

const input = encodeURIComponent('{"id":1}');
const batch = `/trpc/getPet,getPet?batch=1&input=${encodeURIComponent('{"0":{"id":1},"1":{"id":2}}')}`;
const json = { 'content-type': 'application/json' };
const toolCall =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getPet","arguments":{"id":1}}}';

/** On an open connection, with few headers as each enters two or three functions; `close` opens its own. */
const requests = {
  get: () => send('/v1/pets/1'),
  close: () => send('/v1/pets/1', { agent: false }),
  post: () => send('/v1/pets', { method: 'POST', headers: json }, '{"name":"Rex"}'),
  query: () => send(`/trpc/getPet?input=${input}`),
  batch: () => send(batch),
  lines: () => send(batch, { headers: { 'trpc-accept': 'application/jsonl' } }),
  events: () => send('/trpc/newPets', { headers: { accept: 'text/event-stream' } }),
  message: () => {
    socket.send('{"id":1,"method":"query","params":{"path":"getPet","input":{"id":1}}}');
    return once(socket, 'message');
  },
  tool: () => send('/mcp', { method: 'POST', headers: json }, toolCall),
} satisfies Readonly<Record<string, () => Promise<unknown>>>;

/** Resolves when the client has received the response and the gateway has reported it. */
async function complete(sendRequest: () => Promise<unknown>): Promise<void> {
  const reported = new Promise<void>((resolve) => {
    onResponse = resolve;
  });
  await Promise.all([sendRequest(), reported]);
  await nextTurn();
}

const row = (...columns: readonly (string | number)[]) =>
  columns
    .map((column) => String(column).padEnd(8))
    .join('')
    .trimEnd();

const [, , only] = process.argv;
const functions: string[] = [];
const counts: string[] = [];
for (const [name, sendRequest] of Object.entries(requests)) {
  if (only !== undefined && only !== name) continue;
  const logs: (readonly string[])[] = [];
  for (let sent = 0; sent < 9; sent += 1) {
    const endCallLog = startCallLog();
    await complete(sendRequest);
    logs.push(endCallLog());
  }
  // The shortest: some do more, as the first, one in eight small responses, and one of all within 5 ms (http/turn.ts).
  const [log = []] = logs.toSorted((one, other) => one.length - other.length);
  const files = log.map((entered) => entered.slice(0, entered.indexOf(':')));
  const hops = files.filter((file, at) => at > 0 && file !== files[at - 1]);
  counts.push(row(name, log.length, new Set(files).size, hops.length));
  if (only === name) functions.push(...log);
}
socket.terminate();
agent.destroy();
await server.close({ timeoutMs: 0 });

if (counts.length === 0) throw new Error(`"${only}" is not one of: ${Object.keys(requests).join(', ')}.`);
const lines = [...functions, row('request', 'calls', 'files', 'hops'), ...counts];
process.stdout.write(`${lines.join('\n')}\n`);
