import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bearer,
  createGateway,
  type RequestRecord,
  type GatewayOptions,
  type HttpRequest,
  type SocketOptions,
} from '@petstore/gateway';
import type { GatewayMeta } from '@petstore/gateway/meta';
import { initTRPC, TRPCError } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { onTestFinished } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { z } from 'zod';
import type { Fetch } from '../fetch.ts';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';

interface Context {
  readonly caller: string | undefined;
}

const t = initTRPC.context<Context>().meta<GatewayMeta>().create({ isDev: false });

/** What the calls of a router have done. */
interface Work {
  /** How many values the endless subscription was asked for. */
  pulled: number;
  aborted: string[];
  finished: string[];
}

const kilobytes = (count: number) => 'x'.repeat(count * 1024);

function createRouter(work: Work) {
  const slow = async (name: string, ms: number, signal: AbortSignal | undefined) => {
    signal?.addEventListener('abort', () => work.aborted.push(name), { once: true });
    await sleep(ms, undefined, { signal });
    work.finished.push(name);
    return name;
  };
  return t.router({
    caller: t.procedure.query(({ ctx }) => ctx.caller ?? 'nobody'),
    large: t.procedure.input(z.int()).query(({ input }) => kilobytes(input)),
    slow: t.procedure.input(z.int()).query(({ input, signal }) => slow('query', input, signal)),
    slowWrite: t.procedure.input(z.int()).mutation(({ input, signal }) => slow('mutation', input, signal)),
    broken: t.procedure.query(() => {
      throw new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'broken' });
    }),
    ticks: t.procedure
      .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
      .subscription(async function* ({ signal }) {
        signal?.addEventListener('abort', () => work.aborted.push('ticks'), { once: true });
        for (let n = 1; ; n += 1) {
          yield n;
          await sleep(20, undefined, { signal });
        }
      }),
    silence: t.procedure.subscription(async function* ({ signal }) {
      if (signal && !signal.aborted) await once(signal, 'abort');
      yield 1;
    }),
    /** Does not look at its signal, and never gives anything. */
    deaf: t.procedure
      .meta({ openapi: { method: 'GET', path: '/deaf', event: z.int() } })
      .subscription(async function* () {
        await new Promise(() => {});
        yield 1;
      }),
    /** Neither looks at its signal. */
    deafWrite: t.procedure.input(z.int()).mutation(async ({ input }) => {
      await sleep(input);
      work.finished.push('deafWrite');
    }),
    deafForSeconds: t.procedure.subscription(async () => {
      await sleep(4000, undefined, { ref: false });
      return observable<number>((observer) => observer.complete());
    }),
    flood: t.procedure.subscription(async function* () {
      try {
        for (;;) {
          work.pulled += 1;
          yield kilobytes(16);
        }
      } finally {
        work.finished.push('flood');
      }
    }),
    /** Takes a while, and fails. */
    failsLate: t.procedure.query(async () => {
      await sleep(1);
      throw new TRPCError({ code: 'CONFLICT', message: 'late' });
    }),
    pushed: t.procedure.subscription(() =>
      observable<string>((observer) => {
        const timer = setInterval(() => observer.next(kilobytes(64)), 1);
        return () => clearInterval(timer);
      }),
    ),
  });
}

export interface Library {
  readonly listening: Server;
  readonly http: string;
  readonly fetch: Fetch;
  readonly work: Work;
  /** The keys that are good now, each with its owner. */
  readonly keys: Map<string, string>;
  readonly records: RequestRecord[];
  /** Opens a WebSocket as the package ws has it. */
  readonly dial: (target?: string, options?: ClientOptions) => Client;
}

/** A WebSocket client that keeps what it gets. */
interface Client {
  readonly socket: WebSocket;
  readonly messages: unknown[];
  /** Code and reason of the close; of an upgrade that was refused, its status and body. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
  send(message: unknown): void;
}

/** What a test adds to what the service does, or asks of it. */
export interface Hooks extends Pick<
  GatewayOptions<ReturnType<typeof createRouter>, string>,
  'failedAttempts' | 'rateLimit' | 'trustProxy'
> {
  readonly checkKey?: (request: HttpRequest) => unknown;
  /** What it rejects with, `createContext` does. */
  readonly onContext?: (request: HttpRequest) => unknown;
  readonly onError?: (failure: { readonly path: string | undefined }) => void;
  readonly serveOptions?: Parameters<typeof serve>[1];
}

/** A gateway of streams and slow calls that asks for keys, and what happens inside it. */
export async function startLibrary(
  sockets: SocketOptions = {},
  { checkKey, onContext, onError, serveOptions, ...edge }: Hooks = {},
): Promise<Library> {
  const work: Work = { pulled: 0, aborted: [], finished: [] };
  const keys = new Map([
    ['good-key', 'Ada'],
    ['other-key', 'Bob'],
  ]);
  const records: RequestRecord[] = [];
  const gateway = await createGateway({
    router: createRouter(work),
    authentication: bearer({
      async verify(token, request) {
        await checkKey?.(request);
        return keys.get(token);
      },
    }),
    async createContext({ identity, request }) {
      await onContext?.(request);
      return { caller: identity };
    },
    ...(onError && { rpc: { onError } }),
    document: { title: 'Library', version: '0.0.0' },
    ...edge,
    sockets,
    onResponse: (record) => records.push(record),
  });
  const listening = await serve(gateway, serveOptions);
  onTestFinished(async () => {
    await listening.close({ deadlineMs: 0 });
  });
  return {
    get listening() {
      needs('a count of its connections');
      return listening;
    },
    http: listening.origin,
    fetch: listening.fetch,
    work,
    keys,
    records,
    dial: (target = '/trpc', options = { headers: { authorization: 'Bearer good-key' } }) =>
      client(`${listening.origin.replace(/^http/, 'ws')}${target}`, options),
  };
}

function client(url: string, options: ClientOptions): Client {
  needs('WebSockets');
  const socket = new WebSocket(url, options);
  onTestFinished(() => socket.terminate());
  const messages: unknown[] = [];
  const unsent: string[] = [];
  socket.on('open', () => {
    for (const message of unsent.splice(0)) socket.send(message);
  });
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.on('close', (code, reason) => resolve([code, reason.toString()]));
    socket.on('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('end', () => resolve([response.statusCode ?? 0, body]));
    });
    socket.on('error', () => {});
  });
  return {
    socket,
    messages,
    closed,
    send: (message) => {
      const text = JSON.stringify(message);
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
      else unsent.push(text);
    },
  };
}

/** The message that calls a procedure. */
export const call = (
  id: number,
  method: 'query' | 'mutation' | 'subscription',
  path: string,
  input?: unknown,
) => ({
  id,
  jsonrpc: '2.0',
  method,
  params: { path, ...(input !== undefined && { input }) },
});
