import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC, lazy, tracked, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { octetInputParser, type HTTPBaseHandlerOptions } from '@trpc/server/http';
import { observable } from '@trpc/server/observable';
import { TRPC_ERROR_CODES_BY_KEY, type TRPC_ERROR_CODE_KEY } from '@trpc/server/rpc';
import { isTrpcBefore } from '@petstore/testing/olderTrpc';
import { z } from 'zod';
import { outputs } from './comparedOutputs.ts';

// The router and the settings with which the gateway and tRPC's own code are compared.

/** All codes of `TRPCError`, each with its own status. */
export const errorCodes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPC_ERROR_CODE_KEY[];

export type Events = unknown[][];
export interface Context {
  readonly events: Events;
  readonly showsAborts?: boolean;
}

const serialization = {
  input: {
    serialize: (value: unknown) => value,
    deserialize: (value: unknown) => {
      if (value === 'undecodable') throw new TypeError('This input cannot be deserialized.');
      return typeof value === 'object' && value !== null && 'json' in value ? value.json : value;
    },
  },
  output: {
    serialize: (value: unknown) => {
      if (value === 'unencodable') throw new TypeError('This output cannot be serialized.');
      return { json: value };
    },
    deserialize: (value: unknown) => value,
  },
};

class Money {
  toJSON(member: string) {
    return `1 EUR in ${member}`;
  }
}

/** tRPC's adapters pass the index of a call since 11.10, the gateway always. */
export const hasBatchIndex = !isTrpcBefore('11.10.0');

export function routerOf(setting: Setting) {
  const t = initTRPC.context<Context>().create({
    isDev: false,
    ...(setting.transformer && { transformer: serialization }),
    ...(setting.pathSeparator !== undefined && { pathSeparator: setting.pathSeparator }),
    ...(setting.sse && { sse: setting.sse }),
    ...(setting.jsonl && { jsonl: setting.jsonl }),
    errorFormatter: ({ shape, error, path, input, type }) => {
      if (error.message === 'unformattable') throw new TypeError('The formatter broke.');
      if (error.message === 'shapeless') return undefined as never;
      if (error.message === 'teapot') return { ...shape, data: { ...shape.data, httpStatus: 418 } };
      if (error.message === 'bigint') return { ...shape, data: { ...shape.data, size: 1n } };
      // Converted, since JSON shows nothing of a file.
      return { ...shape, data: { ...shape.data, path, input: shown(input), type } };
    },
  });
  const step = t.procedure.use(({ ctx, path, type, batchIndex, signal, next }) => {
    ctx.events.push(['call', path, type, hasBatchIndex && batchIndex, signal?.aborted]);
    if (ctx.showsAborts) signal?.addEventListener('abort', () => ctx.events.push(['aborted', path]));
    return next();
  });
  const any = step.input(z.unknown());
  return t.router({
    hello: step.query(() => 'world'),
    echo: any.query(({ input }) => input),
    nothing: step.query(() => undefined),
    nil: step.query(() => null),
    money: step.query(() => new Money()),
    moneys: step.query(() => [new Money(), { a: new Money() }]),
    big: step.query(() => 10n),
    unencodable: step.query(() => 'unencodable'),
    method: step.query(() => () => 1),
    text: step.query(() => 'ü 🐶 \u2028 "\\\ud800'),
    iterable: step.query(async function* () {
      yield 1;
    }),
    output: step.input(z.int()).query(({ input }) => outputs[input]?.()),
    promised: step.query(() => ({ a: Promise.resolve(1) })),
    checked: step.input(z.object({ n: z.number() })).query(({ input }) => input.n),
    later: step.input(z.unknown()).query(async ({ input }) => {
      await new Promise((resolve) => setImmediate(resolve));
      return { input };
    }),
    slow: step.query(async () => sleep(100, 'slow')),
    conflict: step.input(z.string()).query(({ input }) => {
      throw new TRPCError({ code: 'CONFLICT', message: input });
    }),
    write: any.mutation(({ input }) => ({ wrote: input })),
    touch: step.mutation(() => 'touched'),
    failWrite: any.mutation(() => {
      throw new Error('Not written');
    }),
    upload: step.input(z.instanceof(FormData)).mutation(({ input }) => shown(input)),
    octets: step.input(octetInputParser).mutation(({ input }) => new Response(input).text()),
    count: any.subscription(async function* ({ input }) {
      yield input;
      yield 'last';
    }),
    failCount: any.subscription(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'Not counted' });
    }),
    notCounted: any.subscription((() => 5) as never),
    tracks: any.subscription(async function* () {
      for (const value of [1, undefined, new Date(5), new Map([[1, 2]]), 'ü 🐶 \u2028\n', () => 1]) {
        yield value;
        yield tracked('n-é-7', value);
        yield tracked('1', value);
      }
      yield 10n;
    }),
    silent: any.subscription(async function* ({ signal }) {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      yield 1;
    }),
    stoppedEarly: any.subscription(async ({ signal }) => {
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason as Error)),
      );
      return observable<number>(() => () => {});
    }),
    failsWhenStopped: any.subscription(async function* ({ signal }) {
      yield 1;
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      throw new Error('The clean-up failed.');
    }),
    /** Returns its events when it is stopped. */
    stoppedFirst: any.subscription((async ({ input, signal, ctx }: SubscriptionCall) => {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      if (input === 'observes') return observable<number>(() => void ctx.events.push(['subscribed']));
      return {
        [Symbol.asyncIterator]() {
          if (input === 'throws') throw new Error('no iterator');
          return failingToClose(async () => ({}));
        },
      };
    }) as never),
    failsToClose: any.subscription((({ input }: SubscriptionCall) => ({
      [Symbol.asyncIterator]: () =>
        failingToClose(async () => {
          if (input === 'fails') throw new Error('next failed');
          return { done: true };
        }),
    })) as never),
    failsAfterEvent: any.subscription(async function* ({ input }) {
      yield 1;
      throw new TRPCError({ code: 'CONFLICT', message: String(input) });
    }),
    leaves: any.subscription(async function* () {
      yield 1;
      throw new DOMException('The subscription left.', 'AbortError');
    }),
    observed: any.subscription(({ input }) =>
      observable<unknown>((observer) => {
        observer.next(input);
        if (input === 'fails') observer.error(new TRPCError({ code: 'CONFLICT', message: 'Observed' }));
        else observer.complete();
      }),
    ),
    countSlowly: any.subscription(async function* () {
      yield 1;
      await sleep(100);
      yield 2;
    }),
    optional: step.input(z.object({ n: z.number() }).optional()).query(({ input }) => input ?? 'none'),
    throwCode: step.input(z.enum(errorCodes)).query(({ input }) => {
      throw new TRPCError({ code: input, message: `This is ${input}` });
    }),
    throws: step.input(z.enum(['error', 'text', 'nothing'])).query(({ input }) => {
      if (input === 'error') throw new Error('unexpected');
      throw input === 'text' ? 'just text' : undefined;
    }),
    deep: t.router({ hello: step.query(() => 'below') }),
    lazily: lazy(async () => ({ default: t.router({ hello: step.query(() => 'loaded') }) })),
  });
}

interface SubscriptionCall {
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
  readonly ctx: Context;
}

const failingToClose = (next: () => Promise<object>) => ({
  next,
  return: async () => {
    throw new Error('return failed');
  },
});

/** Converts an input to a value that JSON can show. */
export const shown = (input: unknown): unknown =>
  input instanceof FormData
    ? [...input].map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [value.name, value.size, value.type],
      ])
    : input instanceof ReadableStream
      ? 'a stream'
      : input;

type StreamOptions = NonNullable<Parameters<typeof initTRPC.create>[0]>;

export interface Setting {
  readonly options?: Pick<
    HTTPBaseHandlerOptions<AnyTRPCRouter, unknown>,
    'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta'
  >;
  readonly transformer?: true;
  readonly pathSeparator?: '-' | '~';
  readonly sse?: StreamOptions['sse'];
  readonly jsonl?: StreamOptions['jsonl'];
  readonly basePath?: `/${string}`;
  readonly context?: 'fails' | 'forbids' | 'waits' | 'readsInput';
}

function throwNoMeta(): never {
  throw new TypeError('No meta');
}

/** Pings after `intervalMs`, and a client that connects again after `reconnectAfterInactivityMs` without one. */
const pingsAnd = (intervalMs: number | undefined, reconnectAfterInactivityMs: number) => ({
  sse: {
    ping: { enabled: true, ...(intervalMs !== undefined && { intervalMs }) },
    client: { reconnectAfterInactivityMs },
  },
});

export const settings = {
  default: {},
  transformer: { transformer: true },
  separator: { pathSeparator: '-' },
  unusualSeparator: { pathSeparator: '~' },
  maxBatchSize: { options: { maxBatchSize: 2 } },
  noBatching: { options: { allowBatching: false } },
  methodOverride: { options: { allowMethodOverride: true } },
  rootPath: { basePath: '/' },
  longPath: { basePath: '/api/v1/' },
  unencodedPath: { basePath: '/ä b' },
  noEvents: { sse: { enabled: false } },
  reconnects: { sse: { client: { reconnectAfterInactivityMs: 10_000 } } },
  pings: { sse: { ping: { enabled: true, intervalMs: 70 } } },
  pingsAtReconnect: pingsAnd(900, 900),
  pingsAfterReconnect: pingsAnd(901, 900),
  pingsByDefaultAtReconnect: pingsAnd(undefined, 1000),
  pingsByDefaultAfterReconnect: pingsAnd(undefined, 999),
  endsImmediately: { sse: { emitAndEndImmediately: true } },
  endsInTime: { sse: { maxDurationMs: 50 } },
  linesPings: { jsonl: { pingMs: 70 } },
  otherLinesType: { jsonl: { contentType: 'application/jsonl' } },
  contextFails: { context: 'fails' },
  contextForbids: { context: 'forbids' },
  contextWaits: { context: 'waits' },
  contextReadsInput: { context: 'readsInput' },
  metaHeaders: {
    options: {
      responseMeta: ({ errors }) => ({
        ...(errors.length > 0 && { status: 418 }),
        headers: new Headers([
          ['cache-control', 'max-age=1'],
          ['content-type', 'application/x'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ]),
      }),
    },
  },
  metaObject: {
    options: {
      responseMeta: ({ type }) => ({
        status: 202,
        headers: { Vary: ['origin', 'x'], 'Content-Type': 'text/x', 'X-Type': type, 'x-none': undefined },
      }),
    },
  },
  metaThrows: { options: { responseMeta: throwNoMeta } },
  metaThrowsForSuccess: {
    options: {
      responseMeta: ({ errors }) => {
        if (errors.length === 0) throwNoMeta();
        return { headers: { 'x-failed': String(errors.length) } };
      },
    },
  },
  metaBodiless: { options: { responseMeta: ({ errors }) => (errors.length > 0 ? {} : { status: 204 }) } },
  metaNoStatus: { options: { responseMeta: () => ({ status: 1000 }) } },
  metaTransformer: {
    transformer: true,
    options: { responseMeta: ({ data }) => ({ headers: new Headers([['x-data', String(data.length)]]) }) },
  },
} as const satisfies Record<string, Setting>;
export type SettingName = keyof typeof settings;
