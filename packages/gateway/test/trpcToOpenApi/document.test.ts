import { isDeepStrictEqual } from 'node:util';
import type { AnyTRPCRouter } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { trpcToOpenApi } from 'trpc-gateway/trpc-to-openapi';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import { expect, it } from 'vitest';
import { createRouter } from './servers.ts';

type Json = Readonly<Record<string, unknown>>;

/** A value of trpc-to-openapi's document that the gateway's has not, or has with another value. */
interface Change {
  /** Where: the operation and the path in it, such as `get /pets responses 200 description`. */
  readonly at: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Yields what a document has lost or changed; what it adds is left out. */
function* changesOf(before: unknown, after: unknown, at: string): Generator<Change> {
  if (isDeepStrictEqual(before, after)) return;
  const isNested = [before, after].every((value) => typeof value === 'object' && value !== null);
  if (!isNested) yield { at, before, after };
  else
    for (const [name, value] of Object.entries(before as object)) {
      yield* changesOf(value, (after as Json)[name], `${at} ${name}`);
    }
}

/** The changes, with the reason of each. */
const known: Readonly<Record<string, (change: Change) => boolean>> = {
  'Descriptions of responses are the gateway’s own.': ({ at }) => / responses \d+ description$/.test(at),
  'Errors have one schema, because they have one format.': ({ at, after }) =>
    / responses [45]\d\d content application\/json schema \$ref$/.test(at) &&
    after === '#/components/schemas/Error',
  'A 404 is documented only if the metadata declares it, or a path has a number.': ({ at, after }) =>
    at.endsWith(' responses 404') && after === undefined,
  'An operation without parameters has no empty list of them.': ({ at, before }) =>
    at.endsWith(' parameters') && isDeepStrictEqual(before, []),
  'A body whose properties may all be absent is optional, as it is for the procedure.': ({ at, after }) =>
    at.endsWith(' requestBody required') && after === false,
  'A date in a union has a format, so the union has members.': ({ at, before, after }) =>
    at.endsWith(' type') && after === undefined && [before].flat().includes('string'),
  'A URL is trimmed before its length is checked, so the document has no maximum.': ({ at, after }) =>
    at.endsWith(' url maxLength') && after === undefined,
  'A property with .catch() is not required.': ({ at, before }) =>
    / required \d+$/.test(at) && before === 'caught',
  'A property is not readOnly because its value is frozen: clients must send it.': ({ at, after }) =>
    at.endsWith(' readOnly') && after === undefined,
  'A parameter is text, and never null.': ({ at, before }) =>
    / parameters \d+ schema /.test(at) && JSON.stringify(before).includes('"null"'),
  'An intersection names its discriminated union.': ({ at }) => at.endsWith(' bookmark allOf'),
};

async function documents(): Promise<readonly [before: Json, after: Json]> {
  const info = { title: 'Shapes', version: '1.0.0' };
  const router = createRouter() as AnyTRPCRouter;
  const before: unknown = generateOpenApiDocument(createRouter() as never, { ...info, baseUrl: '/api' });
  const options = { router, createContext: () => ({}), restBasePath: '/api' } as const;
  const gateway = await createGateway({ ...trpcToOpenApi(info), ...options });
  return [JSON.parse(JSON.stringify(before)) as Json, await gateway.document()];
}

const operationsOf = ({ paths }: Json) =>
  Object.fromEntries(
    Object.entries(paths as Json).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]) => [`${method} ${path}`, operation]),
    ),
  );

it('with the preset, the document has all that of trpc-to-openapi has, but for known changes', async () => {
  const [before, after] = await documents();
  const [operations, others] = [operationsOf(before), operationsOf(after)];
  expect(Object.keys(others)).toEqual(Object.keys(operations));
  const changes = [...changesOf(operations, others, '')];
  const unknown = changes.filter((change) => !Object.values(known).some((covers) => covers(change)));
  expect(unknown).toEqual([]);
  const unused = Object.keys(known).filter((each) => !changes.some((change) => known[each]?.(change)));
  expect(unused).toEqual([]);
});

it('with the preset, the document has the server, the security schemes and the members of errors that trpc-to-openapi has', async () => {
  const [before, after] = await documents();
  expect(after['servers']).toEqual(before['servers']);
  const [components, others] = [before['components'], after['components']] as Record<string, Json>[];
  expect(others?.['securitySchemes']).toEqual(components?.['securitySchemes']);
  const properties = (schema: unknown) => Object.keys((schema as { readonly properties: object }).properties);
  const errors = Object.entries(components?.['schemas'] ?? {}).filter(([name]) => name.startsWith('error.'));
  const members = errors.flatMap(([, schema]) => properties(schema));
  expect(properties(others?.['schemas']?.['Error'])).toEqual(expect.arrayContaining(members));
});
