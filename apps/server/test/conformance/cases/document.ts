import generated from '@petstore/types/openapi.json' with { type: 'json' };
import { expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/**
 * Declares the case of the OpenAPI document. The client checks every response of every case against it, `npm run
 * contract` compares it with the released one, and Redocly checks its syntax.
 */
export function documentCases(subject: Subject): void {
  it('GET /openapi.json needs no credential, and is the document of @petstore/types', async () => {
    const received = await subject.client.get('/openapi.json', { authorization: null });
    expect(received.header('content-type')).toMatch(/^application\/json(;|$)/);
    expect(JSON.parse(received.body.toString())).toEqual(generated);
  });
}
