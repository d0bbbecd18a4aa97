import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC, tracked, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { bearer, createGateway, type GatewayOptions, type RequestRecord } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

/** What the procedures of the router have seen. */
interface Seen {
  readonly aborted: unknown[];
  /** Calls of `slow`, `steps` and `drip` that run. */
  running: number;
  /** Calls of `orders.place` that have run. */
  placed: number;
}

export const t = initTRPC.meta<GatewayMeta>().context<{ readonly user?: string | undefined }>().create();
export const tool = t.procedure.meta({ mcp: { description: 'A tool of the tests.' } });

const shopErrors = declareErrors({
  OUT_OF_STOCK: { status: 409, message: 'Too few are left.', data: z.object({ left: z.int() }) },
});

const Book = z.object({ id: z.int(), title: z.string(), added: z.date().optional() }).meta({ id: 'Book' });

/** A PNG of one pixel. */
const png = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (unit) => unit.charCodeAt(0),
);

const Page = z.object({ cursor: z.int().default(0), limit: z.int().default(3000) });

/** Returns a page of 3,000 books, which are some 120 kB. */
function readArchive({ cursor, limit }: z.output<typeof Page>) {
  const end = Math.min(cursor + limit, 3000);
  const books = Array.from({ length: end - cursor }, (_, at) => ({ id: cursor + at, title: 'A long title' }));
  return { books, next: end < 3000 ? end : undefined };
}

function createToolRouter(seen: Seen) {
  const wait = async (ms: number, signal: AbortSignal | undefined) => {
    signal?.addEventListener('abort', () => seen.aborted.push(signal.reason), { once: true });
    seen.running += 1;
    await sleep(ms, undefined, { signal }).finally(() => (seen.running -= 1));
  };
  return t.router({
    books: t.router({
      add: t.procedure
        .meta({
          openapi: {
            method: 'POST',
            path: '/books',
            summary: 'Add a book',
            description: 'Adds a book to the shelf.',
          },
          mcp: true,
        })
        .input(z.object({ id: z.int(), title: z.string().max(50), added: z.date().optional() }))
        .output(Book)
        .mutation(({ input }) => input),
      list: t.procedure
        .meta({
          openapi: { method: 'GET', path: '/books' },
          mcp: { title: 'Books', description: 'Lists books.' },
        })
        .input(z.object({ limit: z.int().min(1).max(10).default(2) }))
        .output(z.array(Book))
        .query(({ input }) => Array.from({ length: input.limit }, (_, id) => ({ id, title: `Book ${id}` }))),
      remove: t.procedure
        .meta({
          openapi: { method: 'DELETE', path: '/books/{id}' },
          mcp: { name: 'drop-book', description: 'Removes a book.' },
        })
        .input(z.object({ id: z.int() }))
        .output(z.void())
        .mutation(({ input }) => {
          if (input.id === 404) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no book 404.' });
        }),
      count: tool.output(z.int()).query(() => 3),
      archive: tool
        .input(Page)
        .output(z.object({ books: z.array(Book), next: z.int().optional() }))
        .query(({ input }) => readArchive(input)),
      archiveWithoutSchema: tool.input(Page).query(({ input }) => readArchive(input)),
      secret: tool.meta({ scopes: ['books:secret'] }).query(() => ({ secret: true })),
      hidden: t.procedure.query(() => 'not a tool'),
    }),
    orders: t.router({
      order: tool
        .errors(shopErrors)
        .input(z.object({ quantity: z.int() }))
        .output(z.object({ ordered: z.int() }))
        .mutation(({ input }) => {
          if (input.quantity > 2) throw shopErrors.OUT_OF_STOCK({ data: { left: 2 } });
          return { ordered: input.quantity };
        }),
      place: tool
        .meta({ openapi: { method: 'POST', path: '/orders' }, idempotencyKey: 'optional' })
        .input(z.object({ item: z.string() }))
        .output(z.object({ number: z.int() }))
        .mutation(({ input }) => {
          seen.placed += 1;
          if (input.item === 'broken') throw new Error('disk on fire');
          return { number: seen.placed };
        }),
    }),
    fail: tool.query(() => {
      throw new Error('password=hunter2');
    }),
    slow: tool.input(z.object({ ms: z.int().max(60_000) })).query(async ({ input, signal }) => {
      await wait(input.ms, signal);
      return { waited: input.ms };
    }),
    hurried: tool.meta({ callTimeoutMs: 30 }).query(async ({ signal }) => wait(5000, signal)),
    expensive: tool.meta({ rateLimitCost: 5 }).query(() => ({ done: true })),
    steps: tool
      .meta({ openapi: { method: 'GET', path: '/steps', event: z.object({ step: z.int() }) } })
      .input(
        z.object({ count: z.int().default(3), fails: z.boolean().default(false), ms: z.int().default(0) }),
      )
      .subscription(async function* steps({ input, signal }) {
        signal?.addEventListener('abort', () => seen.aborted.push(signal.reason), { once: true });
        seen.running += 1;
        try {
          for (let step = 1; step <= input.count; step += 1) {
            await sleep(input.ms, undefined, { signal });
            yield tracked(String(step), { step });
          }
        } finally {
          seen.running -= 1;
        }
        if (input.fails) throw new TRPCError({ code: 'CONFLICT', message: 'The steps are blocked.' });
      }),
    /** Sends bytes without an end. */
    drip: tool
      .meta({ openapi: { method: 'GET', path: '/drip', produces: 'application/octet-stream' } })
      .query(async function* drip({ signal }) {
        signal?.addEventListener('abort', () => seen.aborted.push(signal.reason));
        seen.running += 1;
        try {
          for (;;) {
            await sleep(10, undefined, { signal });
            yield new Uint8Array(1);
          }
        } finally {
          seen.running -= 1;
        }
      }),

    // What the conformance suite calls.
    test_simple_text: tool.query(() => 'This is a simple text response for testing.'),
    test_image_content: tool
      .meta({ openapi: { method: 'GET', path: '/image', produces: 'image/png' } })
      .query(() => png),
    test_audio_content: tool.query(() => new Blob([png], { type: 'audio/wav' })),
    test_embedded_resource: tool.query(() => new Blob(['<p>A resource.</p>'], { type: 'text/html' })),
    test_multiple_content_types: tool.query(() => [
      new Blob(['Multiple content types test:'], { type: 'text/plain' }),
      new Blob([png], { type: 'image/png' }),
      new Blob(['{"test":"data","value":123}'], { type: 'application/json' }),
    ]),
    test_error_handling: tool.query(() => {
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: 'This tool intentionally returns an error for testing',
      });
    }),
    test_tool_with_progress: tool.subscription(async function* progress() {
      for (const percent of [0, 50, 100]) {
        yield { percent };
        await sleep(10);
      }
    }),
    // Plain tools: the suite checks that they send no requests and no logs.
    test_streaming_elicitation: tool.query(() => 'No input is needed.'),
    test_logging_tool: tool.query(() => 'Nothing is logged.'),
    test_trigger_tool_change: tool.query(() => 'The tools stay the same.'),
  });
}

type ToolRouter = ReturnType<typeof createToolRouter>;

type Options = Omit<
  Partial<GatewayOptions<ToolRouter, string>>,
  'authentication' | 'createContext' | 'router'
>;

export type ToolGateway = Awaited<ReturnType<typeof create>>;

/** Creates a gateway with the tools, which needs no credential. */
export const createToolGateway = (options: Options = {}): Promise<ToolGateway> =>
  create(options, ({ books: { secret: _secret, ...books }, ...others }) => ({
    // Of the procedures with scopes there are none without a credential.
    books: t.router(books as never),
    ...others,
  }));

/** Credentials with their scopes. */
const tokens = () =>
  new Map([
    ['reader', [] as string[]],
    ['keeper', ['books:secret']],
  ]);

/** Creates a gateway with the tools, which needs a token. The tests may revoke those that are valid. */
export async function createProtectedToolGateway(
  options: Options = {},
  { resource = 'http://127.0.0.1', valid = tokens() } = {},
) {
  const authentication = bearer({
    verify: (token) => (valid.has(token) ? token : undefined),
    scopes: (token) => valid.get(token) ?? [],
    protectedResource: { resource, authorizationServers: ['https://login.example'] },
  });
  return { valid, ...(await create({ authentication, ...options })) };
}

async function create(
  options: Partial<GatewayOptions<ToolRouter, string>>,
  choose: (procedures: ToolRouter['_def']['record']) => object = (same) => same,
) {
  const seen: Seen = { aborted: [], running: 0, placed: 0 };
  const router = t.router(choose(createToolRouter(seen)._def.record) as never) as ToolRouter;
  return { seen, ...(await createTools(router, options)) };
}

/** Creates a gateway whose tools are those of a router. */
export async function createTools<Router extends AnyTRPCRouter>(
  router: Router,
  options: Partial<GatewayOptions<Router, string>> = {},
) {
  const records: RequestRecord[] = [];
  const gateway = await createGateway<Router, string>({
    router,
    createContext: ({ identity }) => ({ user: identity }) as never,
    document: { title: 'Books', version: '1.2.3' },
    mcp: mcp(),
    idempotency: { caller: () => undefined },
    onResponse: (record) => void records.push(record),
    ...options,
  });
  return { gateway, records };
}
