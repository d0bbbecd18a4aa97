import { isDeepStrictEqual } from 'node:util';
import { type JsonSchema, type Operation, operations, resolve, type Response } from 'trpc-gateway-test';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const SAFE = {
  type: 'integer',
  format: 'int64',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (content: Response['content']) => content?.['application/json']?.schema;

/** Declares the cases about the OpenAPI document. The client checks every response of every case against it. */
export function documentCases(subject: Subject): void {
  const operation = (id: string): Operation => {
    const match = operations(subject.client.document).find((entry) => entry.operation.operationId === id);
    if (!match) throw new Error(`The document has no ${id}.`);
    return match.operation;
  };
  const schema = (name: string): JsonSchema => subject.client.document.components.schemas[name] ?? {};
  const properties = (name: string) => schema(name).properties ?? {};
  const parameter = (id: string, name: string) =>
    operation(id).parameters?.find((entry) => entry.name === name);
  const response = (id: string, status: number): Response =>
    resolve<Response>(subject.client.document, operation(id).responses[status] ?? {});
  const resolved = (value: JsonSchema | undefined) => resolve(subject.client.document, value ?? {});

  describe('the OpenAPI document', () => {
    it('GET /openapi.json needs no credential and returns JSON', async () => {
      const received = await subject.client.get('/openapi.json', { authorization: null });
      expect(received).toHaveStatus(200);
      expect(received.header('content-type')).toMatch(/^application\/json(;|$)/);
    });

    it('the document is OpenAPI 3.1 and has the API version 1.0.0 (docs/interface.md#versioning)', () => {
      expect(subject.client.document.openapi).toMatch(/^3\.1\.\d+$/);
      expect(subject.client.document.info).toMatchObject({
        title: expect.stringMatching(/\w/),
        version: '1.0.0',
      });
    });

    it('the document has one server with a URL that ends in /v1', () => {
      expect(subject.client.document.servers).toHaveLength(1);
      expect(subject.client.document.servers?.[0]?.url).toMatch(/(^|\/)v1$/);
    });

    it('the operations with the tag pets are exactly those of docs/interface.md#endpoints (docs/decisions.md#growth)', () => {
      const all = operations(subject.client.document);
      const endpoints = all
        .filter(({ path, operation: { tags } }) => tags?.includes('pets') || path.startsWith('/pets'))
        .map(
          ({ method, path, operation: { operationId, tags } }) =>
            `${method} ${path} ${operationId} ${tags?.join()}`,
        );
      expect(endpoints.toSorted()).toEqual([
        'GET /pets listPets pets',
        'GET /pets/{petId} getPet pets',
        'POST /pets createPet pets',
      ]);
    });

    it('every operation has one tag', () => {
      for (const { operation: each } of operations(subject.client.document)) {
        expect(each.tags).toEqual([expect.stringMatching(/^[a-z]+$/)]);
      }
    });

    // 422: the Idempotency-Key was used with another input. 503: the store is unavailable, or the server is at its limit of
    // concurrent calls. 504: the call timed out, or the outcome of a write that was sent is unknown.
    it.each([
      ['listPets', ['200', '400', '401', '500', '503', '504']],
      ['createPet', ['201', '400', '401', '413', '415', '422', '429', '500', '503', '504']],
      ['getPet', ['200', '400', '401', '404', '500', '503', '504']],
    ])('%s documents exactly the statuses that can occur', (id, statuses) => {
      expect(Object.keys(operation(id).responses).toSorted()).toEqual(statuses);
    });

    it('every error response has the Error schema, and every response only application/json', () => {
      for (const { operation: each } of operations(subject.client.document)) {
        for (const [status, unresolved] of Object.entries(each.responses)) {
          const { content = {} } = resolve<Response>(subject.client.document, unresolved);
          expect(Object.keys(content)).toEqual(status === '204' ? [] : ['application/json']);
          if (status === '204') continue;
          const contentSchema = content['application/json']?.schema;
          expect(isDeepStrictEqual(contentSchema, ref('Error'))).toBe(Number(status) >= 400);
        }
      }
    });

    it('operations and schemas reference Animal, NewPet, Pets and PetStatus by name', () => {
      expect(json(operation('createPet').requestBody?.content)).toEqual(ref('NewPet'));
      expect(json(response('createPet', 201).content)).toEqual(ref('Animal'));
      expect(json(response('getPet', 200).content)).toEqual(ref('Animal'));
      expect(json(response('listPets', 200).content)).toEqual(ref('Pets'));
      expect(schema('Pets')).toMatchObject({ type: 'array', items: ref('Animal') });
      for (const name of ['Animal', 'NewPet'])
        expect(properties(name)['status']).toMatchObject(ref('PetStatus'));
      expect(parameter('listPets', 'status')?.schema).toMatchObject(ref('PetStatus'));
    });

    it.each([
      ['Animal', ['categoryId', 'id', 'name', 'status'], ['categoryId', 'id', 'name']],
      ['NewPet', ['categoryId', 'name', 'status'], ['categoryId', 'name']],
    ])(
      'the schema %s has the properties %j and requires exactly %j (docs/decisions.md#growth)',
      (name, fields, required) => {
        expect(schema(name).type).toBe('object');
        expect(Object.keys(properties(name))).toEqual(expect.arrayContaining(fields));
        expect(schema(name).required?.toSorted()).toEqual(required);
      },
    );

    it('NewPet has the properties of Animal without id', () => {
      const { id: _id, ...fields } = properties('Animal');
      expect(Object.keys(properties('NewPet')).toSorted()).toEqual(Object.keys(fields).toSorted());
    });

    it('the schema Error has exactly the properties code, message and status, all required', () => {
      const fields = ['code', 'message', 'status'];
      expect(schema('Error').type).toBe('object');
      expect(Object.keys(properties('Error')).toSorted()).toEqual(fields);
      expect(schema('Error').required?.toSorted()).toEqual(fields);
    });

    it('name is a string of at most 1,000 characters in NewPet, and unbounded in Animal', () => {
      for (const name of ['Animal', 'NewPet']) {
        expect(properties(name)['name']).toMatchObject({ type: 'string' });
        expect(properties(name)['name']).not.toHaveProperty('minLength');
      }
      expect(properties('NewPet')['name']).toHaveProperty('maxLength', 1000);
      // Earlier versions stored longer names, which are still served.
      expect(properties('Animal')['name']).not.toHaveProperty('maxLength');
    });

    it('id, categoryId and petId are int64 within ±(2^53−1)', () => {
      expect(properties('Animal')['id']).toMatchObject(SAFE);
      expect(properties('Animal')['categoryId']).toMatchObject(SAFE);
      expect(properties('NewPet')['categoryId']).toMatchObject(SAFE);
      expect(parameter('getPet', 'petId')).toMatchObject({ in: 'path', required: true, schema: SAFE });
    });

    it('PetStatus is an enum of available, pending and sold', () => {
      expect(schema('PetStatus')).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] });
    });

    it('listPets has the query parameters cursor, limit and status, and only optional ones', () => {
      const parameters = operation('listPets').parameters ?? [];
      const names = parameters.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['cursor', 'limit', 'status']));
      for (const each of parameters) {
        expect(each.in).toBe('query');
        expect(each.required ?? false).toBe(false);
      }
    });

    it('listPets documents limit as an integer from 1 to 100 with the default 20', () => {
      const limit = resolved(parameter('listPets', 'limit')?.schema);
      expect(limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    });

    it('listPets documents cursor as an integer', () => {
      expect(resolved(parameter('listPets', 'cursor')?.schema)).toMatchObject({ type: 'integer' });
    });

    it('of the operations of the interface, createPet alone has a request body: required, and only application/json', () => {
      const { requestBody } = operation('createPet');
      expect(requestBody?.required).toBe(true);
      expect(Object.keys(requestBody?.content ?? {})).toEqual(['application/json']);
      for (const id of ['listPets', 'getPet']) expect(operation(id).requestBody).toBeUndefined();
    });

    it('the document has one bearer scheme, and every operation requires it', () => {
      const { components, security } = subject.client.document;
      const schemes = Object.entries(components.securitySchemes ?? {});
      expect(schemes).toHaveLength(1);
      const [[name, scheme] = []] = schemes;
      expect(scheme).toMatchObject({ type: 'http', scheme: 'bearer' });
      for (const { operation: each } of operations(subject.client.document)) {
        expect(each.security ?? security).toEqual([{ [String(name)]: [] }]);
      }
    });

    it.each([
      ['!', true],
      ['a,b;c=d', true],
      ['~'.repeat(255), true],
      [`"${'~'.repeat(255)}"`, true],
      ['"a\\"b\\\\"', true],
      ['', false],
      ['""', false],
      ['a b', false],
      ['"a', false],
      ['a\u00fcb', false],
      ['~'.repeat(256), false],
      [`"${'~'.repeat(256)}"`, false],
    ])('the pattern of Idempotency-Key matches %j: %s', (key, isValid) => {
      const { pattern = '' } = resolved(parameter('createPet', 'Idempotency-Key')?.schema);
      expect(new RegExp(pattern).test(key)).toBe(isValid);
    });

    it('PetStatus, name and categoryId have examples, to copy into a first request', () => {
      const { examples: [status] = [] } = schema('PetStatus');
      expect(status).toBe('available');
      for (const name of ['name', 'categoryId']) expect(properties('NewPet')[name]?.examples).toHaveLength(1);
    });

    it('only getPet is deprecated, and it states its sunset date', () => {
      expect(operation('getPet').deprecated).toBe(true);
      expect(JSON.stringify(operation('getPet'))).toMatch(/2030-12-05|0?5 Dec(ember)? 2030/);
      expect(operation('listPets').deprecated ?? false).toBe(false);
      expect(operation('createPet').deprecated ?? false).toBe(false);
    });

    it.each([
      ['listPets', 200, ['link']],
      ['createPet', 201, ['location']],
      ['getPet', 200, ['deprecation', 'link', 'sunset']],
      ['getPet', 404, ['deprecation', 'link', 'sunset']],
      ['listPets', 401, ['www-authenticate']],
      ['createPet', 401, ['www-authenticate']],
      ['getPet', 401, ['www-authenticate']],
      ['listPets', 503, ['retry-after']],
      ['createPet', 503, ['retry-after']],
      ['getPet', 503, ['retry-after']],
    ] as const)('%s %d documents the headers %j', (id, status, expected) => {
      const names = Object.keys(response(id, status).headers ?? {}).map((name) => name.toLowerCase());
      expect(names).toEqual(expect.arrayContaining([...expected]));
    });

    it('only 200 and 404 of getPet document the headers Deprecation and Sunset', () => {
      for (const { operation: each } of operations(subject.client.document)) {
        for (const [status, unresolved] of Object.entries(each.responses)) {
          if (each.operationId === 'getPet' && ['200', '404'].includes(status)) continue;
          const { headers = {} } = resolve<Response>(subject.client.document, unresolved);
          const names = Object.keys(headers).map((name) => name.toLowerCase());
          expect(names).not.toContain('deprecation');
          expect(names).not.toContain('sunset');
        }
      }
    });

    it('listPets documents Link as optional, because the last page has none', () => {
      const link = Object.entries(response('listPets', 200).headers ?? {}).find(
        ([name]) => name.toLowerCase() === 'link',
      );
      expect(link?.[1].required ?? false).toBe(false);
    });
  });
}
