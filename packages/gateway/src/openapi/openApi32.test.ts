import { expect, it } from 'vitest';
import { toOpenApi32 } from './openApi32.ts';

const responses = { 200: { description: 'OK', content: { 'application/json': { schema: {} } } } };

it('toOpenApi32 changes only the version of a document without events and QUERY', () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'a' },
    paths: { '/a': { summary: 'a', get: { responses } } },
  };
  expect(toOpenApi32(document)).toEqual({ ...document, openapi: '3.2.0' });
});

it('toOpenApi32 moves x-query to query', () => {
  const document = { openapi: '3.1.0', paths: { '/a': { get: { responses }, 'x-query': { responses } } } };
  expect(toOpenApi32(document)).toEqual({
    openapi: '3.2.0',
    paths: { '/a': { get: { responses }, query: { responses } } },
  });
});

it('toOpenApi32 gives events the schema of their data, and the error event the schemas of all errors', () => {
  const events = { 'text/event-stream': { schema: { $ref: '#/components/schemas/Tick' } } };
  const problem = (schema: object) => ({ content: { 'application/problem+json': { schema } } });
  const operation = {
    responses: {
      200: { description: 'Events.', content: events },
      409: problem({ const: 'A' }),
      500: problem({ const: 'B' }),
      503: problem({ const: 'B' }),
    },
  };
  const { paths } = toOpenApi32({ openapi: '3.1.0', paths: { '/a': { get: operation } } });
  const data = (contentMediaType: string, contentSchema: object) => ({
    type: 'string',
    contentMediaType,
    contentSchema,
  });
  expect(paths).toMatchObject({
    '/a': {
      get: {
        responses: {
          200: {
            description: 'Events.',
            content: {
              'text/event-stream': {
                itemSchema: {
                  anyOf: [
                    { properties: { data: data('application/json', { $ref: '#/components/schemas/Tick' }) } },
                    { properties: { event: { const: 'end' } } },
                    {
                      properties: {
                        data: data('application/problem+json', { anyOf: [{ const: 'A' }, { const: 'B' }] }),
                      },
                    },
                  ],
                },
              },
            },
          },
          409: operation.responses[409],
        },
      },
    },
  });
});
