import { EventEmitter } from 'node:events';
import { inputs } from '@petstore/testing/forms';
import type { TRPCError, AnyTRPCRouter } from '@trpc/server';
import { getWSConnectionHandler, type WSSHandlerOptions } from '@trpc/server/adapters/ws';
import type { TRPCRequestInfo } from '@trpc/server/http';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { testGateway } from '../../testing/testGateway.ts';
import { quiet, upgradeRequest } from '../../testing/openSocket.ts';
import { routerOf } from './testing/comparedRouter.ts';
import { bytesOf, socketPlan, type SocketPlan } from './testing/randomMessages.ts';

// Compares what tRPC's own handler, as of `applyWSSHandler`, and ours send, pass to callbacks and do to the socket.

/** The server's end of an in-process WebSocket. */
interface ServerEnd {
  message(data: Buffer, isBinary: boolean): void;
  close(): void;
}

/** Opens a socket of a router. Frames, callbacks and closes are added to `events`. */
type Connect = (
  router: AnyTRPCRouter,
  events: unknown[],
  options?: { readonly target?: string; readonly context?: () => unknown },
) => Promise<ServerEnd>;

const callbacks = (events: unknown[], context: () => unknown = () => ({ events, showsAborts: true })) => ({
  createContext: ({ info }: { readonly info: TRPCRequestInfo | undefined }) => {
    const { accept, calls, connectionParams, isBatchCall, signal, type, url } = info ?? {};
    events.push(['createContext', { accept, calls, connectionParams, isBatchCall, type, url }]);
    signal?.addEventListener('abort', () => events.push('the signal of the context is aborted'));
    return context() as object;
  },
  onError: ({ error: { code, message }, path, type, input, ctx }: ReportedError): void => {
    events.push(['onError', { code, message, path, type, input, hasContext: ctx !== undefined }]);
    if (code === 'CONFLICT') throw new Error('onError failed');
  },
});

interface ReportedError {
  readonly error: TRPCError;
  readonly path: string | undefined;
  readonly type: string;
  readonly input: unknown;
  readonly ctx: unknown;
}

const official: Connect = async (router, events, { target = '/trpc', context } = {}) => {
  const client = Object.assign(new EventEmitter(), {
    readyState: 1,
    send: (text: string) => events.push(text),
    close: () => events.push('closed'),
    terminate() {},
  });
  const options = { router, ...callbacks(events, context) };
  const serve = getWSConnectionHandler(options as unknown as WSSHandlerOptions<AnyTRPCRouter>);
  serve(client as never, { url: target, headers: {}, socket: {} } as never);
  return {
    message: (data, isBinary) => client.emit('message', data, isBinary),
    close() {
      client.readyState = 3;
      client.emit('close');
    },
  };
};

const gateway: Connect = async (router, events, { target, context } = {}) => {
  const { createContext, onError } = callbacks(events, context);
  const { upgrade } = await testGateway(router, {
    createContext: ({ info }) => createContext({ info }),
    // Of HTTP only.
    trpc: { maxBatchSize: 1, onError },
    maskUnexpectedErrors: false,
  });
  const accept = (await upgrade(upgradeRequest(target))) as SocketAcceptor;
  const handler = accept({
    bufferedBytes: 0,
    send: (message) => events.push(message),
    close: () => events.push('closed'),
    terminate() {},
  });
  return {
    message: (data, isBinary) => handler.message(data, isBinary),
    close: () => void handler.closed(),
  };
};

/** Waits until all microtasks have run, as between two messages of one packet. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 300; count += 1) await Promise.resolve();
}

/**
 * Runs a plan and returns frames and callbacks, in one part per pause. A part with a single call is in order. For concurrent
 * calls, only the frames of each unique id are in order, and everything else is sorted.
 */
async function transcript(connect: Connect, plan: SocketPlan): Promise<unknown> {
  const router = routerOf(plan.hasTransformer ? { transformer: true } : {});
  const events: unknown[] = [];
  const end = await connect(router, events);
  await quiet();
  const isUniqueId = uniqueIds(plan);
  const parts: unknown[] = [];
  let calls = 0;
  const cut = (isInOrder = calls <= 1) => {
    const part = events.splice(0);
    parts.push(structuredClone(isInOrder ? part : sorted(part, isUniqueId)));
    calls = 0;
  };
  for (const { message, pause } of plan.steps) {
    end.message(bytesOf(message, router, plan.hasTransformer), message.kind === 'text' && message.isBinary);
    calls += message.kind === 'calls' ? message.calls.length : 1;
    await microtasks();
    if (pause === 'turn') await new Promise(setImmediate);
    if (pause !== 'quiet') continue;
    await quiet();
    cut();
  }
  await quiet();
  end.close();
  await quiet();
  // The close aborts all calls.
  cut(false);
  return parts;
}

/** Returns a function that tests whether only one call of a plan has an id, as written in frames. */
function uniqueIds({ steps }: SocketPlan): (id: unknown) => boolean {
  const ids = steps.flatMap(({ message }) =>
    message.kind === 'calls' ? message.calls.map(({ id }) => JSON.stringify(id)) : [],
  );
  return (id) => {
    const text = JSON.stringify(id);
    return ids.indexOf(text) !== -1 && ids.indexOf(text) === ids.lastIndexOf(text);
  };
}

/** Sorts the frames and callbacks of concurrent calls. */
function sorted(entries: readonly unknown[], isUniqueId: (id: unknown) => boolean): readonly unknown[] {
  const frames = new Map<string, unknown[]>();
  const others: string[] = [];
  for (const entry of entries) {
    const id =
      typeof entry === 'string' && entry.startsWith('{') ? (JSON.parse(entry) as { id: unknown }).id : null;
    const key = JSON.stringify(id);
    if (id !== null && isUniqueId(id)) frames.set(key, [...(frames.get(key) ?? []), entry]);
    else others.push(JSON.stringify(entry));
  }
  return [[...frames].toSorted(([a], [b]) => (a < b ? -1 : 1)), others.toSorted()];
}

const runs = inputs(1000, 40);

it(`${runs} WebSockets respond to random messages in the same way as tRPC’s own adapter`, async () => {
  await fc.assert(
    fc.asyncProperty(socketPlan, async (plan) => {
      expect(await transcript(gateway, plan)).toEqual(await transcript(official, plan));
    }),
    { numRuns: runs },
  );
});

const withParameters = '/trpc?connectionParams=1';
const query = '{"id":1,"method":"query","params":{"path":"hello"}}';
const subscribe = (path: string, input?: string) =>
  JSON.stringify({ id: 1, method: 'subscription', params: { path, input } });
const stop = '{"id":1,"method":"subscription.stop"}';

it.each<[what: string, target: string, messages: readonly string[], context?: () => unknown]>([
  ['connection parameters', withParameters, ['{"method":"connectionParams","data":{"token":"t"}}', query]],
  ['connection parameters of null', withParameters, ['{"method":"connectionParams","data":null}', query]],
  ['connection parameters that are not JSON', withParameters, ['{']],
  ['connection parameters that are a number', withParameters, ['5']],
  ['connection parameters of numbers', withParameters, ['{"data":{"a":1}}']],
  ['a batch of 1,000 numbers', '/trpc', [`[${'5,'.repeat(999)}5]`]],
  ['50,000 nested arrays', '/trpc', ['['.repeat(50_000)]],
  [
    'a subscription that is stopped by the message that starts it',
    '/trpc',
    [`[${subscribe('count')},${stop}]`, subscribe('count')],
  ],
  ['a subscription that fails when it is stopped', '/trpc', [subscribe('failsWhenStopped'), stop]],
  ...['throws', 'fails to close', 'observes'].map((ending): [string, string, string[]] => {
    const what = `a subscription that ${ending} after it was stopped`;
    return [what, '/trpc', [subscribe('stoppedFirst', ending), stop]];
  }),
  ['a subscription whose resolver returns after the close', '/trpc', [subscribe('stoppedFirst', 'observes')]],
  ['an iterator that fails to close', '/trpc', [subscribe('failsToClose')]],
  ['an iterator that fails, and fails to close', '/trpc', [subscribe('failsToClose', 'fails')]],
  ['an event that cannot be encoded', '/trpc', [subscribe('tracks')]],
  [
    'a createContext that throws',
    '/trpc',
    [],
    () => {
      throw new Error('Not you');
    },
  ],
])(
  'a WebSocket with %s sends, reports and closes the same as with tRPC’s own adapter',
  async (_what, target, messages, context) => {
    const [expected, actual] = await Promise.all(
      [official, gateway].map(async (connect) => {
        const events: unknown[] = [];
        const router = routerOf({});
        const end = await connect(router, events, { target, ...(context && { context }) });
        await quiet();
        for (const message of messages) {
          end.message(Buffer.from(message), false);
          await quiet();
        }
        end.close();
        await quiet();
        return events;
      }),
    );
    expect(expected?.length).toBeGreaterThan(1);
    expect(actual).toEqual(expected);
  },
);
