// server/gateway.ts
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { callerOf, createTRPCContext } from './context';
import { appRouter } from './router';

export const gateway = await createGateway({
  router: appRouter,
  createContext: ({ request }) => createTRPCContext({ headers: new Headers([...request.headers()]) }),
  trpcBasePath: '/api/trpc',
  restBasePath: '/api/v1',
  mcp: mcp({ path: '/api/mcp' }),
  document: { title: 'Books', version: '1.0.0', path: '/api/openapi.json' },
  routes: docsPage({ path: '/api/docs', document: '/api/openapi.json' }),
  // An idempotency key belongs to a session.
  idempotency: { caller: ({ request }) => callerOf(new Headers([...request.headers()])) },
});
