import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShape, post, type Shape, startShape } from '../startShape.ts';
import { exportRouter, statuses, travelling, undescribed } from './outputs.ts';

interface Documented {
  readonly description: string;
  readonly headers: object;
  readonly content?: Record<string, { schema?: object; itemSchema?: object }>;
}

const responsesOf = ({ document }: Pick<Shape, 'document'>, path: string, method = 'get') =>
  document.paths[path]?.[method]?.responses as unknown as Record<string, Documented>;

it('a procedure without .output() is served, and its description in the document says so (trpc-openapi #337)', async () => {
  const { expectRest, rest, trpc, ...shape } = await startShape(undescribed);
  const expected = [{ name: 'Rex', born: '1970-01-01T00:00:00.000Z' }];
  await expectRest([
    ['/pets', {}, 200, expected],
    ['/bigint', {}, 500],
  ]);
  expect(await trpc.pets.query()).toEqual(expected);
  expect((await rest('/touch', { method: 'POST' })).status).toBe(204);
  const responses = responsesOf(shape, '/pets');
  expect(responses['200']).toMatchObject({
    description: 'OK. JSON of the value that the procedure returns. No output schema describes it.',
    content: { 'application/json': { schema: {} } },
  });
  expect(responses['200']?.content?.['application/json']?.schema).toEqual({});
  expect(responses['204']).not.toHaveProperty('content');
});

it('a procedure selects one of its success statuses, and an absent output is a 204', async () => {
  const { expectRest, rest, trpc, ...shape } = await startShape(statuses);
  const pet = { id: 1, name: 'Rex' };
  await expectRest([
    ['/adoptions', post({ how: 'now' }), 200, pet],
    ['/adoptions', post({ how: 'later' }), 202, pet],
    ['/adoptions', post({ how: 'unlisted' }), 500],
  ]);
  expect((await rest('/adoptions', post({ how: 'never' }))).status).toBe(204);
  expect(await trpc.adopt.mutate({ how: 'now' })).toEqual(pet);
  const responses = responsesOf(shape, '/adoptions', 'post');
  for (const status of [200, 202]) {
    expect(responses[status]?.content?.['application/json']?.schema).toMatchObject({
      required: ['id', 'name'],
    });
  }
  expect(responses['204']).not.toHaveProperty('content');
});

describe('a procedure that produces several media types', () => {
  let shape: Shape;
  beforeAll(async () => {
    shape = await openShape(exportRouter);
  });
  afterAll(() => shape.close());

  const json = '[{"id":1,"name":"Rex"}]';
  const lines = 'id,name\n1,Rex\n';
  it.each<[accept: string | undefined, contentType: string, body: string]>([
    [undefined, 'application/json', json],
    ['', 'application/json', json],
    ['text/csv', 'text/csv; charset=utf-8', lines],
    ['text/*;q=0.5, application/json;q=0.1', 'text/csv; charset=utf-8', lines],
    ['application/json;q=0.2, text/csv;q=0.8', 'text/csv; charset=utf-8', lines],
    ['application/*, application/json;q=0', 'application/vnd.pets+json', json],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json', json],
    ['application/octet-stream', 'application/octet-stream', `${lines}end`],
    ['image/png, text/csv;q=0.001', 'text/csv; charset=utf-8', lines],
  ])('GET /pets with Accept %j is answered as %s (ts-rest #758)', async (accept, contentType, body) => {
    const response = await shape.rest('/pets', { headers: accept === undefined ? {} : { accept } });
    const { headers, status } = response;
    expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([200, contentType, 'Accept']);
    expect(await response.text()).toBe(body);
  });

  it('a Blob that a function of produces returns is sent with the negotiated media type, not its own', async () => {
    const html = await shape.rest('/blob', { headers: { accept: 'text/html' } });
    expect([html.headers.get('content-type'), await html.text()]).toEqual(['text/html', '<p>Rex</p>']);
    const bytes = await shape.rest('/blob', { headers: { accept: 'application/octet-stream' } });
    expect([bytes.headers.get('content-type'), await bytes.text()]).toEqual([
      'application/octet-stream',
      'Rex',
    ]);
  });

  it.each([
    'image/png',
    'text/csv;q=0, application/json;q=0.0, application/xml',
    'nonsense',
    ';q=1, /, */',
    'text/csv;q=x',
  ])('GET /pets with Accept %j is answered with 406 before the procedure runs', async (accept) => {
    const response = await shape.rest('/pets?none=true', { headers: { accept } });
    expect([response.status, response.headers.get('vary')]).toEqual([406, 'Accept']);
    expect(await response.json()).toEqual({
      code: 'NOT_ACCEPTABLE',
      status: 406,
      message:
        'Accept must allow one of application/json, text/csv; charset=utf-8, application/vnd.pets+json, application/octet-stream.',
    });
    expect(shape.records.at(-1)).toMatchObject({ status: 406, error: undefined });
  });

  it('an Accept of 1024 characters is read, and a longer one is ignored', async () => {
    const typeOf = async (length: number) => {
      const accept = 'text/csv, x/'.padEnd(length, 'y');
      return (await shape.rest('/pets', { headers: { accept } })).headers.get('content-type');
    };
    expect([await typeOf(1024), await typeOf(1025)]).toEqual(['text/csv; charset=utf-8', 'application/json']);
  });
});

it('an error of a procedure with several media types is JSON with Vary: Accept, and an absent output is a 204', async () => {
  const { rest, trpc, ...shape } = await startShape(exportRouter);
  const errorResponse = await rest('/pets?none=true', { headers: { accept: 'text/csv' } });
  expect([
    errorResponse.status,
    errorResponse.headers.get('content-type'),
    errorResponse.headers.get('vary'),
  ]).toEqual([500, 'application/json', 'Accept']);
  expect((await rest('/pets', { method: 'DELETE' })).status).toBe(204);
  expect((await rest('/broken')).status).toBe(500);
  expect(await trpc.pets.query({})).toEqual([{ id: 1, name: 'Rex' }]);
  const responses = responsesOf(shape, '/pets');
  const pets = { type: 'array', items: { type: 'object', required: ['id', 'name'] } };
  expect(responses['200']).toMatchObject({
    headers: { Vary: { required: true } },
    content: {
      'application/json': { schema: pets },
      'text/csv; charset=utf-8': { schema: { type: 'string' } },
      'application/vnd.pets+json': { schema: pets },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
    },
  });
  expect(responses['406']?.description).toMatch(/^Accept allows none of application\/json, text\/csv/);
});

it('the document describes dates, codecs and piped transforms as their JSON, in inputs and outputs (asteasolutions/zod-to-openapi #347)', async () => {
  const { document, restJson } = await startShape(travelling);
  const at = '2026-01-02T03:04:05.000Z';

  expect(await restJson('/visits', post({ at, until: at, price: '3.20', name: 'Rex' }))).toEqual([
    200,
    { at, until: at, price: 1250, name: 3, kind: 'Date number number' },
  ]);
  expect((await restJson('/visits', post({ at, until: 'soon', price: '3.20', name: 'Rex' })))[0]).toBe(400);
  const operation = document.paths['/visits']?.['post'];
  const dateTime = expect.objectContaining({ type: 'string', format: 'date-time' });
  expect(operation?.requestBody?.content['application/json']?.schema?.properties).toEqual({
    at: dateTime,
    until: dateTime,
    price: { type: 'string', pattern: String.raw`^\d+\.\d\d$` },
    name: { type: 'string' },
  });
  expect(operation?.responses['200']?.content?.['application/json']?.schema?.properties).toMatchObject({
    at: dateTime,
    until: dateTime,
    price: { type: 'integer' },
    name: { type: 'integer', minimum: 0 },
  });
});
