import { setImmediate as nextTurn } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { initTRPC, tracked } from '@trpc/server';
import { createGateway, type Gateway, type GatewayOptions, type HttpResponse } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta, ResponseControls } from 'trpc-gateway/procedures';
import { z } from 'zod';

const t = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create();

const names = ['Rex', 'Bella', 'Max', 'Luna', 'Charlie', 'Lucy', 'Cooper', 'Daisy'];

export const animal = (id: number) => ({
  id,
  name: `${names[id % names.length]} ${(id * 7919) % 1000}`,
  status: ['available', 'pending', 'sold'][id % 3],
  categoryId: (id * 31) % 17,
  createdAt: new Date(1.7e12 + id * 86_431_234).toISOString(),
});
const animals = (count: number) => Array.from({ length: count }, (_, index) => animal(index + 1));

const Count = z.object({ count: z.coerce.number().default(100) }).prefault({});
const Ticks = z
  .object({ count: z.coerce.number().default(100), isApart: z.stringbool().default(false) })
  .prefault({});
const text = (bytes: number) => 'pets '.repeat(bytes / 5);

/** @param isApart whether each is sent on its own */
async function* ticks({ count, isApart }: z.output<typeof Ticks>) {
  for (let id = 1; id <= count; id += 1) {
    yield tracked(String(id), animal(id));
    if (isApart) {
      await nextTurn();
      await nextTurn();
    }
  }
}

/** Events of which the next one is yielded when `release` is called. */
export class Gate {
  #next = Promise.withResolvers<void>();
  /** Subscriptions that run. */
  open = 0;

  release(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  async *events(signal: AbortSignal | undefined) {
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    this.open += 1;
    try {
      for (let id = 1; ; id += 1) {
        yield animal(id);
        await Promise.race([this.#next.promise, aborted]);
        if (signal?.aborted) return;
      }
    } finally {
      this.open -= 1;
    }
  }
}

const tool: GatewayMeta = { mcp: { description: 'A tool of this test.' } };

/** A procedure that is served at a path by GET. */
const get = (
  path: `/${string}`,
  operation: Exclude<GatewayMeta['openapi'], boolean | undefined> = {},
  meta: GatewayMeta = {},
) => t.procedure.meta({ ...meta, openapi: { ...operation, method: 'GET', path } });

function signIn({ ctx }: { readonly ctx: { readonly response: ResponseControls } }): string {
  ctx.response.append('set-cookie', 'session=1');
  return text(5000);
}

const createCompressedRouter = (gate = new Gate()) =>
  t.router({
    list: get('/animals', {}, tool)
      .input(Count)
      .output(z.array(z.any()))
      .query(({ input }) => animals(input.count)),
    create: t.procedure
      .meta({ openapi: { method: 'POST', path: '/animals', successStatus: 201 } })
      .input(z.object({ text: z.string() }))
      .output(z.string())
      .mutation(({ input }) => input.text),
    text: get('/text')
      .input(z.object({ bytes: z.coerce.number() }))
      .output(z.string())
      .query(({ input }) => text(input.bytes - 2).padEnd(input.bytes - 2, '.')),
    secret: get('/secret', {}, { ...tool, compression: false })
      .output(z.string())
      .query(() => text(5000)),
    signIn: get('/sign-in').output(z.string()).query(signIn),
    signInCompressed: get('/sign-in-compressed', {}, { compression: true }).output(z.string()).query(signIn),
    fixed: get('/fixed')
      .output(z.string())
      .query(({ ctx }) => {
        ctx.response.header('cache-control', 'public, no-transform');
        return text(5000);
      }),
    remove: t.procedure
      .meta({ openapi: { method: 'DELETE', path: '/animals' } })
      .output(z.void())
      .mutation(() => undefined),
    image: get('/image', { produces: 'image/png' }).query(() => new Uint8Array(5000)),
    csv: get('/csv', { produces: 'text/csv' }).query(async function* () {
      for (let row = 0; row < 100; row += 1) yield Buffer.from(`${row},Rex,available\n`);
    }),
    numbers: get('/numbers', { produces: 'text/csv' }).query(async function* () {
      for (let row = 0; row < 10_000; row += 1) yield Buffer.from(`${row}\n`);
    }),
    gatedRows: get('/gated-rows', { produces: 'text/csv' }).query(async function* ({ signal }) {
      for await (const { id } of gate.events(signal)) yield Buffer.from(`{"id":${id},}\n`);
    }),
    ticks: get('/ticks', { event: z.any() }, tool)
      .input(Ticks)
      .subscription(({ input }) => ticks(input)),
    lines: t.procedure.input(Ticks).query(({ input }) => ticks(input)),
    gated: get('/gated', { event: z.any() }).subscription(({ signal }) => gate.events(signal)),
  });

type CompressedRouter = ReturnType<typeof createCompressedRouter>;

const textType = ['content-type', 'text/plain'] as const;
const page = (...headers: (readonly [string, string])[]): HttpResponse => ({
  status: 200,
  headers: [textType, ...headers],
  body: text(5000),
});

/** Routes whose responses may or may not be compressed. */
const routes: NonNullable<GatewayOptions<CompressedRouter, unknown>['routes']> = {
  '/page': () => page(),
  '/tagged': (request) =>
    request.header('if-none-match')?.includes('"1"')
      ? { status: 304, headers: [['etag', '"1"']] }
      : page(['etag', '"1"'], ['accept-ranges', 'bytes']),
  '/weak': () => page(['etag', 'W/"1"']),
  '/encoded': () => ({
    status: 200,
    headers: [textType, ['content-encoding', 'gzip']],
    body: zlib.gzipSync(text(50_000), { level: 0 }),
  }),
  '/partial': () => ({ ...page(['content-range', 'bytes 0-4999/9999']), status: 206 }),
  '/digest': () => page(['repr-digest', 'sha-256=:AAAA:']),
  '/varied': () => page(['vary', 'Accept-Language']),
  '/varied-already': () => page(['vary', 'accept-encoding, Accept']),
  '/varied-by-all': () => page(['vary', '*']),
  '/untyped': () => ({ status: 200, headers: [], body: text(5000) }),
  '/large': () => ({ status: 200, headers: [textType], body: text(1_000_000) }),
  '/missing': () => ({ ...page(), status: 404 }),
};

export type CompressedOptions = Partial<GatewayOptions<CompressedRouter, unknown>>;

/** Creates a gateway of the router, with compression unless the options say otherwise. */
export const createCompressedGateway = (options: CompressedOptions, gate: Gate): Promise<Gateway> =>
  createGateway<CompressedRouter, unknown>({
    router: createCompressedRouter(gate),
    createContext: ({ response }) => ({ response }),
    document: { title: 'Animals', version: '1.0.0' },
    mcp: mcp(),
    routes,
    compression: true,
    ...options,
  });
