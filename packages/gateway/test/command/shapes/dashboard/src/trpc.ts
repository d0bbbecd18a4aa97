import { initTRPC } from '@trpc/server';
import type { FetchCreateContextFnOptions } from '@trpc/server/adapters/fetch';
import type { OpenApiMeta } from 'trpc-to-openapi';
import superjson from 'superjson';

interface McpMeta {
  mcp?: { enabled: boolean; description?: string };
}

interface HonoContext {
  readonly env: Record<string, string | undefined>;
  readonly req: {
    readonly raw: Request;
    readonly url: string;
    header(name: string): string | undefined;
    query(name: string): string | undefined;
  };
  get(name: 'requestId'): string | undefined;
  header(name: string, value: string, options?: { append?: boolean }): void;
}

// As `@hono/trpc-server` calls it, with the context of Hono.
export const createContext = async (
  { req, resHeaders }: Pick<FetchCreateContextFnOptions, 'req' | 'resHeaders'>,
  c: HonoContext,
) => {
  resHeaders.set('x-home', '1');
  c.header('Set-Cookie', 'seen=1', { append: true });
  return {
    key: req.headers.get('apikey'),
    path: new URL(req.url).pathname,
    user: c.req.header('Authorization')?.split(' ')[1],
    address: c.req.raw.headers.get('x-forwarded-for'),
    host: new URL(c.req.url).hostname,
    requestId: c.get('requestId'),
    page: c.env['PATH'] === undefined ? undefined : c.req.query('page'),
  };
};

export const t = initTRPC
  .context<typeof createContext>()
  .meta<OpenApiMeta & McpMeta>()
  .create({ transformer: superjson });
