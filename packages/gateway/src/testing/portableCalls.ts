import { initTRPC, tracked } from '@trpc/server';
import { z } from 'zod';
import { bearer, createGateway } from '../index.ts';
import type { GatewayMeta } from '../procedures.ts';

const t = initTRPC
  .meta<GatewayMeta>()
  .create({ sse: { ping: { enabled: true, intervalMs: 1000 }, maxDurationMs: 60_000 } });
/** How many subscriptions of `ticks` have ended. */
export let endedTicks = 0;

const router = t.router({
  greet: t.procedure
    .meta({ openapi: { method: 'GET', path: '/greet/{name}' } })
    .input(z.object({ name: z.string() }))
    .output(z.string())
    .query(async ({ input }) => `Hello ${input.name}`),
  add: t.procedure
    .meta({ openapi: { method: 'POST', path: '/add' } })
    .input(z.object({ a: z.number(), b: z.number() }))
    .output(z.number())
    .mutation(({ input }) => input.a + input.b),
  upload: t.procedure
    .meta({ openapi: { method: 'POST', path: '/upload', contentTypes: ['multipart/form-data'] } })
    .input(z.object({ file: z.file() }))
    .output(z.number())
    .mutation(({ input }) => input.file.size),
  bytes: t.procedure
    .meta({ openapi: { method: 'GET', path: '/bytes', produces: 'text/plain' } })
    .output(z.custom<AsyncIterable<Uint8Array>>())
    .query(async function* () {
      yield new TextEncoder().encode('äb');
      yield new TextEncoder().encode('c');
    }),
  count: t.procedure
    .meta({ openapi: { method: 'GET', path: '/count', event: z.object({ n: z.number() }) } })
    .subscription(async function* () {
      yield tracked('1', { n: 1 });
      yield tracked('2', { n: 2 });
    }),
  ticks: t.procedure
    .meta({ openapi: { method: 'GET', path: '/ticks', event: z.string() } })
    .subscription(async function* ({ signal }) {
      try {
        for (;;) {
          yield 'tick';
          // workerd runs no timers of a request whose client has left: the signal has to end the wait.
          await new Promise((resolve) => {
            setTimeout(resolve, 20);
            signal?.addEventListener('abort', resolve, { once: true });
          });
          if (signal?.aborted) return;
        }
      } finally {
        endedTicks += 1;
      }
    }),
  later: t.procedure.query(() => ({ soon: Promise.resolve(5) })),
});

const json = { 'content-type': 'application/json' };
const form = new FormData();
form.set('file', new File(['abc'], 'a.txt'));
const lines = { 'trpc-accept': 'application/jsonl' };
const input = encodeURIComponent(JSON.stringify({ 0: { name: 'Ada' } }));

export const createPortableGateway = () =>
  createGateway({
    router,
    createContext: () => ({}),
    authentication: bearer({ verify: async (token) => token === 'valid' && { name: 'Ada' } }),
    document: { title: 'Greetings', version: '1.0.0' },
    cors: { origins: ['https://page.example'] },
    rateLimit: { calls: 1000, windowMs: 60_000 },
    failedAttempts: { attempts: 10, windowMs: 60_000 },
    maxQueueMs: 100,
    onResponse: () => {},
  });

/** Calls the gateway in each format, and returns the responses. */
export async function portableCalls(
  send: (request: Request) => Promise<Response>,
  origin = 'https://api.example',
): Promise<object> {
  async function call(
    target: string,
    init: RequestInit = {},
  ): Promise<readonly [status: number, body: string]> {
    const headers = { authorization: 'Bearer valid', ...(init.headers as Record<string, string>) };
    const response = await send(new Request(origin + target, { ...init, headers }));
    return [response.status, await response.text()];
  }

  const [documentStatus, documentText] = await call('/openapi.json');

  return {
    rest: await call('/v1/greet/Ada'),
    restBody: await call('/v1/add', { method: 'POST', headers: json, body: '{"a":1,"b":2}' }),
    invalid: await call('/v1/add', { method: 'POST', headers: json, body: '{"a":1}' }),
    form: await call('/v1/upload', { method: 'POST', body: form }),
    bytes: await call('/v1/bytes'),
    restEvents: await call('/v1/count'),
    unknownToken: await call('/v1/greet/Ada', { headers: { authorization: `Bearer ${'x'.repeat(200)}` } }),
    query: await call(`/trpc/greet?input=${encodeURIComponent('{"name":"Ada"}')}`),
    mutation: await call('/trpc/add', { method: 'POST', headers: json, body: '{"a":1,"b":2}' }),
    batch: await call(`/trpc/greet,later?batch=1&input=${input}`),
    lines: (await call('/trpc/later?batch=1', { headers: lines }))[1].trim().split('\n'),
    events: await call('/trpc/count'),
    document: [documentStatus, JSON.parse(documentText) as unknown],
  };
}
