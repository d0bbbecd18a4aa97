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

type Parts = [method: string, target: string, status: number, body: unknown, headers?: object];

function problemsOf(...[method, target, status, body, headers = {}]: Parts): string {
  const all = new Map<string, string | undefined>(Object.entries({ ...validHeaders, ...headers }));
  return responseProblems(document)(method, target, {
    status,
    header: (name) => all.get(name.toLowerCase()),
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }).join(' ');
}

const thing = '/v1/things/5';
const text = { 'content-type': 'text/plain' };

it.each<[problem: RegExp, ...parts: Parts]>([
  [/X-Request-Id/, 'GET', thing, 200, 5, { 'x-request-id': undefined }],
  [/not JSON/, 'GET', thing, 200, '{'],
  [/text\/plain/, 'GET', '/x', 404, 'Not found', text],
  [/The body is not as documented/, 'GET', thing, 200, 'true'],
  [/does not say that getThing answers 400/, 'GET', thing, 400, { ...notFound, status: 400 }],
  [/sunset is not documented/, 'GET', thing, 200, 5, { sunset: 'x' }],
  [/ETag is missing/, 'GET', thing, 200, 5, { etag: undefined }],
  [/No documented operation/, 'POST', thing, 200, 5],
  [/No documented operation/, 'GET', '/v1/nothing', 200, 5],
  [/The body says status 400/, 'GET', thing, 404, { ...notFound, status: 400 }],
  [/exactly code, message and status/, 'GET', thing, 404, { ...notFound, issues: [] }],
  [/must have required property 'message'/, 'GET', '/nothing', 404, { code: 'NOT_FOUND', status: 404 }],
  [/shows a stack/, 'GET', '/v1/nothing', 404, { ...notFound, message: 'at f (file.ts:1:2)' }],
  [/or a path/, 'GET', '/v1/nothing', 404, { ...notFound, message: "open '/tmp/x/data'" }],
  [/has a stack/, 'GET', '/trpc/a', 500, { error: { data: { stack: '' } } }],
  [/has a stack/, 'GET', '/trpc/a,b', 207, [{ error: { data: { stack: '' } } }]],
  [/401 without www-authenticate/, 'GET', '/trpc/a', 401, {}],
  [/405 without allow/, 'PUT', '/x', 405, { ...notFound, status: 405 }],
  [/204 with Content-Length/, 'OPTIONS', thing, 204, '', { 'content-length': '0' }],
])('responseProblems finds %s in a response to %s %s', (problem, ...parts) => {
  expect(problemsOf(...parts)).toMatch(problem);
});
