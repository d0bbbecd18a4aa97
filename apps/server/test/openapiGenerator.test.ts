import { appRouter } from '@petstore/core';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import { type JsonSchema, type OpenApiDocument, operations, resolve } from 'trpc-gateway-test';
import { expect, it } from 'vitest';
import { startServerInProcess } from './testing/startServerInProcess.ts';

/** Where the served document differs from that of trpc-to-openapi, with the reason of each difference. */
const differences: Readonly<
  Record<string, Readonly<Record<string, readonly [theirs: unknown, served: unknown]>>>
> = {
  'trpc-to-openapi documents 200 as the status of every success; successStatus is a field of the gateway.': {
    'POST /pets success status': ['200', '201'],
  },
  'The header Idempotency-Key comes from idempotencyKey, a field of the gateway.': {
    'POST /pets parameters header Idempotency-Key': [
      undefined,
      { required: false, schema: expect.objectContaining({ type: 'string' }) },
    ],
  },
  'trpc-to-openapi reads the inner schema of an optional parameter, without the metadata around it.': {
    'GET /pets parameters query status schema description': [
      'Availability status.',
      'Only animals with this status.',
    ],
    'GET /pets parameters query cursor schema description': [undefined, 'Only animals with a greater id.'],
    'GET /pets parameters query cursor schema format': [undefined, 'int64'],
  },
};

/** Returns what a document says of each operation that both libraries describe: names, inputs and success. */
function describe(document: OpenApiDocument): Readonly<Record<string, unknown>> {
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...members } = value as JsonSchema;
    const target = $ref === undefined ? {} : resolve<JsonSchema>(document, { $ref });
    return Object.fromEntries(
      Object.entries({ ...target, ...members }).map(([name, member]) => [name, inlined(member)]),
    );
  };
  return Object.fromEntries(
    operations(document).map(({ method, path, operation }) => {
      const { operationId, deprecated = false, security = [], requestBody, responses } = operation;
      const parameters = (operation.parameters ?? []).map(({ in: place, name, required = false, schema }) => [
        `${place} ${name}`,
        { required, schema: inlined(schema) },
      ]);
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
      return [
        `${method} ${path}`,
        {
          operationId,
          deprecated,
          isProtected: security.length > 0,
          parameters: Object.fromEntries(parameters) as object,
          body: inlined(requestBody),
          success: { status: success?.[0], content: inlined(success?.[1].content) },
        },
      ];
    }),
  );
}

/** Yields where two values differ: the names of members that lead there, and both values. */
function* differencesOf(
  theirs: unknown,
  served: unknown,
  names: readonly string[] = [],
): Generator<readonly [at: string, values: readonly [theirs: unknown, served: unknown]]> {
  const isNested = [theirs, served].every((value) => typeof value === 'object' && value !== null);
  if (!isNested) {
    if (theirs !== served) yield [names.join(' '), [theirs, served]];
    return;
  }
  const [one, other] = [theirs, served] as Record<string, unknown>[];
  for (const name of Object.keys({ ...one, ...other })) {
    yield* differencesOf(one?.[name], other?.[name], [...names, name]);
  }
}

it('the served document and that of trpc-to-openapi describe the same operations, but for differences by design', async () => {
  const { origin } = await startServerInProcess();
  const served = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApiDocument;
  const info = { title: 'Pet store', version: '1.0.0', baseUrl: '/v1' };
  const theirs = JSON.parse(JSON.stringify(generateOpenApiDocument(appRouter, info))) as OpenApiDocument;
  const found = Object.fromEntries(differencesOf(describe(theirs), describe(served)));
  expect(found).toEqual(Object.assign({}, ...Object.values(differences)));
});
