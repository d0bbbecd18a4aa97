import { expect, it } from 'vitest';
import { responseProblems } from './responseProblems.ts';
import type { OpenApiDocument } from '../openApi.ts';

const integerSchema = { type: 'integer' };
const stringSchema = { type: 'string' };
const errorSchema = {
  type: 'object',
  properties: { code: stringSchema, message: stringSchema, status: integerSchema },
  required: ['code', 'message', 'status'],
};
const jsonContent = (schema: object) => ({ 'application/json': { schema } });
const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'getThing',
        responses: {
          200: {
            headers: { ETag: { required: true, schema: stringSchema } },
            content: jsonContent(integerSchema),
          },
          404: { $ref: '#/components/responses/NotFound' },
        },
      },
    },
  },
  components: {
    schemas: { Error: errorSchema },
    responses: { NotFound: { content: jsonContent({ $ref: '#/components/schemas/Error' }) } },
  },
};

const validHeaders = {
  'content-type': 'application/json',
  'x-request-id': 'r1',
  etag: '"1"',
};
const notFound = { code: 'NOT_FOUND', message: 'No such thing.', status: 404 };

function problemsOf(
  method: string,
  target: string,
  status: number,
  body: unknown,
  headers: object = {},
): string {
  const all = new Map<string, string | undefined>(Object.entries({ ...validHeaders, ...headers }));
  return responseProblems(document)(method, target, {
    status,
    header: (name) => all.get(name.toLowerCase()),
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }).join(' ');
}

it('responseProblems returns no problem for documented responses', () => {
  expect(problemsOf('GET', '/v1/things/5', 200, 5)).toBe('');
  expect(problemsOf('HEAD', '/v1/things/5', 200, '')).toBe('');
  expect(problemsOf('GET', '/v1/things/%35?a=b', 404, notFound)).toBe('');
  expect(problemsOf('GET', '/v1/nothing', 404, notFound)).toBe('');
  expect(problemsOf('OPTIONS', '/v1/things/5', 204, '')).toBe('');
  expect(problemsOf('GET', '/trpc/a', 500, { error: { data: {} } })).toBe('');
});

it.each<readonly [string, Parameters<typeof problemsOf>, RegExp]>([
  ['a missing X-Request-Id', ['GET', '/v1/things/5', 200, 5, { 'x-request-id': undefined }], /X-Request-Id/],
  ['a body that is not JSON', ['GET', '/v1/things/5', 200, '{'], /not JSON/],
  [
    'an error that is text/plain',
    ['GET', '/x', 404, 'Not found', { 'content-type': 'text/plain' }],
    /text\/plain/,
  ],
  ['a body that does not match its schema', ['GET', '/v1/things/5', 200, 'true'], /not as documented/],
  [
    'a status that is not documented',
    ['GET', '/v1/things/5', 400, { ...notFound, status: 400 }],
    /does not say/,
  ],
  [
    'a header that is not documented',
    ['GET', '/v1/things/5', 200, 5, { sunset: 'x' }],
    /sunset is not documented/,
  ],
  [
    'a documented header that is missing',
    ['GET', '/v1/things/5', 200, 5, { etag: undefined }],
    /ETag is missing/,
  ],
  ['an operation that is not documented', ['POST', '/v1/things/5', 200, 5], /No documented operation/],
  ['a 200 for an unknown path', ['GET', '/v1/nothing', 200, 5], /No documented operation/],
  [
    'a status in the body that differs from the status line',
    ['GET', '/v1/things/5', 404, { ...notFound, status: 400 }],
    /says status 400/,
  ],
  [
    'an error body with another member than code, message and status',
    ['GET', '/v1/things/5', 404, { ...notFound, issues: [] }],
    /exactly code/,
  ],
  ['an error body without message', ['GET', '/nothing', 404, { code: 'NOT_FOUND', status: 404 }], /message/],
  [
    'a stack in an error message',
    ['GET', '/v1/nothing', 404, { ...notFound, message: 'at f (file.ts:1:2)' }],
    /stack/,
  ],
  [
    'a file path in an error message',
    ['GET', '/v1/nothing', 404, { ...notFound, message: "open '/tmp/x/data'" }],
    /path/,
  ],
  ['a stack in a tRPC error', ['GET', '/trpc/a', 500, { error: { data: { stack: '' } } }], /stack/],
  ['a stack in a tRPC batch', ['GET', '/trpc/a,b', 207, [{ error: { data: { stack: '' } } }]], /stack/],
  ['a 401 without WWW-Authenticate', ['GET', '/trpc/a', 401, {}], /401 without www-authenticate/],
  ['a 405 without Allow', ['PUT', '/x', 405, { ...notFound, status: 405 }], /405 without allow/],
  [
    'a 204 with Content-Length',
    ['OPTIONS', '/v1/things/5', 204, '', { 'content-length': '0' }],
    /Content-Length/,
  ],
])('responseProblems finds %s', (_what, response, problem) => {
  expect(problemsOf(...response)).toMatch(problem);
});
