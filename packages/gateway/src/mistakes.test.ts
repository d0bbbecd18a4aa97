import { bearer, createGateway, GatewayError, type ReportedError } from './index.ts';
import { serve } from './adapters/node/index.ts';
import { declareErrors, type GatewayMeta } from './meta.ts';
import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';

// Mistakes of users and their error messages. Each message names the value that was found and the fix.

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const verify = () => 'ada';

/** Creates a gateway from options or metadata that the types reject. */
function create(options: object, procedures: Parameters<typeof t.router>[0] = {}) {
  return createGateway({
    router: t.router(procedures),
    createContext: () => ({}),
    document: { title: 'Pets', version: '1.0.0' },
    ...options,
  });
}

async function messageOf(gateway: Promise<unknown>): Promise<string> {
  const error = await gateway.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error instanceof GatewayError ? error.message : '';
}

it.each([
  [
    'document.openapi: 3.0',
    { document: { title: 'Pets', version: '1', openapi: '3.0' } },
    `document.openapi is "3.0"; it must be '3.1' or '3.2'.`,
  ],
  [
    'rateLimit.window',
    { rateLimit: { calls: 1, windowSeconds: 60, window: 60 } },
    '"window" is not an option of rateLimit; its options are calls, windowSeconds, key.',
  ],
  [
    'a number as text',
    { rateLimit: { calls: '100', windowSeconds: 60 } },
    'rateLimit.calls is "100"; it must be a positive integer.',
  ],
  [
    'rateLimit without windowSeconds',
    { rateLimit: { calls: 100 } },
    'rateLimit.windowSeconds is undefined; it must be a positive integer.',
  ],
  [
    'a limit as text',
    { callTimeoutMs: '30s' },
    'callTimeoutMs is "30s"; it must be a positive number, or Infinity for no limit.',
  ],
  [
    'a URL without its scheme',
    { publicUrl: 'localhost:3000' },
    'publicUrl is "localhost:3000"; it must be an absolute http or https URL, or a path such as /api, without query or fragment.',
  ],
  [
    'the name of a security scheme',
    { securitySchemes: { bearer: 'http' } },
    `securitySchemes is {"bearer":"http"}; it must be an object of Security Scheme Objects by names of letters, digits, '.', '_' and '-', such as securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }.`,
  ],
  [
    'a name of a security scheme that no document can have',
    { securitySchemes: { 'my token': { type: 'http', scheme: 'bearer' } } },
    `securitySchemes is {"my token":{"type":"http","scheme":"bearer"}}; it must be an object of Security Scheme Objects by names of letters, digits, '.', '_' and '-', such as securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }.`,
  ],
  [
    'the name of an error format',
    { errorFormat: 'problemDetails' },
    'errorFormat is "problemDetails"; it must be an object, such as errorFormat: problemDetails, which trpc-gateway exports.',
  ],
])('createGateway rejects %s', async (_mistake, options, message) => {
  expect(await messageOf(create(options))).toBe(message);
});

it('createGateway rejects schemes, base paths and routes in one message', async () => {
  const message = await messageOf(
    create({
      authentication: [bearer({ verify, name: 'a b' }), bearer({ verify, name: 'c d' })],
      restBasePath: 'v1',
      routes: { metrics: () => ({ status: 200, headers: [] }) },
    }),
  );
  expect(message.split('\n')).toEqual([
    expect.stringContaining('a scheme named "a b"'),
    expect.stringContaining('both read "Authorization: Bearer"'),
    expect.stringContaining('v1'),
    expect.stringContaining('metrics'),
  ]);
});

const messageStart = 'Procedure "a": openapi.';

it.each([
  ['a number as path', { path: 1 }, `path is 1; it must be a path, such as path: '/pets/{id}'.`],
  [
    'a text as tags',
    { tags: 'pets' },
    `tags is "pets"; it must be an array of strings, such as tags: ['pets'].`,
  ],
  ['a text as protect', { protect: 'false' }, 'protect is "false"; it must be true or false.'],
  [
    'a text as contentTypes',
    { contentTypes: 'text/csv' },
    `contentTypes is "text/csv"; it must be a list of media types, such as contentTypes: ['application/json'].`,
  ],
  [
    'a status of an error as successStatus',
    { successStatus: 404 },
    'successStatus is 404; it must be a status from 200 to 399, or a list of them, such as successStatus: 201.',
  ],
  [
    'a text as successStatus',
    { successStatus: '201' },
    'successStatus is "201"; it must be a status from 200 to 399, or a list of them, such as successStatus: 201.',
  ],
  [
    'a status of success in errorResponses',
    { errorResponses: { 200: 'Fine.' } },
    `errorResponses is {"200":"Fine."}; it must be an object or a list of statuses from 400 to 599, such as errorResponses: { 404: 'No such pet.' }.`,
  ],
  [
    'a header without its value',
    { responseHeaders: { Location: '/a' } },
    `responseHeaders is {"Location":"/a"}; it must be an object of headers, such as responseHeaders: { Location: { description: 'The pet.', value: (output) => \`/v1/pets/\${output.id}\` } }.`,
  ],
  [
    'the name of a cursor as pagination',
    { pagination: 'after' },
    `pagination is "after"; it must be an object, such as pagination: { cursor: 'after' }.`,
  ],
  [
    'text as deprecated',
    { deprecated: 'May' },
    `deprecated is "May"; it must be true, or an object such as deprecated: { since: new Date('2026-01-01') }.`,
  ],
  [
    'a text as a date',
    { deprecated: { since: 'May' } },
    `deprecated.since is "May"; it must be a Date, such as new Date('2026-01-01').`,
  ],
  [
    'a list as in',
    { in: ['header'] },
    `in is ["header"]; it must be an object of places (path, query, header, cookie or body), such as in: { tenant: 'header' }.`,
  ],
])('createGateway rejects metadata with %s', async (_mistake, metadata, message) => {
  const openapi = { method: 'GET', path: '/a', ...metadata };
  // @ts-expect-error metadata that the types reject
  expect(await messageOf(create({}, { a: t.procedure.meta({ openapi }).query(() => 1) }))).toBe(
    messageStart + message,
  );
});

it('createGateway rejects an unknown option of upload', async () => {
  const upload: object = { maxByte: 10 };
  const procedure = t.procedure
    .meta({ openapi: { method: 'POST', path: '/a', upload } })
    .input(z.instanceof(ReadableStream))
    .mutation(() => 1);
  expect(await messageOf(create({}, { a: procedure }))).toBe(
    'Procedure "a": "maxByte" is not an option of openapi.upload; did you mean "maxBytes"?',
  );
});

it.each([
  ['openApi', 'openapi'],
  ['deadlineMS', 'deadlineMs'],
  ['ratelimitCost', 'rateLimitCost'],
  ['Scopes', 'scopes'],
])('createGateway rejects the metadata %s and suggests %s', async (name, right) => {
  const procedure = t.procedure.meta({ [name]: {} }).query(() => 1);
  expect(await messageOf(create({}, { a: procedure }))).toBe(
    `Procedure "a": "${name}" is not read from the metadata; did you mean "${right}"?`,
  );
});

it('createGateway rejects two procedures with the same operationId', async () => {
  const gateway = create(
    {},
    {
      a: t.procedure.meta({ openapi: { method: 'GET', path: '/a', operationId: 'x' } }).query(() => 1),
      b: t.procedure.meta({ openapi: { method: 'GET', path: '/b', operationId: 'x' } }).query(() => 1),
    },
  );
  expect(await messageOf(gateway)).toBe(
    'Procedure "b" cannot be served over REST: "a" has the operationId "x" too; give one of them another operationId.',
  );
});

it('createGateway rejects two procedures for which operationId returns the same text', async () => {
  const openapi = { method: 'GET', path: '/a' } as const;
  const procedures = {
    'a-b': t.procedure.meta({ openapi }).query(() => 1),
    a: t.router({ b: t.procedure.meta({ openapi: { ...openapi, path: '/b' } }).query(() => 1) }),
  };
  const operationId = (path: string) => path.replaceAll('.', '-');
  expect(await messageOf(create({ operationId }, procedures))).toBe(
    'Procedure "a.b" cannot be served over REST: "a-b" has the operationId "a-b" too; give one of them another operationId.',
  );
});

it('createGateway rejects an operationId that returns a promise, and ignores its rejection', async () => {
  const procedure = t.procedure.meta({ openapi: { method: 'GET', path: '/a' } }).query(() => 1);
  const operationId = (async () => Promise.reject(new Error('late'))) as never;
  expect(await messageOf(create({ operationId }, { a: procedure }))).toContain(
    'operationId of createGateway returned a promise for it; return a string, such as its path.',
  );
});

it('createGateway rejects an operationId that returns no text', async () => {
  const procedure = t.procedure.meta({ openapi: { method: 'GET', path: '/a' } }).query(() => 1);
  expect(await messageOf(create({ operationId: () => undefined }, { a: procedure }))).toBe(
    'Procedure "a" cannot be served over REST: operationId of createGateway returned undefined for it; return a string, such as its path.',
  );
});

it('declareErrors rejects data that is not a zod schema', () => {
  // @ts-expect-error data that the types reject
  expect(() => declareErrors({ OUT: { status: 409, data: { left: 'int' } } })).toThrow(
    'The declared error OUT needs an HTTP status from 400 to 599, and its data, if any, must be a schema of zod, such as z.object({ … }).',
  );
});

/** Sends a request that gets 500, and returns the message that `onError` receives. */
async function reportedBy(
  options: object,
  procedures: Parameters<typeof t.router>[0] = {},
  path = '/v1/a',
  init: RequestInit = {},
) {
  const messages: string[] = [];
  const gateway = await create(
    {
      ...options,
      onError: ({ error }: ReportedError<unknown>) => messages.push(error.cause?.message ?? error.message),
    },
    procedures,
  );
  const response = await gateway.fetch(`http://localhost${path}`, init);
  expect(response.status).toBe(500);
  return messages.join('\n');
}

it.each([true, 'no', { status: 503 }])(
  'admit of a policy that returns %j gets an error that names the valid results',
  async (returned) => {
    expect(await reportedBy({ policies: [{ admit: () => returned }] })).toMatch(
      /^admit of a policy returned .*; it must return a TRPCError or nothing\.$/,
    );
  },
);

it('a route that returns an object as body gets an error that lists the valid types', async () => {
  const routes = { '/x': () => ({ status: 200, headers: [], body: { a: 1 } }) };
  expect(await reportedBy({ routes }, {}, '/x')).toMatch(/whose body is a string, bytes or a stream\.$/);
});

it('a media writer that returns a promise gets an error that says so', async () => {
  const procedure = t.procedure
    // @ts-expect-error a media writer that the types reject
    .meta({ openapi: { method: 'GET', path: '/a', produces: { 'text/plain': async () => 'a' } } })
    .query(() => 1);
  expect(await reportedBy({}, { a: procedure })).toContain('returned a promise');
});

it('scopes that return a string are an error and grant no scope', async () => {
  const authentication = bearer({
    verify,
    // @ts-expect-error scopes that the types reject, such as the unsplit claim of a token
    scopes: () => 'pets:read-own pets:write',
  });
  const procedure = t.procedure
    .meta({ scopes: ['pets:read'], openapi: { method: 'GET', path: '/a' } })
    .query(() => 1);
  const headers = { authorization: 'Bearer token' };
  expect(await reportedBy({ authentication }, { a: procedure }, '/v1/a', { headers })).toBe(
    'scopes of the scheme "bearer" returned "pets:read-own pets:write"; it must return an array, such as [\'pets:read\'].',
  );
});

it('serve rejects options that are not an object', async () => {
  const gateway = await create({});
  // @ts-expect-error options that the types reject
  await expect(serve(gateway, 3000)).rejects.toThrow('serve takes an object of options, not 3000.');
});

it('serve rejects an unknown option of tls', async () => {
  const gateway = await create({});
  // @ts-expect-error options that the types reject
  await expect(serve(gateway, { tls: { cert: 'cert.pem', key: 'key.pem' } })).rejects.toThrow(
    '"cert" is not an option of tls; its options are certFile, keyFile.',
  );
});

it('the document lists the codes of every error of an operation that declares errors', async () => {
  const errors = declareErrors({ OUT_OF_STOCK: { status: 409 } });
  const gateway = await create(
    {},
    {
      order: t.procedure
        .meta({ openapi: { method: 'GET', path: '/order' } })
        .errors(errors)
        .input(z.object({ id: z.int() }))
        .query(() => 1),
      pet: t.procedure.meta({ openapi: { method: 'GET', path: '/pet' } }).query(() => 1),
    },
  );
  const document = JSON.stringify(await gateway.document());
  const { paths, components } = z
    .object({
      paths: z.record(
        z.string(),
        z.object({ get: z.object({ responses: z.record(z.string(), z.unknown()) }) }),
      ),
      components: z.object({ schemas: z.looseObject({ Error: z.unknown() }) }),
    })
    .parse(JSON.parse(document));
  expect(components.schemas.Error).toMatchObject({ properties: { code: { type: 'string' } } });
  const described = Object.entries(paths['/order']?.get.responses ?? {}).filter(
    ([status]) => status >= '400',
  );
  expect(described.map(([status]) => status)).toStrictEqual(['400', '409', '500', '503', '504']);
  for (const [, response] of described) {
    const code = JSON.stringify(response).replace(
      /\{"\$ref":"#\/components\/schemas\/(\w+)"\}/,
      (_reference, name: string) => JSON.stringify(components.schemas[name]),
    );
    expect(code).not.toContain('#/components/schemas/Error"');
    expect(code).toMatch(/"code":\{"type":"string","(const|enum)":/);
  }
});
