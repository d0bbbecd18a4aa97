import { TRPCError } from '@trpc/server';
import express from 'express';
import { type ContextOptions, createGateway } from 'trpc-gateway';
import { nodeHandler } from 'trpc-gateway/node';
import { trpcToOpenApi, trpcToOpenApiDocument } from 'trpc-gateway/trpc-to-openapi';
import { AppError } from './appError.ts';
import { appRouter } from './router.ts';
import { findSession } from './sessions.ts';
import type { Context } from './trpc.ts';

async function createContext({ request }: ContextOptions<unknown>): Promise<Context> {
  const [scheme, token] = request.header('authorization')?.split(' ') ?? [];
  if (scheme !== undefined && scheme !== 'Bearer')
    throw new TRPCError({ code: 'BAD_REQUEST', message: `Send a bearer token, not ${scheme}.` });
  const session = token === undefined ? undefined : await findSession(token);
  return { session, address: request.remoteAddress() }; // of the proxy, if there is one: then read X-Forwarded-For
}

const gateway = await createGateway({
  ...trpcToOpenApi(trpcToOpenApiDocument(appRouter, { title: 'Help desk', version: '2.0', baseUrl: '/v1' })),
  ignoreEmptyQuery: true,
  router: appRouter,
  createContext,
  maskUnexpectedErrors: false, // a client of trpc-to-openapi may show these messages
  mapError: ({ cause }) =>
    cause instanceof AppError ? new TRPCError({ code: cause.code, cause }) : undefined,
});

const app = express();
app.get('/', (_request, response) => response.send('Help desk'));
app.use(express.json());
app.use(nodeHandler(gateway));

app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
