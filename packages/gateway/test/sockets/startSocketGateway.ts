import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { bearer, createGateway, type RequestRecord, type HttpRequest } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { onTestFinished, vi } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { z } from 'zod';
import { needs, serve } from '../servers.ts';

const t = initTRPC.context<{ readonly caller: string | undefined }>().meta<GatewayMeta>().create();

/** What the procedures of a router have done. */
interface RouterActivity {
  /** The calls whose signal was aborted. */
  aborted: string[];
  /** The calls that completed. */
  finished: string[];
  /** Ends the calls of `waits`. */
  readonly release: PromiseWithResolvers<void>;
}

function createRouter(activity: RouterActivity) {
  return t.router({
    caller: t.procedure.query(({ ctx }) => ctx.caller ?? 'anonymous'),
    /** Completes when `release` resolves. */
    waits: t.procedure.query(async () => {
      await activity.release.promise;
      activity.finished.push('query');
      return 'query';
    }),
    /** Completes after `input` milliseconds, even if its signal is aborted. */
    slowWrite: t.procedure.input(z.int()).mutation(async ({ input }) => {
      await sleep(input);
      activity.finished.push('mutation');
      return 'mutation';
    }),
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
    /** Returns its observable when the calls of `waits` end, even if its signal is aborted. */
    startsLate: t.procedure.subscription(async () => {
      await activity.release.promise;
      return observable<number>((observer) => observer.complete());
    }),
  });
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
export async function startSocketGateway({ checkKey, onContext, maxBodySize }: GatewayHooks = {}) {
  const activity: RouterActivity = { aborted: [], finished: [], release: Promise.withResolvers() };
  /** The caller by valid key. A test that deletes a key revokes it. */
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
    /** Opens a WebSocket by the package ws, by default with a valid key in the upgrade request. */
    connectClient: (
      target = '/trpc',
      options: ClientOptions = { headers: { authorization: 'Bearer good-key' } },
    ) => connectTo(`${server.origin.replace(/^http/, 'ws')}${target}`, options),
  };
}

/** Opens a WebSocket, and collects the messages that it receives. */
function connectTo(url: string, options: ClientOptions) {
  needs('WebSockets');
  const socket = new WebSocket(url, options);
  onTestFinished(() => socket.terminate());
  const messages: unknown[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  socket.on('error', () => {});
  /** Resolves with the code and the reason of the close. */
  const closed = new Promise<readonly [code: number, reason: string]>((resolve) => {
    socket.on('close', (code, reason) => resolve([code, reason.toString()]));
  });
  /** Sends a message as JSON, once the socket is open. */
  const send = (message: unknown) => {
    const json = JSON.stringify(message);
    if (socket.readyState === WebSocket.OPEN) socket.send(json);
    else socket.once('open', () => socket.send(json));
  };
  return { socket, messages, closed, send };
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
