import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { loadExpress } from '@petstore/testing/express';
import { initTRPC, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { createGateway, type GatewayOptions } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { nodeHandler } from 'trpc-gateway/node';
import { createOpenApiExpressMiddleware } from 'trpc-to-openapi';
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
  return t.router(Object.fromEntries(routers) as Record<string, ReturnType<typeof t.router>>);
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

export interface RunningServer {
  readonly send: (sent: Sent) => Promise<Outcome>;
  readonly close: () => void;
}

/** Serves the routers below `/api` by trpc-to-openapi, as an app on Express 5 does. */
export function startTrpcToOpenApi(): Promise<RunningServer> {
  return start(async (createContext) => {
    const express = await loadExpress();
    const app = express();
    app.use(express.json());
    const createFrom = ({ req }: { readonly req: { readonly headers: Readonly<Record<string, unknown>> } }) =>
      createContext((name) => req.headers[name] as string | undefined);
    const router = createRouter() as AnyTRPCRouter as never;
    app.use('/api', createOpenApiExpressMiddleware({ router, createContext: createFrom as never }));
    return app.listen(0, '127.0.0.1');
  });
}

/** Serves the routers below `/api` by a gateway. */
export function startGateway(
  options: Partial<GatewayOptions<AnyTRPCRouter, unknown>>,
): Promise<RunningServer> {
  return start(async (createContext) => {
    const gateway = await createGateway({
      router: createRouter() as AnyTRPCRouter,
      createContext: ({ request }) => createContext((name) => request.header(name)),
      maskUnexpectedErrors: false,
      document: { title: 'Shapes', version: '1.0.0' },
      restBasePath: '/api',
      onResponse() {},
      ...options,
    });
    return createServer(nodeHandler(gateway)).listen(0, '127.0.0.1');
  });
}

type CreateContext = (header: (name: string) => string | undefined) => Context;

async function start(
  listen: (createContext: CreateContext) => Server | Promise<Server>,
): Promise<RunningServer> {
  const inputs = new Map<string, unknown[]>();
  const server = await listen((header) => ({
    token: header('authorization'),
    record: (input) => inputs.get(header('x-case') ?? '')?.push(input),
  }));
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  let count = 0;
  return {
    async send({ method, target, headers, body }) {
      const name = String((count += 1));
      const received: unknown[] = [];
      inputs.set(name, received);
      const request = httpRequest({
        agent,
        host: '127.0.0.1',
        port,
        method,
        path: `/api${target}`,
        headers: {
          ...headers,
          'x-case': name,
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        },
      });
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const content = await text(response);
      inputs.delete(name);
      const isJson = content !== '' && response.headers['content-type']?.startsWith('application/json');
      return {
        status: response.statusCode ?? 0,
        headers: comparable(response.headers),
        body: isJson ? (JSON.parse(content) as unknown) : content,
        inputs: received,
      };
    },
    close() {
      agent.destroy();
      server.close();
    },
  };
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

const comparable = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ignored.has(name)));
