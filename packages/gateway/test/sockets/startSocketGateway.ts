import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, createGateway, type RequestRecord, type HttpRequest } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { onTestFinished, vi } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { z } from 'zod';
import type { Fetch } from '../fetch.ts';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';

interface Context {
  readonly caller: string | undefined;
}

const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

/** What the procedures of a router have done. */
interface RouterActivity {
  /** Number of values pulled from the endless subscription `flood`. */
  pulled: number;
  /** The calls whose signal was aborted. */
  aborted: string[];
  /** The calls that completed. */
  finished: string[];
  /** Ends the calls of `waits`. */
  readonly release: PromiseWithResolvers<void>;
}

const sixteenKibibytes = 'x'.repeat(16_384);

function createRouter(activity: RouterActivity) {
  const slow = async (name: string, ms: number, signal: AbortSignal | undefined) => {
    signal?.addEventListener('abort', () => activity.aborted.push(name), { once: true });
    await sleep(ms, undefined, { signal });
    activity.finished.push(name);
    return name;
  };
  return t.router({
    caller: t.procedure.query(({ ctx }) => ctx.caller ?? 'anonymous'),
    slow: t.procedure.input(z.int()).query(({ input, signal }) => slow('query', input, signal)),
    /** Completes when `release` resolves. */
    waits: t.procedure.query(async () => {
      await activity.release.promise;
      activity.finished.push('query');
      return 'query';
    }),
    slowWrite: t.procedure.input(z.int()).mutation(({ input, signal }) => slow('mutation', input, signal)),
    ticks: t.procedure
      .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
      .subscription(async function* ({ signal }) {
        signal?.addEventListener('abort', () => activity.aborted.push('ticks'), { once: true });
        for (let n = 1; ; n += 1) {
          yield n;
          await sleep(20, undefined, { signal });
        }
      }),
    /** Yields nothing until its signal is aborted. */
    silence: t.procedure.subscription(async function* ({ signal }) {
      if (signal && !signal.aborted) await once(signal, 'abort');
      yield 1;
    }),
    /** Ignores its signal and never yields. */
    neverYields: t.procedure
      .meta({ openapi: { method: 'GET', path: '/never-yields', event: z.int() } })
      .subscription(async function* () {
        await new Promise(() => {});
        yield 1;
      }),
    /** Completes after `input` milliseconds, even if its signal is aborted. */
    writeWithoutSignal: t.procedure.input(z.int()).mutation(async ({ input }) => {
      await sleep(input);
      activity.finished.push('writeWithoutSignal');
    }),
    /** Returns its observable when the calls of `waits` end, even if its signal is aborted. */
    startsLate: t.procedure.subscription(async () => {
      await activity.release.promise;
      return observable<number>((observer) => observer.complete());
    }),
    /** Yields 16 KiB at a time, without end. */
    flood: t.procedure.subscription(async function* () {
      try {
        for (;;) {
          activity.pulled += 1;
          yield sixteenKibibytes;
        }
      } finally {
        activity.finished.push('flood');
      }
    }),
  });
}

export interface SocketGateway {
  readonly server: Server;
  readonly http: string;
  readonly fetch: Fetch;
  readonly activity: RouterActivity;
  /** The caller by valid key. A test that deletes a key revokes it. */
  readonly keys: Map<string, string>;
  /** The records that `onResponse` received. */
  readonly records: RequestRecord[];
  /** Opens a WebSocket by the package ws, by default with a valid key in the upgrade request. */
  readonly connectClient: (target?: string, options?: ClientOptions) => Client;
}

/** A WebSocket client that collects the messages it receives. */
interface Client {
  readonly socket: WebSocket;
  readonly messages: unknown[];
  /** Resolves with the code and reason of the close, or with the status and body of a rejected upgrade. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
  /** Sends a message as JSON, once the socket is open. */
  send(message: unknown): void;
}

/** Options and hooks that a test may set. */
interface GatewayHooks {
  readonly maxBodySize?: number;
  /** Called before each verification of a key. */
  readonly checkKey?: (request: HttpRequest) => unknown;
  /** Called by `createContext`. */
  readonly onContext?: (request: HttpRequest) => unknown;
}

/** Serves a gateway of streams and slow procedures that requires a key. Closes it after the test. */
export async function startSocketGateway({
  checkKey,
  onContext,
  maxBodySize,
}: GatewayHooks = {}): Promise<SocketGateway> {
  const activity: RouterActivity = { pulled: 0, aborted: [], finished: [], release: Promise.withResolvers() };
  const keys = new Map([['good-key', 'Ada']]);
  const records: RequestRecord[] = [];
  const gateway = await createGateway({
    router: createRouter(activity),
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
    document: { title: 'Sockets', version: '0.0.0' },
    ...(maxBodySize !== undefined && { maxBodySize }),
    onResponse: (record) => records.push(record),
  });
  const server = await serve(gateway);
  onTestFinished(async () => {
    await server.close({ timeoutMs: 0 });
  });
  return {
    get server() {
      needs('a count of its connections');
      return server;
    },
    http: server.origin,
    fetch: server.fetch,
    activity,
    keys,
    records,
    connectClient: (target = '/trpc', options = { headers: { authorization: 'Bearer good-key' } }) =>
      connectTo(`${server.origin.replace(/^http/, 'ws')}${target}`, options),
  };
}

function connectTo(url: string, options: ClientOptions): Client {
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
      const json = JSON.stringify(message);
      if (socket.readyState === WebSocket.OPEN) socket.send(json);
      else unsent.push(json);
    },
  };
}

/** Returns the WebSocket message that calls a procedure. */
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

/** Waits until a check passes. */
export const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 5 });
