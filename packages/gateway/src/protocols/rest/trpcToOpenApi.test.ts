import { initTRPC } from '@trpc/server';
import { createOpenApiFetchHandler, generateOpenApiDocument } from 'trpc-to-openapi';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../../gateway.ts';
import type { GatewayMeta } from '../../procedures/meta.ts';

// The options that keep paths and statuses of trpc-to-openapi (3.3), against its own handler.

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const id = z.object({ id: z.string() });
const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .input(z.object({ name: z.string().optional() }))
    .output(z.object({ name: z.string().optional() }))
    .query(({ input }) => input),
  find: t.procedure
    .meta({ openapi: { method: 'GET', path: '/Pets/{id}' } })
    .input(id)
    .output(id)
    .query(({ input }) => input),
  toys: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{id}/toys', protect: false } })
    .input(id)
    .output(z.any())
    .query(() => undefined),
  pets: t.router({
    remove: t.procedure
      .meta({ openapi: { method: 'DELETE', path: '/pets/{id}' } })
      .input(id)
      .output(z.void())
      .mutation(() => {}),
  }),
  rename: t.procedure
    .meta({ openapi: { method: 'POST', path: '/pets/{id}/name' } })
    .input(id.extend({ name: z.string() }))
    .output(z.void())
    .mutation(() => {}),
});

const createContext = () => ({});
const securitySchemes = { Authorization: { type: 'http', scheme: 'bearer' } } as const;
const options = {
  ignoreTrailingSlash: true,
  ignorePathCase: true,
  voidStatus: 200,
  operationId: (path: string) => path.replaceAll('.', '-'),
  securitySchemes,
} as const;
const document = { title: 'Pets', version: '1.0.0' };
const gateway = createGateway({ router, createContext, document, restBasePath: '/api', ...options });

const fetchers = {
  'trpc-to-openapi': (request: Request) =>
    createOpenApiFetchHandler({ req: request, endpoint: '/api', router, createContext } as never),
  gateway: async (request: Request) => (await gateway).fetch(request),
};

async function responseOf(by: keyof typeof fetchers, method: string, target: string) {
  const request = new Request(`http://pets.example/api${target}`, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{"name":"Rex"}' }),
  });
  const response = await fetchers[by](request);
  const { status, headers } = response;
  const text = await response.text();
  // The bodies of errors are those of `errorFormat`.
  return { status, type: headers.get('content-type'), text: status < 400 ? text : undefined };
}

it.each([
  ['GET', '/pets'],
  ['GET', '/pets/'],
  ['GET', '/PETS/?name=Rex'],
  ['GET', '/pets//'],
  ['GET', '/pets/Rex'],
  ['GET', '/pEtS/Rex/'],
  ['GET', '/pets/Rex//'],
  ['GET', '/pets/Rex/toys'],
  ['GET', '/pets/Rex/TOYS/'],
  ['GET', '/pets/Rex/toy'],
  ['DELETE', '/pets/Rex'],
  ['DELETE', '/PETS/Rex/'],
  ['POST', '/pets/Rex/name'],
  ['POST', '/pets/Rex/Name/'],
  ['GET', '/'],
  ['GET', ''],
])(
  'with ignoreTrailingSlash, ignorePathCase and voidStatus 200, %s %s is answered as by trpc-to-openapi',
  async (method, target) => {
    const expected = await responseOf('trpc-to-openapi', method, target);
    expect(await responseOf('gateway', method, target)).toEqual(expected);
  },
);

interface Documented {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

/** Returns the parts of a document that the options determine. */
function partsOf(value: unknown) {
  const { components, paths } = value as {
    readonly components: { readonly securitySchemes: object };
    readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, security = [], responses }]) => {
      const statuses = Object.keys(responses).filter((status) => /^2|40[13]/.test(status));
      return [`${method} ${path}`, { operationId, security, statuses, content: responses['200']?.content }];
    }),
  );
  return { schemes: components.securitySchemes, operations: Object.fromEntries(operations) as object };
}

it('with operationId, securitySchemes and voidStatus 200, the document has the ids, the security and the successful responses of trpc-to-openapi', async () => {
  const expected = generateOpenApiDocument(router as never, { ...document, baseUrl: '/api' });
  expect(partsOf(await (await gateway).document())).toEqual(partsOf(expected));
});
