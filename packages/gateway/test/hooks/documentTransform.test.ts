import { expect, it } from 'vitest';
import { transformed as router, transformPaths } from './routers.ts';
import { startShape } from '../startShape.ts';

// Changes to the document without a fork: trpc-openapi's `filter`, oRPC's `spec`; swagger-autogen #237 (extensions of an
// operation), kogosoftwarellc/open-api #768 (of the document).

it.each([
  ['3.1', 'x-query'],
  ['3.2', 'query'],
] as const)(
  'document.transform is called once and may change and hide operations for OpenAPI %s',
  async (openapi, query) => {
    let calls = 0;
    const shape = await startShape(router, {
      document: {
        title: 'Shape',
        version: '1.0.0',
        openapi,
        transform: ({ info, paths = {}, ...document }) => {
          calls += 1;
          return {
            ...document,
            info: { ...info, contact: { email: 'api@shop.example' } },
            paths: transformPaths(paths),
          };
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
        '/queried': { [query]: { operationId: 'queried' } },
      },
    });
    expect(Object.keys(served.paths)).not.toContain('/hidden');
    expect(await shape.restJson('/hidden', { method: 'POST' })).toEqual([200, 'served']);
    expect(calls).toBe(1);
  },
);

it('createGateway rejects a document.transform that returns undefined', async () => {
  const document = { title: 'Shape', version: '1.0.0', transform: (() => {}) as never };
  await expect(startShape(router, { document })).rejects.toThrow('document.transform returned undefined');
});
