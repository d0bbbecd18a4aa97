import type { GatewayMeta, ResponseControls, RestMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { has } from '../servers.ts';
import { startShape } from '../startShape.ts';

// Successful responses without a body: outputs that are undefined, and 205 (RFC 9110 §15.3.6).

const t = initTRPC.context<{ readonly response: ResponseControls }>().meta<GatewayMeta>().create();
const at = (path: `/${string}`, successStatus?: RestMeta['successStatus']) =>
  t.procedure.meta({
    openapi: { method: 'POST', path, ...(successStatus !== undefined && { successStatus }) },
  });
/** A procedure that returns `undefined`. */
const empty = (output: z.ZodType, ...operation: Parameters<typeof at>) =>
  at(...operation)
    .output(output)
    .mutation(() => undefined);
const router = t.router({
  default: empty(z.void(), '/default'),
  own: empty(z.undefined(), '/own', 200),
  created: empty(z.void(), '/created', 201),
  none: empty(z.void(), '/none', 204),
  any: empty(z.any(), '/any'),
  optional: empty(z.string().optional(), '/optional'),
  undescribed: at('/undescribed').mutation(() => undefined),
  moved: at('/moved', 303)
    .output(z.string())
    .mutation(({ ctx }) => {
      ctx.response.header('location', 'https://covers.test/1');
      return 'text';
    }),
  reset: at('/reset', 205)
    .output(z.string())
    .mutation(() => 'text'),
  selected: at('/selected', [200, 205])
    .output(z.string())
    .mutation(({ ctx }) => {
      ctx.response.status = 205;
      return 'text';
    }),
  chosen: at('/chosen', [200, 204, 205])
    .output(z.string().optional())
    .mutation(({ ctx }) => {
      ctx.response.status = 205;
      return undefined;
    }),
});

const routes = { 'POST /v1/route': () => ({ status: 205, headers: [], body: 'text' }) };
const json = 'application/json';
const anything = { [json]: { schema: {} } };
const text = { [json]: { schema: { type: 'string' } } };

it.each<
  [
    path: string,
    compatibility: 'trpc-to-openapi' | undefined,
    status: number,
    type: string | null,
    documented: object,
  ]
>([
  ['/default', 'trpc-to-openapi', 200, json, { 200: anything }],
  ['/own', 'trpc-to-openapi', 200, json, { 200: anything }],
  ['/created', 'trpc-to-openapi', 201, json, { 201: anything }],
  ['/none', 'trpc-to-openapi', 204, null, { 204: undefined }],
  ['/any', 'trpc-to-openapi', 200, json, { 200: anything }],
  ['/optional', 'trpc-to-openapi', 200, json, { 200: text }],
  ['/undescribed', 'trpc-to-openapi', 200, json, { 200: anything }],
  ['/default', undefined, 204, null, { 204: undefined }],
  ['/own', undefined, 200, json, { 200: anything }],
  ['/any', undefined, 204, null, { 200: anything, 204: undefined }],
  ['/reset', undefined, 205, null, { 205: undefined }],
  ['/selected', undefined, 205, null, { 200: text, 205: undefined }],
  ['/chosen', undefined, 205, null, { 200: text, 204: undefined, 205: undefined }],
  ['/route', undefined, 205, null, {}],
])(
  'POST %s with the compatibility %s is answered with %i, an empty body and the type %s, as documented',
  async (path, compatibility, status, type, documented) => {
    const { document, rest } = await startShape(router, { routes, ...(compatibility && { compatibility }) });
    const response = await rest(path, { method: 'POST' });
    const { headers } = response;
    expect([response.status, headers.get('content-type'), await response.text()]).toEqual([status, type, '']);
    // Without a port, the server of the Response sets the length.
    const length = has('a port') && status !== 204 ? '0' : null;
    expect(headers.get('content-length')).toBe(length);
    const described = Object.entries(document.paths[path]?.['post']?.responses ?? {})
      .filter(([each]) => each < '300')
      .map(([each, { content }]) => [each, content]);
    expect(Object.fromEntries(described)).toEqual(documented);
  },
);

it('an operation with the successStatus 303 that sets Location redirects the client, without a body', async () => {
  const { rest } = await startShape(router);
  const response = await rest('/moved', { method: 'POST', redirect: 'manual' });
  const { headers, status } = response;
  expect([status, headers.get('location'), await response.text()]).toEqual([
    303,
    'https://covers.test/1',
    '',
  ]);
});
