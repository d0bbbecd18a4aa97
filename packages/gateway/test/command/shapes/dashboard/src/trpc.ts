import { initTRPC } from '@trpc/server';
import type { FetchCreateContextFnOptions } from '@trpc/server/adapters/fetch';
import type { OpenApiMeta } from 'trpc-to-openapi';
import superjson from 'superjson';

interface McpMeta {
  mcp?: { enabled: boolean; description?: string };
}

export const createContext = ({
  req,
  resHeaders,
}: Pick<FetchCreateContextFnOptions, 'req' | 'resHeaders'>) => {
  resHeaders.set('x-home', '1');
  return { key: req.headers.get('apikey'), path: new URL(req.url).pathname };
};

export const t = initTRPC
  .context<typeof createContext>()
  .meta<OpenApiMeta & McpMeta>()
  .create({ transformer: superjson });
