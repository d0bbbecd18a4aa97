import { createGateway, type RequestRecord } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { has, serve } from '../servers.ts';

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

async function start(
  maskUnexpectedErrors: boolean | undefined,
  formatter: Formatter = 'default',
  isDev = false,
) {
  const t = initTRPC
    .meta<GatewayMeta>()
    .context<object>()
    .create({
      isDev,
      ...(formatter !== 'default' && {
        errorFormatter: ({ shape, error }) => ({
          ...shape,
          data: {
            ...shape.data,
            copy: formatter === 'copies the error' ? error.cause?.message : shape.message,
          },
        }),
      }),
    });
  const throwKind = (kind: string): never => {
    throw thrown[kind]?.();
  };
  const procedures = Object.keys(thrown).map((kind) => [
    kind,
    {
      query: t.procedure.query(() => throwKind(kind)),
      formatted: t.procedure
        .errors(({ shape }) => ({ ...shape, data: { ...shape.data, own: true } }))
        .query(() => throwKind(kind)),
      promise: t.procedure.query(() => ({ later: Promise.reject(thrown[kind]?.() as Error) })),
      events: t.procedure.subscription(async function* () {
        yield 1;
        throwKind(kind);
      }),
      noEvents: t.procedure.subscription(() => throwKind(kind)),
    },
  ]);
  const router = t.router({
    ...(Object.fromEntries(procedures) as Record<string, Record<string, never>>),
    output: t.procedure.output(z.string({ error: secret })).query(() => 5 as never),
    circular: t.procedure.query(() => {
      const value: { toJSON?: () => never } = {};
      value.toJSON = () => {
        throw new Error(secret);
      };
      return value;
    }),
    expected: t.procedure.query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.', cause: new Error(secret) });
    }),
    input: t.procedure.input(z.string()).query(() => 1),
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
  const errors: TRPCError[] = [];
  const records: RequestRecord[] = [];
  let contextFails = false;
  const gateway = await createGateway({
    router,
    createContext: () => {
      if (contextFails) throw new Error(secret);
      return {};
    },
    document: { title: 'Masked', version: '1.0.0' },
    onError: ({ error }) => errors.push(error),
    onResponse: (record) => records.push(record),
    ...(maskUnexpectedErrors !== undefined && { maskUnexpectedErrors }),
  });
  const server = await serve(gateway);
  onTestFinished(() => void server.close());
  const get = async (target: string, headers: Record<string, string> = {}) =>
    (await server.fetch(`${server.origin}/trpc/${target}`, { headers })).text();
  const overSocket = async (method: string, path: string) => {
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/trpc`);
    onTestFinished(() => socket.terminate());
    return new Promise<string>((resolve) => {
      let text = '';
      socket.on('open', () => socket.send(JSON.stringify({ id: 1, method, params: { path } })));
      socket.on('close', () => resolve(text));
      socket.on('message', (data: Buffer) => {
        text += data.toString();
        if (text.includes('"error"')) resolve(text);
      });
    });
  };
  /** Returns the responses of all protocols to every unexpected error. */
  const texts = async () => {
    const targets = Object.keys(thrown).flatMap((kind) => [`${kind}.query`, `${kind}.formatted`]);
    const all = [...targets, 'output', 'circular'];
    const lines = { 'trpc-accept': 'application/jsonl' };
    const received = [
      ...all.map((target) => get(target)),
      ...all.map((target) => get(`${target},expected?batch=1`)),
      ...all.filter((target) => target !== 'circular').map((target) => get(`${target}?batch=1`, lines)),
      ...Object.keys(thrown).map((kind) => get(`${kind}.promise?batch=1`, lines)),
      ...Object.keys(thrown).flatMap((kind) => [get(`${kind}.events`), get(`${kind}.noEvents`)]),
      ...(has('WebSockets')
        ? [
            ...all.map((target) => overSocket('query', target)),
            ...Object.keys(thrown).flatMap((kind) => [
              overSocket('subscription', `${kind}.events`),
              overSocket('subscription', `${kind}.noEvents`),
            ]),
          ]
        : []),
    ];
    const withContext = await Promise.all(received);
    contextFails = true;
    const failing = [
      get('expected'),
      get('expected,input?batch=1'),
      get('expected?batch=1', lines),
      get('error.events'),
    ];
    if (has('WebSockets')) failing.push(overSocket('query', 'expected'));
    return [...withContext, ...(await Promise.all(failing))];
  };
  return { errors, get, records, texts };
}

describe('maskUnexpectedErrors', () => {
  it.each<[Formatter, boolean]>([
    ['default', false],
    ['default', true],
    ['copies the shape', true],
  ])(
    'maskUnexpectedErrors hides the message of every unexpected error on every protocol of tRPC (formatter: %s, isDev: %s)',
    async (formatter, isDev) => {
      const { errors, records, texts } = await start(true, formatter, isDev);
      for (const text of await texts()) {
        expect(text).not.toContain('hunter2');
        expect(text).toMatch(/Internal server error|Conflict/);
      }
      // The server still sees the original.
      expect(
        errors.filter(({ message, cause }) => `${message} ${cause?.message}`.includes(secret)).length,
      ).toBeGreaterThan(40);
      expect(records.some(({ error }) => (error as Error | undefined)?.message === secret)).toBe(true);
    },
  );

  it.each([undefined, false])(
    'with maskUnexpectedErrors: %s clients of tRPC receive these messages, as from tRPC',
    async (mask) => {
      const { get } = await start(mask);
      expect(JSON.parse(await get('error.query'))).toMatchObject({ error: { message: secret } });
      expect(JSON.parse(await get('text.query,error.query?batch=1'))).toMatchObject([
        { error: { message: secret } },
        { error: { message: secret } },
      ]);
    },
  );

  it('maskUnexpectedErrors keeps the messages of TRPCErrors that a procedure threw, and of invalid inputs', async () => {
    const { get } = await start(true);
    expect(JSON.parse(await get('expected'))).toMatchObject({
      error: { message: 'Rex is taken.', data: { code: 'CONFLICT', httpStatus: 409 } },
    });
    const { error } = z.string().safeParse(5);
    expect(JSON.parse(await get('input?input=5'))).toMatchObject({ error: { message: error?.message } });
    expect(JSON.parse(await get('unknown'))).toMatchObject({
      error: { message: 'No procedure found on path "unknown"' },
    });
  });

  it.each([secret.length, 65_536, 65_537, 100_000])(
    'maskUnexpectedErrors hides the message of %s characters of an error that an input parser throws, as REST does',
    async (length) => {
      const { get } = await start(true);
      const input = encodeURIComponent(JSON.stringify({ length }));
      expect(JSON.parse(await get(`refined?input=${input}`))).toMatchObject({
        error: { message: 'Bad request' },
      });
      expect(JSON.parse(await get(`../v1/refined?length=${length}`))).toMatchObject({
        message: 'Bad request',
      });
    },
  );

  it('an errorFormatter receives the original error, and may send its message in spite of maskUnexpectedErrors', async () => {
    const { get } = await start(true, 'copies the error');
    expect(JSON.parse(await get('error.query'))).toMatchObject({
      error: { message: 'Internal server error', data: { code: 'INTERNAL_SERVER_ERROR', copy: secret } },
    });
  });
});
