import { describe, expect, test } from 'vitest';
import type { ComparedDocument } from './document.ts';
import { documentChanges } from './documentChanges.ts';

/** A document with every compared feature, as text. Each case edits a copy. */
const base = JSON.stringify({
  openapi: '3.1.0',
  servers: [{ url: '/v1' }],
  paths: {
    '/things': {
      get: {
        operationId: 'listThings',
        security: [{ bearer: [] }],
        parameters: [
          { in: 'query', name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
          { in: 'query', name: 'kind', schema: { $ref: '#/components/schemas/Kind' } },
        ],
        responses: {
          200: {
            description: 'Things.',
            headers: {
              Link: { schema: { type: 'string' } },
              'X-Request-Id': { required: true, schema: { type: 'string' } },
            },
            content: {
              'application/json': {
                schema: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
              },
            },
          },
          401: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        },
      },
      post: {
        operationId: 'createThing',
        security: [{ bearer: [] }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/NewThing' } } },
        },
        responses: {
          201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
        },
      },
    },
    '/things/{id}': {
      parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'integer' } }],
      get: { operationId: 'getThing', security: [], responses: { 200: { description: 'It.' } } },
    },
  },
  components: {
    schemas: {
      Kind: { type: 'string', enum: ['a', 'b'] },
      NewThing: {
        type: 'object',
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 10, pattern: '^[a-z]' },
          note: { type: ['string', 'null'] },
          tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
          either: { oneOf: [{ type: 'string' }, { type: 'boolean' }] },
          kind: { $ref: '#/components/schemas/Kind' },
        },
        required: ['name'],
      },
      Thing: {
        type: 'object',
        properties: {
          id: { type: 'integer', format: 'int64' },
          name: { type: 'string' },
          size: { type: 'number' },
          kind: { $ref: '#/components/schemas/Kind' },
          either: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
        },
        required: ['id', 'name'],
        additionalProperties: false,
      },
      Error: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
    },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'header', name: 'k' },
    },
  },
});

// oxlint-disable-next-line typescript/no-explicit-any -- tests edit arbitrary parts of a document
type Draft = any;
const copy = (): Draft => JSON.parse(base);
const list = (draft: Draft) => draft.paths['/things'].get;
const create = (draft: Draft) => draft.paths['/things'].post;
const schema = (draft: Draft, name: string) => draft.components.schemas[name];
const field = (draft: Draft, name: string, property: string) => schema(draft, name).properties[property];

type Case = readonly [what: string, edit: (draft: Draft) => void, ...sentences: string[]];

const breaking: readonly Case[] = [
  ['a removed path', (d) => delete d.paths['/things/{id}'], 'The path /things/{id} is gone'],
  ['a removed operation', (d) => delete d.paths['/things'].post, 'POST /things: the operation is gone'],
  [
    'a changed operationId',
    (d) => (list(d).operationId = 'all'),
    'GET /things: operationId is all, was listThings',
  ],
  ['a removed status', (d) => delete list(d).responses[401], 'GET /things: the status 401 is gone'],
  [
    'a new success status',
    (d) => (list(d).responses[206] = { description: 'Some.' }),
    'GET /things: the status 206 is new',
  ],
  [
    'a new required parameter',
    (d) => list(d).parameters.push({ in: 'query', name: 'q', required: true }),
    'GET /things: the query parameter `q` is new and required',
  ],
  [
    'a parameter that becomes required',
    (d) => (list(d).parameters[0].required = true),
    'GET /things: the query parameter `limit` is required',
  ],
  ['a removed parameter', (d) => list(d).parameters.pop(), 'GET /things: the query parameter `kind` is gone'],
  [
    'a parameter that moves to a header',
    (d) => (list(d).parameters[0].in = 'header'),
    'GET /things: the query parameter `limit` is gone',
  ],
  [
    'a changed type of a parameter of a path',
    (d) => (d.paths['/things/{id}'].parameters[0].schema.type = 'string'),
    'GET /things/{id}: the path parameter `id`: it is string, was integer',
  ],
  [
    'an operation that overrides a parameter of its path with another type',
    (d) =>
      (d.paths['/things/{id}'].get.parameters = [
        { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
      ]),
    'GET /things/{id}: the path parameter `id`: it is string, was integer',
  ],
  [
    'a changed style of a parameter',
    (d) => (list(d).parameters[0].explode = false),
    'GET /things: the query parameter `limit`: explode is false, was undefined',
  ],
  [
    'a lower maximum of a parameter',
    (d) => (list(d).parameters[0].schema.maximum = 50),
    'GET /things: the query parameter `limit`: maximum is 50, was 100',
  ],
  [
    'a higher minimum of a parameter',
    (d) => (list(d).parameters[0].schema.minimum = 2),
    'GET /things: the query parameter `limit`: minimum is 2, was 1',
  ],
  [
    'a changed default of a parameter',
    (d) => (list(d).parameters[0].schema.default = 50),
    'GET /things: the query parameter `limit`: default is 50, was 20',
  ],
  [
    'a field of a request that becomes required',
    (d) => schema(d, 'NewThing').required.push('note'),
    'NewThing, in requests: the field `note` is required',
  ],
  [
    'a new required field of a request',
    (d) => {
      schema(d, 'NewThing').properties.color = { type: 'string' };
      schema(d, 'NewThing').required.push('color');
    },
    'NewThing, in requests: the field `color` is new and required',
  ],
  [
    'a removed field of a request',
    (d) => delete schema(d, 'NewThing').properties.note,
    'NewThing, in requests: the field `note` is gone',
  ],
  [
    'a field of a request that may no longer be null',
    (d) => (field(d, 'NewThing', 'note').type = 'string'),
    'NewThing, in requests: `note`: it is string, was string or null',
  ],
  [
    'a request that rejects additional properties',
    (d) => (schema(d, 'NewThing').additionalProperties = false),
    'NewThing, in requests: additional fields are rejected',
  ],
  [
    'a request that restricts additional properties to strings',
    (d) => (schema(d, 'NewThing').additionalProperties = { type: 'string' }),
    'NewThing, in requests: the schema of additional fields changed',
  ],
  [
    'a stricter pattern',
    (d) => (field(d, 'NewThing', 'name').pattern = '^[a-f]'),
    'NewThing, in requests: `name`: pattern is "^[a-f]", was "^[a-z]"',
  ],
  [
    'a lower maxLength',
    (d) => (field(d, 'NewThing', 'name').maxLength = 5),
    'NewThing, in requests: `name`: maxLength is 5, was 10',
  ],
  [
    'a new bound',
    (d) => (field(d, 'NewThing', 'tags').minItems = 1),
    'NewThing, in requests: `tags`: minItems is 1, was not set',
  ],
  [
    'items that must be unique',
    (d) => (field(d, 'NewThing', 'tags').uniqueItems = true),
    'NewThing, in requests: `tags`: items must be unique',
  ],
  [
    'a changed type of the items of a request',
    (d) => (field(d, 'NewThing', 'tags').items.type = 'integer'),
    'NewThing, in requests: `tags`: each item: it is integer, was string',
  ],
  [
    'a removed alternative of a request',
    (d) => field(d, 'NewThing', 'either').oneOf.pop(),
    'NewThing, in requests: `either`: oneOf has 1 fewer',
  ],
  [
    'a removed enum value of a request',
    (d) => schema(d, 'Kind').enum.pop(),
    'Kind, in requests: the value "b" is gone',
  ],
  [
    'a new enum value of a response',
    (d) => schema(d, 'Kind').enum.push('c'),
    'Kind, in responses: the value "c" is new',
  ],
  [
    'a string of a request that becomes an enum',
    (d) => (field(d, 'NewThing', 'name').enum = ['x']),
    'NewThing, in requests: `name`: it is restricted to "x"',
  ],
  [
    'a removed required field of a response',
    (d) => delete schema(d, 'Thing').properties.name,
    'Thing, in responses: the field `name` is gone',
  ],
  [
    'a removed optional field of a response',
    (d) => delete schema(d, 'Thing').properties.size,
    'Thing, in responses: the field `size` is gone',
  ],
  [
    'a field of a response that becomes optional',
    (d) => schema(d, 'Thing').required.pop(),
    'Thing, in responses: the field `name` is optional',
  ],
  [
    'a field of a response that becomes nullable',
    (d) => (field(d, 'Thing', 'name').type = ['string', 'null']),
    'Thing, in responses: `name`: it is string or null, was string',
  ],
  [
    'a changed type of a field of a response',
    (d) => (field(d, 'Thing', 'id').type = 'string'),
    'Thing, in responses: `id`: it is string, was integer',
  ],
  [
    'an integer of a response that becomes a number',
    (d) => (field(d, 'Thing', 'id').type = 'number'),
    'Thing, in responses: `id`: it is number, was integer',
  ],
  [
    'a removed anyOf of a field of a response',
    (d) => delete field(d, 'Thing', 'either').anyOf,
    'Thing, in responses: `either`: anyOf has 2 fewer',
  ],
  [
    'a changed format of a field of a response',
    (d) => (field(d, 'Thing', 'id').format = 'int32'),
    'Thing, in responses: `id`: format is "int32", was "int64"',
  ],
  [
    'an unknown keyword',
    (d) => (schema(d, 'Thing').patternProperties = { '^x': true }),
    'Thing, in responses: patternProperties changed',
  ],
  [
    'a removed media type of a request',
    (d) => (create(d).requestBody.content = { 'application/xml': {} }),
    'POST /things: the body no longer supports application/json',
  ],
  [
    'a new required body',
    (d) => (list(d).requestBody = { required: true, content: {} }),
    'GET /things: the body is new and required',
  ],
  [
    'a removed header of a response',
    (d) => delete list(d).responses[200].headers.Link,
    'GET /things: the response 200: the header link is gone',
  ],
  [
    'a header of a response that becomes optional',
    (d) => delete list(d).responses[200].headers['X-Request-Id'].required,
    'GET /things: the response 200: the header x-request-id is optional',
  ],
  [
    'an operation that requires a credential',
    (d) => (d.paths['/things/{id}'].get.security = [{ bearer: [] }]),
    'GET /things/{id}: calls without a credential are no longer accepted',
  ],
  [
    'a changed credential',
    (d) => (list(d).security = [{ key: [] }]),
    'GET /things: calls with bearer are no longer accepted',
  ],
  [
    'a new required scope',
    (d) => (list(d).security = [{ bearer: ['read'] }]),
    'GET /things: calls with bearer are no longer accepted',
  ],
  [
    'a changed security scheme',
    (d) => (d.components.securitySchemes.bearer.scheme = 'basic'),
    'The security scheme bearer changed',
  ],
  ['a changed server', (d) => (d.servers[0].url = '/v2'), 'The server /v1 is gone'],
  [
    'a renamed schema',
    (d) => {
      const response = JSON.parse(JSON.stringify(list(d).responses[401]).replace('Error', 'Problem'));
      list(d).responses[401] = response;
      d.components.schemas.Problem = schema(d, 'Error');
      delete d.components.schemas.Error;
    },
    'The schema Error is gone',
  ],
];

const harmless: readonly Case[] = [
  ['a new path', (d) => (d.paths['/more'] = {}), 'The path /more is new'],
  [
    'a new operation',
    (d) => (d.paths['/things'].delete = { responses: {} }),
    'DELETE /things: the operation is new',
  ],
  [
    'a new optional parameter',
    (d) => list(d).parameters.push({ in: 'query', name: 'q' }),
    'GET /things: the query parameter `q` is new and optional',
  ],
  [
    'a parameter that becomes optional',
    (d) => (d.paths['/things/{id}'].parameters[0].required = false),
    'GET /things/{id}: the path parameter `id` is optional',
  ],
  [
    'a higher maximum of a parameter',
    (d) => (list(d).parameters[0].schema.maximum = 200),
    'GET /things: the query parameter `limit`: maximum is 200, was 100',
  ],
  [
    'a removed bound of a request',
    (d) => delete field(d, 'NewThing', 'name').maxLength,
    'NewThing, in requests: `name`: maxLength is not set, was 10',
  ],
  [
    'a removed pattern of a request',
    (d) => delete field(d, 'NewThing', 'name').pattern,
    'NewThing, in requests: `name`: pattern is not set, was "^[a-z]"',
  ],
  [
    'a new optional field of a request',
    (d) => (schema(d, 'NewThing').properties.color = { type: 'string' }),
    'NewThing, in requests: the field `color` is new and optional',
  ],
  [
    'a field of a request that becomes optional',
    (d) => (schema(d, 'NewThing').required = []),
    'NewThing, in requests: the field `name` is optional',
  ],
  [
    'a new type of a field of a request',
    (d) => (field(d, 'NewThing', 'name').type = ['string', 'null']),
    'NewThing, in requests: `name`: it is string or null, was string',
  ],
  [
    'a new alternative of a request',
    (d) => field(d, 'NewThing', 'either').oneOf.push({ type: 'null' }),
    'NewThing, in requests: `either`: oneOf has 1 more',
  ],
  [
    'a removed oneOf of a field of a request',
    (d) => delete field(d, 'NewThing', 'either').oneOf,
    'NewThing, in requests: `either`: oneOf has 2 fewer',
  ],
  [
    'a new field of a response',
    (d) => (schema(d, 'Thing').properties.color = { type: 'string' }),
    'Thing, in responses: the field `color` is new and optional',
  ],
  [
    'a field of a response that becomes required',
    (d) => schema(d, 'Thing').required.push('size'),
    'Thing, in responses: the field `size` is required',
  ],
  [
    'a number of a response that becomes an integer',
    (d) => (field(d, 'Thing', 'size').type = 'integer'),
    'Thing, in responses: `size`: it is integer, was number',
  ],
  [
    'a new error status',
    (d) => (list(d).responses[503] = { description: 'Away.' }),
    'GET /things: the status 503 is new',
  ],
  [
    'a new header of a response',
    (d) => (list(d).responses[200].headers.Age = {}),
    'GET /things: the response 200: the header age is new',
  ],
  [
    'a new media type',
    (d) => (create(d).requestBody.content['application/xml'] = {}),
    'POST /things: the body now supports application/xml',
  ],
  [
    'a body that becomes optional',
    (d) => (create(d).requestBody.required = false),
    'POST /things: the body is optional',
  ],
  [
    'a new optional body',
    (d) => (list(d).requestBody = { content: {} }),
    'GET /things: the body is new and optional',
  ],
  ['a deprecation', (d) => (list(d).deprecated = true), 'GET /things: it is deprecated'],
  [
    'a new alternative credential',
    (d) => list(d).security.push({ key: [] }),
    'GET /things: calls with key are accepted',
  ],
  [
    'an operation that no longer requires a credential',
    (d) => (list(d).security = []),
    'GET /things: calls with bearer are no longer accepted',
    'GET /things: calls without a credential are accepted',
  ],
  ['a new server', (d) => d.servers.push({ url: '/eu/v1' }), 'The server /eu/v1 is new'],
  ['a new schema', (d) => (d.components.schemas.More = {}), 'The schema More is new'],
];

const changes = (edit: (draft: Draft) => void) => {
  const after = copy();
  edit(after);
  return documentChanges(copy() as ComparedDocument, after as ComparedDocument);
};

describe('documentChanges', () => {
  test('documentChanges returns nothing for equal documents', () => {
    expect(documentChanges(copy(), copy())).toEqual([]);
  });

  test('documentChanges ignores titles, descriptions, examples, tags and extensions', () => {
    const sentences = changes((d) => {
      list(d).summary = 'Other words';
      list(d).responses[200].description = 'Other words.';
      list(d).tags = ['other'];
      list(d)['x-sunset'] = '2030-12-05';
      Object.assign(schema(d, 'Thing'), { description: 'Other words.', examples: [{}] });
      d.components.securitySchemes.bearer.description = 'Other words.';
    });
    expect(sentences).toEqual([]);
  });

  test('documentChanges ignores the case of header parameters', () => {
    const withHeader = (name: string): ComparedDocument => {
      const draft = copy();
      list(draft).parameters.push({ in: 'header', name, schema: { type: 'string' } });
      return draft as ComparedDocument;
    };
    expect(documentChanges(withHeader('If-Match'), withHeader('if-match'))).toEqual([]);
  });

  test.for(breaking)('documentChanges reports as breaking: %s', ([, edit, ...sentences]) => {
    const reported = changes(edit)
      .filter(({ isBreaking }) => isBreaking)
      .map(({ sentence }) => sentence);
    expect(reported).toEqual(sentences);
  });

  test.for(harmless)('documentChanges reports as harmless: %s', ([, edit, ...sentences]) => {
    expect(changes(edit)).toEqual(sentences.map((sentence) => ({ isBreaking: false, sentence })));
  });

  test('documentChanges reports a removed enum value as breaking for requests only', () => {
    expect(changes((d) => schema(d, 'Kind').enum.pop())).toEqual([
      { isBreaking: true, sentence: 'Kind, in requests: the value "b" is gone' },
      { isBreaking: false, sentence: 'Kind, in responses: the value "b" is gone' },
    ]);
  });

  test('documentChanges throws for a reference without a target', () => {
    expect(() => changes((d) => delete d.components.schemas.Kind)).toThrow(
      'The reference #/components/schemas/Kind has no target.',
    );
  });
});
