import { describe, expect, it } from 'vitest';
import { responseProblems } from './responseProblems.ts';
import type { OpenApiDocument } from './openApi.ts';

const integer = { type: 'integer' };
const text = { type: 'string' };
const errorSchema = {
  type: 'object',
  properties: { code: text, message: text, status: integer },
  required: ['code', 'message', 'status'],
};
const json = (schema: object) => ({ 'application/json': { schema } });
const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'getThing',
        responses: {
          200: { headers: { ETag: { required: true, schema: text } }, content: json(integer) },
          404: { $ref: '#/components/responses/NotFound' },
        },
      },
    },
  },
  components: {
    schemas: { Error: errorSchema },
    responses: { NotFound: { content: json({ $ref: '#/components/schemas/Error' }) } },
  },
};

const right = {
  'content-type': 'application/json',
  'x-request-id': 'r1',
  etag: '"1"',
};
const notFound = { code: 'NOT_FOUND', message: 'No such thing.', status: 404 };

function faults(method: string, target: string, status: number, body: unknown, headers: object = {}): string {
  const all = new Map<string, string | undefined>(Object.entries({ ...right, ...headers }));
  return responseProblems(document)(method, target, {
    status,
    header: (name) => all.get(name.toLowerCase()),
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }).join(' ');
}

describe('responseProblems', () => {
  it('finds none in what is documented', () => {
    expect(faults('GET', '/v1/things/5', 200, 5)).toBe('');
    expect(faults('HEAD', '/v1/things/5', 200, '')).toBe('');
    expect(faults('GET', '/v1/things/%35?a=b', 404, notFound)).toBe('');
    expect(faults('GET', '/v1/nothing', 404, notFound)).toBe('');
    expect(faults('OPTIONS', '/v1/things/5', 204, '')).toBe('');
    expect(faults('GET', '/trpc/a', 500, { error: { data: {} } })).toBe('');
  });

  it.each<readonly [string, Parameters<typeof faults>, RegExp]>([
    ['no request id', ['GET', '/v1/things/5', 200, 5, { 'x-request-id': undefined }], /X-Request-Id/],
    ['a body that is not JSON', ['GET', '/v1/things/5', 200, '{'], /not JSON/],
    [
      'a body that is not UTF-8 JSON',
      ['GET', '/x', 404, 'Not found', { 'content-type': 'text/plain' }],
      /text\/plain/,
    ],
    ['a body against its schema', ['GET', '/v1/things/5', 200, 'true'], /not as documented/],
    ['an undocumented status', ['GET', '/v1/things/5', 400, { ...notFound, status: 400 }], /does not say/],
    ['an undocumented header', ['GET', '/v1/things/5', 200, 5, { sunset: 'x' }], /sunset is not documented/],
    [
      'a documented header that is missing',
      ['GET', '/v1/things/5', 200, 5, { etag: undefined }],
      /ETag is missing/,
    ],
    ['an undocumented operation', ['POST', '/v1/things/5', 200, 5], /No documented operation/],
    ['a success of an unknown path', ['GET', '/v1/nothing', 200, 5], /No documented operation/],
    [
      'another status in the body',
      ['GET', '/v1/things/5', 404, { ...notFound, status: 400 }],
      /says status 400/,
    ],
    [
      'more than the three members',
      ['GET', '/v1/things/5', 404, { ...notFound, issues: [] }],
      /exactly code/,
    ],
    ['fewer members', ['GET', '/nothing', 404, { code: 'NOT_FOUND', status: 404 }], /message/],
    ['a stack', ['GET', '/v1/nothing', 404, { ...notFound, message: 'at f (file.ts:1:2)' }], /stack/],
    ['a path', ['GET', '/v1/nothing', 404, { ...notFound, message: "open '/tmp/x/data'" }], /path/],
    ['a stack over tRPC', ['GET', '/trpc/a', 500, { error: { data: { stack: '' } } }], /stack/],
    ['a stack in a tRPC batch', ['GET', '/trpc/a,b', 207, [{ error: { data: { stack: '' } } }]], /stack/],
    ['401 without a challenge', ['GET', '/trpc/a', 401, {}], /401 without www-authenticate/],
    ['405 without Allow', ['PUT', '/x', 405, { ...notFound, status: 405 }], /405 without allow/],
    ['204 with a length', ['OPTIONS', '/v1/things/5', 204, '', { 'content-length': '0' }], /Content-Length/],
  ])('finds %s', (_what, response, fault) => {
    expect(faults(...response)).toMatch(fault);
  });
});
