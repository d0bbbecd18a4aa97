import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { Random } from '../trpcClients/random.ts';
import { serve } from '../servers.ts';
import { socketClient } from '../socketClient.ts';

/** Maximum size of a response of this gateway, in bytes. */
export const maxResponseBytes = 262_144;

/** Bytes that a response may have beyond the limit: the small errors that replace others, and their separators. */
export const extraBytes = 10_000;

/** A syntax tree: each level matches two options of a union, which differ in their last member. */
const Tree: z.ZodType = z.union([
  z.object({
    get a() {
      return Tree;
    },
    k: z.literal('x'),
  }),
  z.object({
    get a() {
      return Tree;
    },
    k: z.literal('y'),
  }),
  z.null(),
]);

const fields = (count: number) =>
  z.object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, z.string()])));

/** Schemas without a maximum, by name. */
const schemas: Readonly<Record<string, z.ZodType>> = {
  tree: Tree,
  trees: z.array(Tree),
  list: z.array(z.string()),
  checkedList: z.array(z.string().min(3).max(2).regex(/x/)),
  convertedList: z.array(z.string().transform(Number)),
  table: z.array(z.array(z.union([z.string(), z.boolean()]))),
  objects: z.array(fields(20)),
  unions: z.array(z.union([z.string(), z.boolean(), fields(3), fields(20)])),
  listOrList: z.union([z.array(z.string()), z.array(z.boolean()), z.record(z.string(), z.string())]),
  unionsOfLists: z.array(
    z.union([z.array(z.string()), z.array(z.number()), z.object({ a: z.array(z.null()) })]),
  ),
  record: z.record(z.string(), z.string()),
  keys: z.record(z.uuid(), z.record(z.string(), z.array(z.string()))),
  tuple: z.tuple([z.string(), z.union([z.string(), z.array(z.boolean())])], z.string()),
  strict: z.strictObject({
    f0: z.array(z.strictObject({ a: z.string() })),
    a: z.lazy(() => z.array(z.string())),
  }),
};

/** Returns a schema of unions, lists, records and tuples. */
function randomSchema(random: Random, depth: number): z.ZodType {
  const nested = () => randomSchema(random, depth - 1);
  const leaf = () =>
    random.pick([
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z.enum(['a', 'b']),
      z.string().min(2),
      z.int().max(0),
    ]);
  if (depth === 0) return leaf();
  const kinds = [
    () => z.array(nested()),
    () => z.record(random.pick([z.string(), z.string().min(2)]), nested()),
    () => z.tuple([nested()], nested()),
    () => z.union([nested(), nested(), nested()]),
    () => z.object({ a: nested(), k: nested(), f0: leaf().optional() }),
  ];
  return random.pick(kinds)();
}

/** Returns JSON of about this size, with many small values, deep ones, or long names. */
export function randomInput(random: Random, bytes: number): unknown {
  const leaf = () => random.pick<unknown>([1, 1, true, null, 'x', '', {}, [], [1], { a: 1 }, { k: 'z' }]);
  const fill = (limit: number, value: () => unknown): readonly unknown[] => {
    const item = value();
    const size = JSON.stringify(item).length + 1;
    return Array.from({ length: Math.max(1, Math.floor(limit / size)) }, () =>
      random.below(50) === 0 ? value() : item,
    );
  };
  const tree = (levels: number, end: unknown) => {
    let value = end;
    for (let level = 0; level < levels; level += 1) value = { a: value, k: 'z' };
    return value;
  };
  const entries = (values: readonly unknown[], name: (index: number) => string) =>
    Object.fromEntries(values.map((value, index) => [name(index), value]));
  const kinds: readonly (() => unknown)[] = [
    () => fill(bytes, leaf),
    () => fill(bytes, () => fill(random.below(1000), leaf)),
    () => fill(bytes, () => tree(random.below(30), leaf())),
    () => tree(Math.min(90, Math.ceil(bytes / 12)), fill(bytes, leaf)),
    () => tree(Math.min(90, Math.ceil(bytes / 12)), null),
    () => ({ a: fill(bytes / 2, leaf), f0: fill(bytes / 2, leaf) }),
    // Names cost time in V8 already: 100,000 of them take 0.1 s in JSON.parse.
    () => entries(fill(Math.min(bytes, 200_000) / 6, leaf), (index) => `k${index}`),
    () => ({ ['n'.repeat(bytes / 2)]: fill(bytes / 2, leaf) }),
    () => ({ ['n'.repeat(bytes / 2)]: { a: fill(bytes / 2, leaf) } }),
    () => 'x'.repeat(bytes),
  ];
  return random.pick(kinds)();
}

interface Sent {
  readonly status: number;
  /** Size of the response; of JSON lines, which are limited one by one, that of the longest line. */
  readonly bytes: number;
}

/** Sends an input to a procedure by one protocol, as JSON. */
type Send = (procedure: string, json: string) => Promise<Sent>;

/** Starts a gateway with procedures of the schemas above and of random ones, and returns the protocols to call them. */
export async function startErrorCost(seed: number): Promise<{
  readonly procedures: readonly string[];
  readonly send: Readonly<Record<string, Send>>;
  readonly maxBytes: Readonly<Record<string, number>>;
  readonly describe: (procedure: string) => string;
  readonly close: () => Promise<unknown>;
}> {
  const random = new Random(seed);
  const all = { ...schemas };
  for (let index = 0; index < 20; index += 1)
    all[`random${index}`] = randomSchema(random, 1 + random.below(4));
  const t = initTRPC.meta<GatewayMeta>().create({
    isDev: false,
    // As in tRPC's documentation: it reads the issues of every invalid input.
    errorFormatter: ({ error, shape }) => ({
      ...shape,
      data: {
        ...shape.data,
        flat: error.cause instanceof z.ZodError ? z.flattenError(error.cause) : null,
        tree: error.cause instanceof z.ZodError ? z.treeifyError(error.cause) : null,
        text: error.cause?.message,
      },
    }),
  });
  const router = t.router(
    Object.fromEntries(
      Object.entries(all).flatMap(([name, schema]) => {
        const input = t.procedure.input(z.object({ value: schema }));
        return [
          [
            name,
            input
              .meta({ openapi: { method: 'POST', path: `/${name}` } })
              .output(z.void())
              .mutation(() => {}),
          ],
          [
            `${name}Events`,
            input.subscription(async function* () {
              yield 1;
            }),
          ],
        ];
      }),
    ),
  );
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Error cost', version: '1.0.0' },
    maxResponseBytes,
    onError: () => {},
  });
  const server = await serve(gateway);
  const post = async (path: string, body: string, headers: Record<string, string> = {}): Promise<Sent> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const response = await server.fetch(`${server.origin}${path}`, init);
    const received = Buffer.from(await response.arrayBuffer());
    if (!('trpc-accept' in headers)) return { status: response.status, bytes: received.byteLength };
    const lines = received.toString().split('\n');
    return { status: response.status, bytes: Math.max(...lines.map((line) => Buffer.byteLength(line))) };
  };
  const client = socketClient(server);
  return {
    procedures: Object.keys(all),
    describe: (name) => (name in schemas ? name : JSON.stringify(z.toJSONSchema(all[name] as z.ZodType))),
    maxBytes: {
      rest: 1_000_000,
      trpc: 1_000_000,
      batch: 300_000,
      lines: 300_000,
      events: 8000,
      sockets: 20_000,
    },
    send: {
      rest: (name, json) => post(`/v1/${name}`, `{"value":${json}}`),
      trpc: (name, json) => post(`/trpc/${name}`, `{"value":${json}}`),
      batch: (name, json) => post(`/trpc/${name},${name},${name}?batch=1`, threeTimes(json)),
      lines: (name, json) =>
        post(`/trpc/${name},${name},${name}?batch=1`, threeTimes(json), {
          'trpc-accept': 'application/jsonl',
        }),
      async events(name, json) {
        const target = `/trpc/${name}Events?input=${encodeURIComponent(`{"value":${json}}`)}`;
        const response = await server.fetch(`${server.origin}${target}`, {
          headers: { accept: 'text/event-stream' },
        });
        return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
      },
      async sockets(name, json) {
        const call = (id: number) =>
          `{"id":${id},"method":"mutation","params":{"path":"${name}","input":{"value":${json}}}}`;
        const messages = await client.exchange(`[${call(1)},${call(2)},${call(3)}]`, 3);
        return { status: 200, bytes: Buffer.concat(messages).byteLength };
      },
    },
    async close() {
      client.terminate();
      await sleep(0);
      return server.close();
    },
  };
}

const threeTimes = (json: string) => `{"0":{"value":${json}},"1":{"value":${json}},"2":{"value":${json}}}`;
