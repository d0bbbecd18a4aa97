import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { mcp } from 'trpc-gateway/mcp';
import { call as callTool } from '@petstore/testing/mcpMessages';
import type { Server } from '../listen.ts';
import { needs } from '../servers.ts';
import { openSocket } from '../socketClient.ts';
import { openShape, startShape } from '../startShape.ts';
import { asyncOutputs, asyncRouter, seen, type AsyncOutput } from './asyncOutputs.ts';

/** Is called for rejections without a handler, each of which would end a process. */
const onUnhandled = vi.fn();
process.on('unhandledRejection', onUnhandled);
afterAll(() => void process.off('unhandledRejection', onUnhandled));
beforeEach(() => {
  Object.assign(seen, { rejected: 0, ended: 0, waiting: 0 });
  onUnhandled.mockClear();
});

const until = (check: () => void) => vi.waitFor(check, { interval: 2 });

/** Waits until the promises of an output have rejected and its iterables have ended. */
async function expectReleased({ rejected = 0, ended = 0 }: AsyncOutput): Promise<void> {
  await until(() => expect(seen).toMatchObject({ rejected, ended }));
  // Node emits the event at the end of a turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  expect([seen, onUnhandled.mock.calls]).toMatchObject([{ rejected, ended }, []]);
}

const { close, server: running } = await openShape(asyncRouter, { mcp: mcp() });
afterAll(close);

type Path = keyof typeof asyncRouter._def.procedures;

/** A call of a procedure, whose path over REST is the same. */
interface Call {
  readonly path: Path;
  readonly protocol: Protocol;
  readonly name: string;
  readonly signal?: AbortSignal;
}

const typeOf = ({ path }: Call) => asyncRouter._def.procedures[path]._def.type;
const inputOf = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;

/** Sends a query or subscription with its input in the query string, and a mutation with a key. */
async function request({ fetch, origin }: Server, call: Call, target: string, query: string, headers = {}) {
  const { path, protocol, name, signal } = call;
  const isMutation = typeOf(call) === 'mutation';
  const key = { 'idempotency-key': `${path} ${protocol} ${name}`.replaceAll(' ', '-') };
  const response = await fetch(`${origin}${target}${isMutation ? '' : `?${query}`}`, {
    headers: { 'content-type': 'application/json', ...(isMutation && key), ...headers },
    ...(isMutation && { method: 'POST', body: JSON.stringify({ name }) }),
    ...(signal && { signal }),
  });
  return response.text();
}

/** A message of tRPC. */
interface Message {
  readonly error?: { readonly data: { readonly code: string } };
  readonly result?: { readonly data?: unknown };
}
const dataOf = ({ error, result }: Message): unknown => error?.data.code ?? result?.data;

/** Returns the data of the first event that has some. */
const firstEvent = (text: string): unknown =>
  JSON.parse(/^data: (?!\{\}$)([{[].*)$/m.exec(text)?.[1] ?? 'null');

/** Functions that send a call, and return the output or the event as its client receives it. */
const senders = {
  REST: async (server, call) => {
    const text = await request(server, call, `/v1/${call.path}`, `name=${encodeURIComponent(call.name)}`);
    return typeOf(call) === 'subscription' ? firstEvent(text) : JSON.parse(text);
  },
  MCP: async (server, { path, name, signal }) => {
    const { message } = await callTool(server, path, { name }, { ...(signal && { init: { signal } }) });
    const result = message?.result as { readonly content: readonly [{ readonly text: string }] } | undefined;
    return JSON.parse(result?.content[0].text ?? 'null') as unknown;
  },
  tRPC: async (server, call) => {
    const text = await request(server, call, `/trpc/${call.path}`, inputOf({ name: call.name }));
    const isEvents = typeOf(call) === 'subscription';
    return isEvents ? firstEvent(text) : dataOf(JSON.parse(text));
  },
  'a batch': async (server, call) => {
    // The other call is pending when the output is known.
    const query = `batch=1&${inputOf({ 0: { name: call.name }, 1: { name: '' } })}`;
    const text = await request(server, call, `/trpc/${call.path},later`, query);
    return dataOf((JSON.parse(text) as readonly [Message])[0]);
  },
  /** Returns `lines` if they have data. */
  'JSON lines': async (server, call) => {
    const query = `batch=1&${inputOf({ 0: { name: call.name } })}`;
    const headers = { 'trpc-accept': 'application/jsonl' };
    const text = await request(server, call, `/trpc/${call.path}`, query, headers);
    return text.includes('"data",0') ? 'lines' : text;
  },
  'a WebSocket': async (server, call) => {
    const { name, path, signal } = call;
    const client = openSocket(server);
    signal?.addEventListener('abort', () => client.socket.terminate());
    const method = typeOf(call);
    // A subscription begins with a message that it has started.
    const count = method === 'subscription' ? 2 : 1;
    const messages = await client.exchange({ id: 1, method, params: { path, input: { name } } }, count);
    return dataOf(messages[count - 1] as Message);
  },
} satisfies Record<string, (server: Server, call: Call) => Promise<unknown>>;

type Protocol = 'REST' | 'MCP' | 'tRPC' | 'a batch' | 'JSON lines' | 'a WebSocket';
const send = (call: Call) => senders[call.protocol](running, call);
const allProtocols = Object.keys(senders) as readonly Protocol[];
const keyProtocols = ['REST', 'tRPC'] as const;
const eventProtocols = ['REST', 'MCP', 'tRPC', 'a WebSocket'] as const;

/** JSON lines await queries, and send and close iterables: over them, only promises that reject are sent. */
const casesOf = (paths: readonly Path[], protocols: readonly Protocol[]) =>
  paths.flatMap((path) =>
    protocols.flatMap((protocol) =>
      Object.entries(asyncOutputs)
        .filter(([, { rejected }]) => protocol !== 'JSON lines' || rejected !== undefined)
        .map(([name, output]) => ({ path, protocol, name, output })),
    ),
  );

function received({ path, protocol }: Call, { isStream, json }: AsyncOutput): unknown {
  if (protocol === 'JSON lines') return 'lines';
  const isRefused = isStream && path !== 'events' && ['tRPC', 'a batch'].includes(protocol);
  return isRefused ? 'UNSUPPORTED_MEDIA_TYPE' : json;
}

it.each([
  ...casesOf(['output', 'later', 'unchecked', 'logged', 'replaced', 'wrapped'], allProtocols),
  ...casesOf(['yielded'], ['JSON lines']),
  ...casesOf(['keyed'], keyProtocols),
  ...casesOf(['events'], eventProtocols),
])(
  '$path over $protocol: an output with $name is sent, its rejections are handled and its iterables end',
  async ({ output, ...call }) => {
    const expected = received(call, output);
    expect(await send(call)).toEqual(expected);
    await expectReleased(output);
    // Its key replays an output, but not an error.
    const isReplayed = call.path === 'keyed' && expected === output.json;
    expect(isReplayed ? await send(call) : expected).toEqual(expected);
  },
);

it.each(casesOf(['output'], ['a WebSocket']))(
  'a policy completes the response on a WebSocket: an output with $name is sent and released',
  async ({ output, ...call }) => {
    const { server } = await startShape(asyncRouter, {
      mcp: mcp(),
      policies: [{ complete: () => sleep(5) }],
    });
    expect(await senders['a WebSocket'](server, call)).toEqual(output.json);
    await expectReleased(output);
  },
);

it.each([
  ...casesOf(['invalid', 'invalidLater'], allProtocols),
  ...casesOf(['late'], allProtocols),
  ...casesOf(['lateKeyed'], keyProtocols),
  ...casesOf(['invalidEvents', 'invalidEventsLater', 'anyEventsLater'], ['REST', 'MCP']),
])(
  '$path over $protocol fails: an output with $name is not sent, and is released',
  async ({ output, ...call }) => {
    const code = call.path.startsWith('late') ? 'TIMEOUT' : 'INTERNAL_SERVER_ERROR';
    expect(JSON.stringify(await send(call))).toContain(code);
    await expectReleased(output);
  },
);

it.each([...casesOf(['abandoned'], allProtocols), ...casesOf(['abandonedEvents'], eventProtocols)])(
  '$path over $protocol: an output with $name after its client has disconnected is released',
  async ({ output, ...call }) => {
    // Here, since the test would wait for the call.
    if (call.protocol === 'a WebSocket') needs('WebSockets');
    const controller = new AbortController();
    const response = send({ ...call, signal: controller.signal });
    response.catch(() => {});
    await until(() => expect(seen.waiting).toBeGreaterThan(0));
    controller.abort();
    await expect(response).rejects.toThrow(/aborted|closed/);
    await expectReleased(output);
  },
);
