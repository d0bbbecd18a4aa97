import { initTRPC } from '@trpc/server';
import { generateOpenApiDocument, type OpenApiMeta } from 'trpc-to-openapi';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import { trpcToOpenApi, trpcToOpenApiDocument } from './index.ts';

const t = initTRPC.meta<OpenApiMeta>().create({ isDev: false });
const Book = z.object({ id: z.number(), title: z.string() });
const router = t.router({
  find: t.procedure
    .meta({ openapi: { method: 'GET', path: '/books/{id}', tags: ['books'], protect: false } })
    .input(z.object({ id: z.number() }))
    .output(Book)
    .query(({ input: { id } }) => ({ id, title: 'Emma' })),
  add: t.procedure
    .meta({ openapi: { method: 'POST', path: '/books', deprecated: true, errorResponses: [409] } })
    .input(Book.omit({ id: true }))
    .output(Book)
    .mutation(({ input }) => ({ id: 1, ...input })),
  internal: t.procedure
    .meta({ openapi: { method: 'GET', path: '/internal' } })
    .output(z.void())
    .query(() => {}),
});
const info = {
  title: 'Books',
  version: '2.0.0',
  baseUrl: 'https://books.example/v1',
  description: 'All books.',
  docsUrl: 'https://books.example/docs',
  license: { name: 'MIT' },
  tags: ['books'],
  securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } as const },
  defs: { Author: z.object({ name: z.string() }) },
  filter: ({ metadata }: { readonly metadata: OpenApiMeta }) => metadata.openapi?.path !== '/internal',
};

const gatewayOf = () =>
  createGateway({
    ...trpcToOpenApi(trpcToOpenApiDocument(router, info)),
    router,
    createContext: () => ({}),
    onResponse: () => {},
  });

it('trpcToOpenApiDocument serves the document that generateOpenApiDocument writes, to the byte', async () => {
  const gateway = await gatewayOf();
  const response = await gateway.fetch(new Request('http://books.example/openapi.json'));
  const document = generateOpenApiDocument(router, info);
  expect(await response.text()).toBe(JSON.stringify(document));
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(JSON.stringify(await gateway.document())).toBe(JSON.stringify(document));
});

it('without trpc-to-openapi, the document is a 500 whose error names the command that installs it, and calls succeed', async () => {
  vi.doMock('trpc-to-openapi', () => {
    throw new Error('Cannot find package');
  });
  const gateway = await gatewayOf();
  const get = (path: string) => gateway.fetch(new Request(`http://books.example${path}`));
  const found = await get('/v1/books/1');
  expect([found.status, await found.json()]).toEqual([200, { id: 1, title: 'Emma' }]);
  expect((await get('/openapi.json')).status).toBe(500);
  await expect(gateway.document()).rejects.toThrow('Run `npm install trpc-to-openapi@3.3`.');
  vi.doUnmock('trpc-to-openapi');
  expect((await get('/openapi.json')).status).toBe(200);
});
