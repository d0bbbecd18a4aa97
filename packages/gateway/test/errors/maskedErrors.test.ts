import { format } from 'node:util';
import { bearer } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { trpcToOpenApiErrors } from 'trpc-gateway/trpc-to-openapi';
import { type AnyTRPCRouter, initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { call } from '@petstore/testing/mcpMessages';
import { has } from '../servers.ts';
import { messagesUntilError } from '../socketClient.ts';
import { startShape } from '../startShape.ts';
import { failingProcedures } from './failingProcedures.ts';

const secret = 'connect ECONNREFUSED mongodb://root:hunter2@db';

/** What procedures throw that no client may see. */
const thrown: Readonly<Record<string, () => unknown>> = {
  error: () => new Error(secret),
  text: () => secret,
  object: () => ({ message: secret }),
  wrapped: () => new TRPCError({ code: 'CONFLICT', cause: new Error(secret) }),
  internal: () => new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: secret, cause: new Error('x') }),
  zod: () => z.string({ error: secret }).safeParse(5).error,
};

type Formatter = 'default' | 'copies the shape' | 'copies the error';

const throwKind = (kind: string): never => {
  throw thrown[kind]?.();
};

/** Creates the router, with what tRPC takes by default: with `isDev`, it adds the stack to each error. */
function createRouter(formatter: Formatter) {
  const t = initTRPC
    .meta<GatewayMeta>()
    .context<object>()
    .create({
      ...(formatter !== 'default' && {
        errorFormatter: ({ shape, error }) => ({
          ...shape,
          data: {
            ...shape.data,
            copy: formatter === 'copies the error' ? error.cause?.message : { ...shape, ...shape.data },
          },
        }),
      }),
    });
  const served = t.procedure.meta({ openapi: true, mcp: { description: 'Fails.' } });
  const procedures = Object.keys(thrown).map((kind) => [
    kind,
    {
      ...failingProcedures(t.procedure, () => thrown[kind]?.()),
      formatted: served
        .errors(({ shape }) => ({ ...shape, data: { ...shape.data, own: true } }))
        .query(() => throwKind(kind)),
    },
  ]);
  return t.router({
    ...(Object.fromEntries(procedures) as Record<string, Record<string, never>>),
    output: served.output(z.string({ error: secret })).query(() => 5 as never),
    circular: served.query(() => {
      const value: { toJSON?: () => never } = {};
      value.toJSON = () => {
        throw new Error(secret);
      };
      return value;
    }),
    expected: served.query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.', cause: new Error(secret) });
    }),
    input: served.input(z.object({ name: z.string() })).query(() => 1),
    refined: t.procedure
      .meta({ openapi: { method: 'GET', path: '/refined' } })
      .input(
        z.object({
          length: z.coerce.number().refine((length) => {
            throw new Error(secret.padEnd(length));
          }),
        }),
      )
      .output(z.string())
      .query(() => ''),
  });
}

async function start(formatter: Formatter = 'default', options: object = {}) {
  const context = { fails: false };
  const router: AnyTRPCRouter = createRouter(formatter);
  const { records, server } = await startShape(router, {
    createContext: () => {
      if (context.fails) throw new Error(secret);
      return {};
    },
    mcp: mcp(),
    ...options,
  });
  const fetchText = async (path: string, headers: Record<string, string> = {}) =>
    (await server.fetch(`${server.origin}${path}`, { headers })).text();
  const get = (target: string, headers?: Record<string, string>) => fetchText(`/trpc/${target}`, headers);
  const lines = (targets: string) => get(`${targets}?batch=1`, { 'trpc-accept': 'application/jsonl' });
  const rest = (target: string) => fetchText(`/v1/${target.replaceAll('.', '/')}`);
  const tool = async (target: string) => (await call(server, target.replaceAll('.', '_'), {})).text;
  const overSocket = (method: string, path: string) => messagesUntilError(server, method, path);
  const socketTexts = (method: string, targets: readonly string[]) =>
    has('WebSockets') ? targets.map((target) => overSocket(method, target)) : [];

  /** Returns the responses of all protocols to calls of queries. */
  const queryTexts = (targets: readonly string[]) => [
    ...targets.flatMap((target) => [get(target), rest(target), tool(target)]),
    ...targets.map((target) => get(`${target},expected?batch=1`)),
    // A value that cannot be encoded ends the stream of its batch.
    ...targets.filter((target) => target !== 'circular').map(lines),
    ...socketTexts('query', targets),
  ];
  const kinds = Object.keys(thrown);
  /** Returns the responses of all protocols to every unexpected error. */
  const texts = async () => {
    const queries = kinds.flatMap((kind) => [`${kind}.query`, `${kind}.formatted`]);
    const subscriptions = kinds.flatMap((kind) => [`${kind}.events`, `${kind}.refused`]);
    const received = await Promise.all([
      ...queryTexts([...queries, 'output', 'circular']),
      ...kinds.flatMap((kind) => [lines(`${kind}.promise`), lines(`${kind}.values`)]),
      ...subscriptions.flatMap((target) => [get(target), rest(target), tool(target)]),
      ...socketTexts('subscription', subscriptions),
    ]);
    context.fails = true;
    const withoutContext = await Promise.all([
      ...queryTexts(['expected']),
      ...['error.events'].flatMap((target) => [get(target), rest(target), tool(target)]),
    ]);
    context.fails = false;
    return [...received, ...withoutContext];
  };
  return { get, lines, queryTexts, records, rest, server, socketTexts, texts };
}

/** Matches the stack of an error, in JSON. */
const stack = /"stack"|\\n +at /;

describe('without an option, clients receive of an unexpected error neither its message nor its stack', () => {
  it.each<Formatter>(['default', 'copies the shape'])(
    'a router with the defaults of tRPC sends neither over REST, tRPC, WebSockets and MCP (errorFormatter: %s)',
    async (formatter) => {
      const print = vi.spyOn(console, 'error').mockImplementation(() => {});
      const { texts } = await start(formatter, { onResponse: undefined });
      for (const text of await texts()) {
        expect(text).not.toContain('hunter2');
        expect(text).not.toMatch(stack);
        expect(text).toMatch(/Internal server error|Conflict/);
      }
      // The log of the server has both.
      await expect.poll(() => print.mock.calls.length).toBeGreaterThan(100);
      expect(format(...(print.mock.calls[0] ?? []))).toMatch(/hunter2[^]*\n +at /);
      print.mockReset();
    },
  );

  it('an error that verify of a scheme throws is a 500 without its message, which the record has', async () => {
    const { records, server } = await start('default', {
      authentication: bearer({ verify: () => throwKind('error') }),
    });
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' };
    for (const path of ['/trpc/expected', '/trpc/expected,expected?batch=1', '/v1/expected', '/mcp']) {
      const method = path === '/mcp' ? 'POST' : 'GET';
      const response = await server.fetch(`${server.origin}${path}`, { method, headers });
      const text = await response.text();
      expect([path, response.status, text]).toEqual([
        path,
        500,
        expect.stringMatching(/Internal server error/),
      ]);
      expect(text).not.toMatch(/hunter2|stack/);
    }
    const record = { status: 500, error: { cause: { message: secret } } };
    await expect.poll(() => records).toMatchObject([record, record, record, record]);
  });

  const errors = declareErrors({ OUT_OF_ORDER: { status: 503, message: 'Try later.' } });
  const mapError = ({ cause }: TRPCError) =>
    cause instanceof z.ZodError && cause.message.includes(secret) ? errors.OUT_OF_ORDER() : undefined;

  it.each<Formatter>(['default', 'copies the shape'])(
    'an expected error, and a declared one that mapError returns, have their message, and no stack (errorFormatter: %s)',
    async (formatter) => {
      const { get, lines, queryTexts, rest, server, socketTexts } = await start(formatter, { mapError });
      const taken = await Promise.all(queryTexts(['expected']));
      for (const text of taken) expect(text).toContain('Rex is taken.');
      const mapped = await Promise.all(queryTexts(['zod.query']));
      for (const text of mapped) expect(text).toContain('Try later.');
      const rejected = await Promise.all([
        get('input'),
        get('input,unknown?batch=1'),
        get('input?batch=1&input={'),
        get('unknown'),
        lines('input,unknown'),
        rest('input'),
        rest('unknown'),
        call(server, 'input', {}).then(({ text }) => text),
        call(server, 'unknown', {}).then(({ text }) => text),
        ...socketTexts('query', ['input', 'unknown']),
        ...socketTexts('subscription', ['input']),
      ]);
      for (const text of rejected) expect(text).toMatch(/"error"|"code"/);
      expect(rejected[0]).toContain('invalid_type');
      for (const text of [...taken, ...mapped, ...rejected]) expect(text).not.toMatch(stack);
    },
  );

  it.each([secret.length, 65_536, 65_537, 100_000])(
    'the message of %s characters of an error that an input parser throws is hidden, as over REST',
    async (length) => {
      const { get } = await start();
      const input = encodeURIComponent(JSON.stringify({ length }));
      expect(JSON.parse(await get(`refined?input=${input}`))).toMatchObject({
        error: { message: 'Bad request' },
      });
      expect(JSON.parse(await get(`../v1/refined?length=${length}`))).toMatchObject({
        message: 'Bad request',
      });
    },
  );

  it('an errorFormatter receives the original error, and may send its message', async () => {
    const { get } = await start('copies the error');
    expect(JSON.parse(await get('error.query'))).toMatchObject({
      error: { message: 'Internal server error', data: { code: 'INTERNAL_SERVER_ERROR', copy: secret } },
    });
  });
});

describe('with maskUnexpectedErrors: false', () => {
  it('clients of tRPC receive the messages of unexpected errors, and with isDev their stacks, as from tRPC', async () => {
    const { get, lines, rest } = await start('default', { maskUnexpectedErrors: false });
    const shown = { error: { message: secret, data: { stack: expect.stringContaining(secret) as string } } };
    expect(JSON.parse(await get('error.query'))).toMatchObject(shown);
    expect(JSON.parse(await get('text.query,error.query?batch=1'))).toMatchObject([shown, shown]);
    expect(await lines('error.values')).toMatch(stack);
    expect(JSON.parse(await get('expected'))).toMatchObject({
      error: { message: 'Rex is taken.', data: { stack: expect.stringContaining('at ') as string } },
    });
    // The default format sends neither over REST.
    expect(JSON.parse(await rest('error.query'))).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      message: 'Internal server error',
      status: 500,
    });
  });

  it.each<Formatter>(['default', 'copies the shape'])(
    'an errorFormat that uses the shape sends the message over REST, and data without a stack (errorFormatter: %s)',
    async (formatter) => {
      const { rest } = await start(formatter, {
        errorFormat: trpcToOpenApiErrors,
        maskUnexpectedErrors: false,
      });
      const text = await rest('error.query');
      expect(JSON.parse(text)).toMatchObject({ message: secret, data: { httpStatus: 500 } });
      expect(text).not.toMatch(stack);
      const formatted = await rest('error.formatted');
      expect(JSON.parse(formatted)).toMatchObject({ data: { own: true } });
      expect(JSON.parse(formatted)).not.toHaveProperty('data.stack');
    },
  );
});

it('an output that cannot be encoded in JSON lines ends the response, and is reported to onError, trpc.onError and onResponse', async () => {
  const onError = vi.fn();
  const trpcOnError = vi.fn();
  const { lines, records } = await start('default', { onError, trpc: { onError: trpcOnError } });
  await expect(lines('expected,circular')).rejects.toThrow(/terminated|hunter2|ECONNRESET/);
  await vi.waitFor(() => expect(records).toMatchObject([{ error: { message: secret } }]));
  for (const hook of [onError, trpcOnError]) {
    expect(hook.mock.calls.map(([{ error }]) => error.code)).toEqual(['CONFLICT', 'INTERNAL_SERVER_ERROR']);
  }
});
