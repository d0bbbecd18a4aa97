import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadExpress } from '@petstore/testing/express';
import { initTRPC, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { createGateway, type GatewayOptions } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { createOpenApiExpressMiddleware } from 'trpc-to-openapi';
import { afterAll } from 'vitest';
import { z } from 'zod';
import type { Sent } from './requests.ts';
import { AppError, createShapes, type Shape } from './shapes.ts';

interface Context {
  readonly token: string | undefined;
  /** Receives the input of the procedure that runs. */
  readonly record: (input: unknown) => void;
}

const t = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  .create({
    isDev: false,
    errorFormatter: ({ shape, error }) => ({
      ...shape,
      data: {
        ...shape.data,
        zodError: error.cause instanceof z.ZodError ? z.flattenError(error.cause) : null,
        appError: error.cause instanceof AppError ? error.cause.kind : null,
      },
    }),
  });
const signedIn = t.procedure.use(({ ctx, next }) => {
  if (ctx.token === undefined) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in first.' });
  return next();
});

/** Creates the routers, for one server: trpc-to-openapi changes the schemas. */
export function createRouter() {
  const routers = Object.entries(createShapes()).map(([name, shapes]) => [
    name,
    t.router(
      Object.fromEntries(
        Object.entries(shapes).map(([each, shape]) => [each.replace('.', '_'), procedureOf(shape)]),
      ),
    ),
  ]);
  const all = t.router(Object.fromEntries(routers) as Record<string, ReturnType<typeof t.router>>);
  return t.router({ all });
}

function procedureOf({ openapi, inputs, output, result, isProtected = false }: Shape) {
  const base = (isProtected ? signedIn : t.procedure).meta({ openapi });
  const procedure = inputs
    .reduce((each, input) => each.input(input as z.ZodObject) as unknown as typeof each, base)
    .output(output);
  const resolve = ({ ctx, input }: { readonly ctx: Context; readonly input: unknown }): unknown => {
    ctx.record(input);
    return typeof result === 'function' ? (result as () => unknown)() : result;
  };
  return openapi.method === 'GET' ? procedure.query(resolve) : procedure.mutation(resolve);
}

/** What a client receives, and what the procedure received. */
export interface Outcome {
  readonly status: number;
  /** Without the date and others of a server, and those that the gateway adds. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly inputs: readonly unknown[];
}

/** Sends a request to a server that serves the routers below `/api`. */
export type Send = (sent: Sent) => Promise<Outcome>;

/** Serves the routers by trpc-to-openapi, as an app on Express 5 does, until all tests have ended. */
export async function startTrpcToOpenApi(): Promise<Send> {
  const { contextOf, sendBy } = recorder();
  const express = await loadExpress();
  const app = express();
  app.use(express.json());
  const createContext = ({ req }: { readonly req: IncomingMessage }) =>
    contextOf((name) => req.headers[name] as string | undefined);
  const router = createRouter() as AnyTRPCRouter as never;
  app.use('/api', createOpenApiExpressMiddleware({ router, createContext: createContext as never }));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Otherwise it may close a connection on which `fetch` has begun to send.
  server.keepAliveTimeout = 0;
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return sendBy((path, init) => fetch(`http://127.0.0.1:${port}${path}`, init));
}

export async function startGateway(options: Partial<GatewayOptions<AnyTRPCRouter, unknown>>): Promise<Send> {
  const { contextOf, sendBy } = recorder();
  const gateway = await createGateway({
    router: createRouter() as AnyTRPCRouter,
    createContext: ({ request }) => contextOf((name) => request.header(name)),
    maskUnexpectedErrors: false,
    document: { title: 'Shapes', version: '1.0.0' },
    restBasePath: '/api',
    onResponse() {},
    ...options,
  });
  return sendBy((path, init) => gateway.fetch(`http://127.0.0.1${path}`, init));
}

/** Records which input each request has led to. */
function recorder() {
  const inputs = new Map<string, unknown[]>();
  const contextOf = (header: (name: string) => string | undefined): Context => ({
    token: header('authorization'),
    record: (input) => inputs.get(header('x-case') ?? '')?.push(input),
  });
  let count = 0;
  const sendBy =
    (send: (path: string, init: RequestInit) => Promise<Response>): Send =>
    async ({ method, target, headers, body }) => {
      const name = String((count += 1));
      const received: unknown[] = [];
      inputs.set(name, received);
      const response = await send(`/api${target}`, {
        method,
        headers: { ...headers, 'x-case': name },
        // As bytes, since a text would have a media type.
        body: body === undefined ? null : Buffer.from(body),
      });
      const text = await response.text();
      inputs.delete(name);
      const isJson = text !== '' && response.headers.get('content-type')?.startsWith('application/json');
      const own = [...response.headers].filter(([each]) => !ignored.has(each));
      return {
        status: response.status,
        headers: Object.fromEntries(own),
        body: isJson ? (JSON.parse(text) as unknown) : text,
        inputs: received,
      };
    };
  return { contextOf, sendBy };
}

const ignored = new Set([
  'connection',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'retry-after',
  'transfer-encoding',
  'x-content-type-options',
  'x-powered-by',
  'x-request-id',
]);
