import { expect, it } from 'vitest';
import { describedOperations as calls, t, transformed as router } from './hooks.ts';
import { startShape } from './startShape.ts';

// Changes to the document without a fork: trpc-openapi's `filter`, oRPC's `spec`; swagger-autogen #237 (extensions of an
// operation), kogosoftwarellc/open-api #768 (of the document).

it.each([
  ['3.1', 'x-query'],
  ['3.2', 'query'],
] as const)(
  'the document functions of operations and document.transform are called once for OpenAPI %s',
  async (openapi, query) => {
    calls.length = 0;
    const shape = await startShape(router, {
      document: {
        title: 'Shape',
        version: '1.0.0',
        openapi,
        transform: (document) => {
          calls.push('document');
          return { ...document, info: { ...document.info, contact: { email: 'api@shop.example' } } };
        },
      },
    });
    const served = (await (
      await shape.server.fetch(`${shape.origin}/openapi.json`)
    ).json()) as typeof shape.document;
    expect(served).toEqual(shape.document);
    expect(served).toMatchObject({
      info: { title: 'Shape', contact: { email: 'api@shop.example' } },
      paths: {
        '/described': { get: { operationId: 'described', 'x-internal': true } },
        '/queried': { [query]: { summary: 'Queried.' } },
      },
    });
    expect(calls).toEqual(['described', 'document']);
  },
);

it('an operation whose document function returns null is served and not in the document', async () => {
  const { document, restJson } = await startShape(router);
  expect(Object.keys(document.paths)).toEqual(['/described', '/queried']);
  expect(await restJson('/hidden', { method: 'POST' })).toEqual([200, 'served']);
});

it('createGateway rejects a document function and a document.transform that return undefined', async () => {
  const forgetful = t.router({
    odd: t.procedure
      .meta({ openapi: { method: 'GET', path: '/odd', document: (() => {}) as never } })
      .query(() => ''),
  });
  await expect(startShape(forgetful)).rejects.toThrow(
    'Procedure "odd" has a document function that returned undefined',
  );
  const document = { title: 'Shape', version: '1.0.0', transform: (() => {}) as never };
  await expect(startShape(router, { document })).rejects.toThrow('document.transform returned undefined');
});
