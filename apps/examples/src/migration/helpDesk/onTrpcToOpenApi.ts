import { TRPCError } from '@trpc/server';
import { createExpressMiddleware, type CreateExpressContextOptions } from '@trpc/server/adapters/express';
import express from 'express';
import { createOpenApiExpressMiddleware, generateOpenApiDocument } from 'trpc-to-openapi';
import { AppError } from './appError.ts';
import { appRouter } from './router.ts';
import { findSession } from './sessions.ts';
import type { Context } from './trpc.ts';

async function createContext({ req }: CreateExpressContextOptions): Promise<Context> {
  const [scheme, token] = req.headers.authorization?.split(' ') ?? [];
  if (scheme !== undefined && scheme !== 'Bearer')
    throw new TRPCError({ code: 'BAD_REQUEST', message: `Send a bearer token, not ${scheme}.` });
  const session = token === undefined ? undefined : await findSession(token);
  return { session, address: req.ip };
}

function responseMeta({ errors: [error] }: { readonly errors: readonly TRPCError[] }) {
  return error?.cause instanceof AppError ? { status: error.cause.status } : {};
}

const document = generateOpenApiDocument(appRouter, { title: 'Help desk', version: '2.0', baseUrl: '/v1' });

const app = express();
app.get('/', (_request, response) => response.send('Help desk'));
app.get('/openapi.json', (_request, response) => response.json(document));
app.use('/trpc', createExpressMiddleware({ router: appRouter, createContext, responseMeta }));
app.use(express.json());
app.use('/v1', createOpenApiExpressMiddleware({ router: appRouter, createContext, responseMeta }));

app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
