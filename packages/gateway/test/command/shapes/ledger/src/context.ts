// As `@hono/trpc-server` calls it, with the context of Hono.
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

export const createTRPCContext = async (_: unknown, c: HonoContext) => {
  c.header('Set-Cookie', 'seen=1', { append: true });
  return {
    user: c.req.header('Authorization')?.split(' ')[1],
    address: c.req.raw.headers.get('x-forwarded-for'),
    host: new URL(c.req.url).hostname,
    requestId: c.get('requestId'),
    path: c.env['PATH'] === undefined ? undefined : c.req.query('page'),
  };
};
export type Context = Awaited<ReturnType<typeof createTRPCContext>>;
