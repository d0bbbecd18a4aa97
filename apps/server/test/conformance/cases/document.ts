import { operations } from 'trpc-gateway-test';
import generated from '@petstore/types/openapi.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/** The members of each schema, those that a client may omit with a question mark. */
const SCHEMAS = {
  Animal: ['categoryId', 'id', 'name', 'status?'],
  Error: ['code', 'message', 'status'],
  NewPet: ['categoryId', 'name', 'status?'],
};

/**
 * Declares the cases about the OpenAPI document. The client checks every response of every case against it, `npm run
 * contract` compares it with the released one, and Redocly checks its syntax.
 */
export function documentCases(subject: Subject): void {
  describe('the OpenAPI document', () => {
    it('GET /openapi.json needs no credential, and is the document of @petstore/types', async () => {
      const received = await subject.client.get('/openapi.json', { authorization: null });
      expect(received.header('content-type')).toMatch(/^application\/json(;|$)/);
      expect(JSON.parse(received.body.toString())).toEqual(generated);
    });

    it('the document has the operations and the schemas of docs/interface.md#endpoints, and only getPet is deprecated', () => {
      const { document } = subject.client;
      expect(document.info.version).toBe('1.0.0');
      const endpoints = operations(document).map(
        ({ method, path, operation: { deprecated, operationId } }) =>
          `${method} ${path} ${operationId}${deprecated ? ', deprecated' : ''}`,
      );
      expect(endpoints.toSorted()).toEqual([
        'GET /pets listPets',
        'GET /pets/{petId} getPet, deprecated',
        'POST /pets createPet',
      ]);
      const schemas = Object.keys(SCHEMAS).map((name) => {
        const { properties = {}, required = [] } = document.components.schemas[name] ?? {};
        const members = Object.keys(properties).map((each) => (required.includes(each) ? each : `${each}?`));
        return [name, members.toSorted()];
      });
      expect(Object.fromEntries(schemas)).toEqual(SCHEMAS);
    });

    // 422: the Idempotency-Key was used with another input. 503: the store is unavailable, or the server is at its limit of
    // concurrent calls. 504: the call timed out, or the outcome of a write that was sent is unknown.
    it.each([
      ['listPets', ['200', '400', '401', '500', '503', '504']],
      ['createPet', ['201', '400', '401', '413', '415', '422', '429', '500', '503', '504']],
      ['getPet', ['200', '400', '401', '404', '500', '503', '504']],
    ])('%s documents exactly the statuses that can occur', (id, statuses) => {
      const described = operations(subject.client.document).find(
        ({ operation }) => operation.operationId === id,
      );
      expect(Object.keys(described?.operation.responses ?? {}).toSorted()).toEqual(statuses);
    });
  });
}
