import { createExpressMiddleware } from '@trpc/server/adapters/express';
import express from 'express';
import { createOpenApiExpressMiddleware } from 'trpc-to-openapi';
import { unauthorized } from '../petStore/failure.ts';
import { rpcContext } from '../petStore/rpcContext.ts';
import { appRouter } from '../petStore/servedRouter.ts';

// tRPC's adapter for Express, and trpc-to-openapi for REST, over the pet store's own router.

const rest = createOpenApiExpressMiddleware({
  router: appRouter,
  createContext: rpcContext,
  responseMeta: ({ paths, errors }) =>
    paths?.[0] === 'createPet' && errors.length === 0 ? { status: 201 } : {},
});

const authorization = `Bearer ${process.env['API_KEY']}`;

const app = express();
app.use(({ headers }, response, next) => {
  if (headers.authorization === authorization) next();
  else response.status(401).json(unauthorized);
});
app.use('/trpc', createExpressMiddleware({ router: appRouter, createContext: rpcContext }));
app.use('/v1', rest);
app.listen(Number(process.env['PORT']), '127.0.0.1');
