import type { Gateway } from 'trpc-gateway';

const adapters = {
  uws: () => import('trpc-gateway/uws'),
  node: () => import('trpc-gateway/node'),
  bun: () => import('trpc-gateway/bun'),
};

/** Serves a gateway, as a contender, on the server that the environment names (`SERVER`). */
export async function serveGateway(gateway: Gateway): Promise<void> {
  const { serve } = await adapters[process.env['SERVER'] as keyof typeof adapters]();
  await serve(gateway, { host: '127.0.0.1', port: Number(process.env['PORT']) });
}
