import { createGateway } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { initTRPC } from '@trpc/server';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { has, serve } from '../servers.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const remove = (path: `/${string}`, successStatus?: number) =>
  t.procedure.meta({
    openapi: { method: 'POST', path, ...(successStatus !== undefined && { successStatus }) },
  });
const router = t.router({
  default: remove('/default')
    .output(z.void())
    .mutation(() => {}),
  own: remove('/own', 200)
    .output(z.undefined())
    .mutation(() => undefined),
  created: remove('/created', 201)
    .output(z.void())
    .mutation(() => {}),
  none: remove('/none', 204)
    .output(z.void())
    .mutation(() => {}),
  any: remove('/any')
    .output(z.any())
    .mutation(() => undefined),
  optional: remove('/optional')
    .output(z.string().optional())
    .mutation(() => undefined),
  undescribed: remove('/undescribed').mutation(() => undefined),
});

async function start(options: { readonly voidStatus?: 200 | 204 }) {
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Pets', version: '1.0.0' },
    ...options,
  });
  const server = await serve(gateway);
  onTestFinished(() => void server.close());
  const { paths } = (await gateway.document()) as {
    readonly paths: Record<string, { readonly post: { readonly responses: Record<string, object> } }>;
  };
  return {
    async post(path: string) {
      const response = await server.fetch(`${server.origin}/v1${path}`, { method: 'POST' });
      expect(await response.text()).toBe('');
      const { status, headers } = response;
      // Without a port, the server of the Response sets the length.
      if (has('a port')) expect(headers.get('content-length')).toBe(status === 204 ? null : '0');
      return [status, headers.get('content-type')];
    },
    documented: (path: string) =>
      Object.fromEntries(
        Object.entries(paths[path]?.post.responses ?? {})
          .filter(([status]) => status < '300')
          .map(([status, response]) => [status, (response as { readonly content?: object }).content]),
      ),
  };
}

const json = 'application/json';
const anything = { [json]: { schema: {} } };

it.each<[path: string, status: number, type: string | null, documented: object]>([
  ['/default', 200, json, { 200: anything }],
  ['/own', 200, json, { 200: anything }],
  ['/created', 201, json, { 201: anything }],
  ['/none', 204, null, { 204: undefined }],
  ['/any', 200, json, { 200: anything }],
  ['/optional', 200, json, { 200: { [json]: { schema: { type: 'string' } } } }],
  ['/undescribed', 200, json, { 200: anything }],
])(
  'with voidStatus 200, POST %s is answered with %i, an empty body and the type %s, as documented',
  async (path, status, type, documented) => {
    const server = await start({ voidStatus: 200 });
    expect(await server.post(path)).toEqual([status, type]);
    expect(server.documented(path)).toEqual(documented);
  },
);

it.each<[path: string, status: number, type: string | null, documented: object]>([
  ['/default', 204, null, { 204: undefined }],
  ['/own', 200, json, { 200: anything }],
  ['/any', 204, null, { 200: anything, 204: undefined }],
])(
  'without voidStatus, POST %s is answered with %i, an empty body and the type %s, as documented',
  async (path, status, type, documented) => {
    const server = await start({});
    expect(await server.post(path)).toEqual([status, type]);
    expect(server.documented(path)).toEqual(documented);
  },
);
