import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { initTRPC, TRPCError } from '@trpc/server';
import { createOpenApiExpressMiddleware, type OpenApiMeta } from 'trpc-to-openapi';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { apiErrors } from './operations/errorFormat.ts';
import { createGateway } from './gateway.ts';
import { trpcToOpenApi, trpcToOpenApiErrors } from './trpcToOpenApi.ts';

/** An error of an application, which its `errorFormatter` shapes. */
class AppError extends Error {
  readonly kind: string;
  constructor(kind: string) {
    super(`The document is ${kind}.`);
    this.kind = kind;
  }
}

const thrown: Readonly<Record<string, () => unknown>> = {
  expected: () => new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.' }),
  caused: () => new TRPCError({ code: 'NOT_FOUND', message: 'Rex is gone.', cause: new Error('select 1') }),
  unnamed: () => new TRPCError({ code: 'BAD_GATEWAY', cause: new Error('select 1') }),
  plain: () => new Error('Your plan has expired.'),
  text: () => 'oops',
  app: () => new AppError('locked'),
  wrapped: () => new TRPCError({ code: 'FORBIDDEN', cause: new AppError('hidden') }),
  issues: () => new TRPCError({ code: 'BAD_REQUEST', cause: z.string().safeParse(5).error }),
  ...Object.fromEntries(
    (
      [
        'TIMEOUT',
        'UNPROCESSABLE_CONTENT',
        'TOO_MANY_REQUESTS',
        'NOT_IMPLEMENTED',
        'PAYMENT_REQUIRED',
      ] as const
    ).map((code) => [code, () => new TRPCError({ code, message: `It is ${code}.` })]),
  ),
};

const t = initTRPC
  .meta<OpenApiMeta>()
  .context<{ readonly user: string }>()
  .create({
    isDev: false,
    errorFormatter: ({ shape, error, ctx, input, path, type }) => ({
      ...shape,
      data: {
        ...shape.data,
        ...(error.cause instanceof AppError && { appError: error.cause.kind }),
        zodError: error.cause instanceof z.ZodError ? z.flattenError(error.cause) : null,
        seen: [ctx?.user, path, type, input],
      },
    }),
  });
const router = t.router({
  fail: t.procedure
    .meta({ openapi: { method: 'POST', path: '/fail' } })
    .input(z.object({ kind: z.string() }))
    .output(z.object({}))
    .mutation(({ input }) => {
      throw thrown[input.kind]?.();
    }),
  checked: t.procedure
    .meta({ openapi: { method: 'POST', path: '/checked' } })
    .input(z.object({ name: z.string().min(2), tags: z.array(z.int()) }))
    .output(z.object({}))
    .mutation(() => ({})),
  broken: t.procedure
    .meta({ openapi: { method: 'GET', path: '/broken' } })
    .input(z.object({}))
    .output(z.object({ id: z.string() }))
    .query(() => ({}) as never),
});
const createContext = () => ({ user: 'ada' });

describe('trpcToOpenApiErrors', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    const middleware = createOpenApiExpressMiddleware({ router, createContext });
    // Of Express, the middleware needs nothing.
    server = createServer((request, response) => void middleware(request as never, response as never));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  /** Returns the responses of trpc-to-openapi and of the gateway. */
  async function both(path: string, body?: string, maskUnexpectedErrors = false) {
    const gateway = await createGateway({
      ...trpcToOpenApi(),
      router,
      createContext,
      restBasePath: '/',
      maskUnexpectedErrors,
      document: { title: 'Errors', version: '1.0.0' },
      onResponse: () => {},
    });
    const init: RequestInit =
      body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const read = async (response: Response) => ({
      status: response.status,
      type: response.headers.get('content-type'),
      body: (await response.json()) as Record<string, unknown>,
    });
    return {
      theirs: await read(await fetch(`${origin}${path}`, init)),
      ours: await read(await gateway.fetch(new Request(`${origin}${path}`, init))),
    };
  }

  it.each(Object.keys(thrown))(
    'the status and body of the error "%s" are those of trpc-to-openapi',
    async (kind) => {
      const { theirs, ours } = await both('/fail', JSON.stringify({ kind }));
      expect(ours).toEqual(theirs);
    },
  );

  it.each(['{"name":"a","tags":"x"}', '{}', '{"name":5,"tags":[1.5]}'])(
    'the status and body of the invalid input %s are those of trpc-to-openapi, with the issues of zod',
    async (body) => {
      const { theirs, ours } = await both('/checked', body);
      expect(theirs.body).toMatchObject({ message: 'Input validation failed', issues: [{}, {}] });
      expect(ours).toEqual(theirs);
    },
  );

  it('the status and body of an invalid output are those of trpc-to-openapi', async () => {
    const { theirs, ours } = await both('/broken');
    expect(ours).toEqual(theirs);
  });

  it.each([
    ['an unknown path', '/unknown', undefined],
    ['malformed JSON', '/checked', '{"name":'],
  ])(
    '%s has the status, the code and the members of trpc-to-openapi, and its own message',
    async (_, path, body) => {
      const { theirs, ours } = await both(path, body);
      expect(ours.status).toBe(theirs.status);
      expect(Object.keys(ours.body)).toEqual(Object.keys(theirs.body));
      expect(ours.body['code']).toBe(theirs.body['code']);
      const code = { code: theirs.body['code'], httpStatus: theirs.status };
      expect([ours.body['data'], theirs.body['data']]).toMatchObject([code, code]);
      expect(ours.body['message']).toEqual(expect.stringMatching(/path|JSON/));
    },
  );

  it.each([
    ['plain', 500, 'Internal server error'],
    ['app', 500, 'Internal server error'],
    ['unnamed', 502, 'Bad gateway'],
    ['expected', 409, 'Rex is taken.'],
    ['caused', 404, 'Rex is gone.'],
  ])(
    'with maskUnexpectedErrors, the error "%s" has the status %i and the message %j',
    async (kind, status, message) => {
      const { theirs, ours } = await both('/fail', JSON.stringify({ kind }), true);
      expect(ours).toEqual({ ...theirs, status, body: { ...theirs.body, message } });
    },
  );

  test('the bodies of trpcToOpenApiErrors match its schema', () => {
    const error = new TRPCError({ code: 'BAD_REQUEST' });
    const shape = { code: -32600, message: '', data: { code: 'BAD_REQUEST', httpStatus: 400 } } as const;
    const missing = {
      code: 'BAD_REQUEST',
      trpcCode: 'BAD_REQUEST',
      message: 'a',
      status: 400,
      isDeclared: false,
      data: undefined,
      error,
      shape,
    };
    for (const issues of [[], [{ path: ['a'], message: 'is required' }]]) {
      const { body, schema } = trpcToOpenApiErrors;
      expect(schema.safeParse(body({ ...missing, issues })).error).toBeUndefined();
    }
  });
});

test('a format that does not read the shape of an error runs no errorFormatter', async () => {
  let formatted = 0;
  const own = initTRPC.meta<OpenApiMeta>().create({
    errorFormatter: ({ shape }) => {
      formatted += 1;
      return shape;
    },
  });
  const gatewayOf = (errorFormat: typeof apiErrors) =>
    createGateway({
      router: own.router({
        fail: own.procedure
          .meta({ openapi: { method: 'GET', path: '/fail' } })
          .input(z.void())
          .output(z.string())
          .query(() => {
            throw new TRPCError({ code: 'CONFLICT' });
          }),
      }),
      createContext: () => ({}),
      errorFormat,
      document: { title: 'Errors', version: '1.0.0' },
    });
  const request = () => new Request('http://errors.example/v1/fail');
  await (await gatewayOf(apiErrors)).fetch(request());
  expect(formatted).toBe(0);
  await (await gatewayOf(trpcToOpenApiErrors)).fetch(request());
  expect(formatted).toBe(1);
});

test('trpcToOpenApi serves the paths, statuses and document of trpc-to-openapi, and later options replace its own', async () => {
  const own = initTRPC.meta<OpenApiMeta>().create();
  const options = {
    router: own.router({
      things: own.router({
        remove: own.procedure
          .meta({ openapi: { method: 'DELETE', path: '/things/{id}' } })
          .input(z.object({ id: z.string() }))
          .output(z.void())
          .mutation(() => {}),
      }),
    }),
    createContext: () => ({}),
    document: { title: 'Things', version: '1.0.0' },
  };
  const gateway = await createGateway({ ...trpcToOpenApi(), ...options });
  const request = () => new Request('http://things.example/v1/Things/1/', { method: 'DELETE' });
  const response = await gateway.fetch(request());
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect(await gateway.document()).toMatchObject({
    components: { securitySchemes: { Authorization: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/things/{id}': { delete: { operationId: 'things-remove', security: [{ Authorization: [] }] } },
    },
  });
  const strict = await createGateway({ ...trpcToOpenApi(), ...options, ignorePathCase: false });
  expect((await strict.fetch(request())).status).toBe(404);
});
