import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { apiKey, bearer, cookie } from '../index.ts';
import { t } from '../testing/testGateway.ts';
import { documentedOperation, type Options } from '../testing/documentedOperation.ts';
import type { GatewayMeta, RestMeta } from '../procedures/meta.ts';

type Meta = Omit<GatewayMeta, 'openapi'> & { readonly openapi?: Partial<RestMeta> };

const operationOf = (options: Options = {}, meta: Meta = {}) =>
  documentedOperation(
    t.procedure
      .meta({ ...meta, openapi: { method: 'POST', path: '/pets/{id}', ...meta.openapi } })
      .input(z.object({ id: z.string() }))
      .mutation(() => {}),
    options,
  );

const verify = () => ({});
const token = bearer({ verify });
const key = apiKey({ header: 'X-Api-Key', verify });
const session = cookie({ cookie: 'session', verify });
const scoped = bearer({ verify, scopes: () => ['a'] });
const rateLimit = { calls: 5, windowMs: 60_000 };
const failedAttempts = { attempts: 5, windowMs: 60_000 };
const rateExceeded = 'The rate limit was exceeded.';
const crossSite = 'A page of another site sent the request with a credential of its visitor.';
const tooManyAttempts = 'Too many invalid credentials were sent from this address.';

const callTimeout = 'The call timed out. Whether it had an effect is unknown.';
const ownTimeout = 'The call timed out after 50 ms. Whether it had an effect is unknown.';
const keyReused = 'The Idempotency-Key was used with another input.';
const guarded = { failedAttempts, authentication: token };
const isPublic = { openapi: { protect: false } };

describe('the documented errors of an operation', () => {
  it.each<[what: string, status: number, description: string | undefined, options: Options, meta?: Meta]>([
    ['without rateLimit', 429, undefined, {}],
    ['with rateLimit', 429, rateExceeded, { rateLimit }],
    ['with rateLimitCost 3', 429, `${rateExceeded} A call counts as 3.`, { rateLimit }, { rateLimitCost: 3 }],
    ['with rateLimitCost 0', 429, undefined, { rateLimit }, { rateLimitCost: 0 }],
    ['with failedAttempts', 429, tooManyAttempts, guarded],
    ['with both limits', 429, `${rateExceeded} ${tooManyAttempts}`, { ...guarded, rateLimit }],
    ['with failedAttempts and protect: false', 429, undefined, guarded, isPublic],
    ['with authentication', 401, 'The credential is missing or not valid.', { authentication: token }],
    ['with protect: false', 401, undefined, { authentication: token }, isPublic],
    ['with a scheme that browsers send', 403, crossSite, { authentication: session }],
    ['with such a scheme beside another', 403, crossSite, { authentication: [key, session] }],
    ['with no such scheme', 403, undefined, { authentication: [key, token] }],
    ['with maxInFlight', 503, 'The service is at its limit of concurrent calls.', {}],
    ['without maxInFlight', 503, undefined, { maxInFlight: Infinity }],
    ['with callTimeoutMs', 504, callTimeout, {}],
    ['without callTimeoutMs', 504, undefined, { callTimeoutMs: Infinity }],
    ['with callTimeoutMs Infinity', 504, undefined, {}, { callTimeoutMs: Infinity }],
    ['with callTimeoutMs of its own', 504, ownTimeout, { callTimeoutMs: Infinity }, { callTimeoutMs: 50 }],
    ['with idempotencyKey', 422, keyReused, {}, { idempotencyKey: 'handled', openapi: {} }],
    ['with a text in its path', 404, undefined, {}],
    ['with errorResponses', 410, 'Gone', {}, { openapi: { errorResponses: [410] } }],
  ])('an operation %s documents %d as: %s', async (_what, status, description, options, meta) => {
    const { responses } = await operationOf(options, meta);
    expect(responses[status]?.description).toBe(description);
  });

  const securitySchemes = {
    bearer: { type: 'http', scheme: 'bearer' },
    key: { type: 'openIdConnect' },
  } as const;
  const notAllowed =
    'The credential does not allow this call. A page of another site sent the request with a credential of its visitor.';

  it('securitySchemes are documented, with the security, 401 and 403 of an operation, and without challenges', async () => {
    const { security, responses } = await operationOf({
      document: { title: 'Pets', version: '1.0.0', securitySchemes },
    });
    expect(security).toEqual([{ bearer: [] }, { key: [] }]);
    expect(responses['401']).toMatchObject({ description: 'The credential is missing or not valid.' });
    expect(responses['403']).toMatchObject({ description: notAllowed });
    for (const status of ['401', '403']) {
      expect(Object.keys(responses[status]?.headers ?? {})).toEqual(['X-Request-Id']);
    }
  });

  it('an operation with protect: false has no security, 401 and 403 of securitySchemes', async () => {
    const { security, responses } = await operationOf(
      { document: { title: 'Pets', version: '1.0.0', securitySchemes } },
      { openapi: { protect: false } },
    );
    expect(security).toEqual([]);
    expect(Object.keys(responses)).not.toEqual(expect.arrayContaining(['401', '403']));
  });

  it('securitySchemes are not read with authentication', async () => {
    const { security, responses } = await operationOf({
      document: { title: 'Pets', version: '1.0.0', securitySchemes },
      authentication: key,
    });
    expect(security).toEqual([{ apiKey: [] }]);
    expect(responses).not.toHaveProperty('403');
  });
});

describe('the documented headers of an operation', () => {
  it.each<[what: string, status: number, names: readonly string[], options: Options, meta?: Meta]>([
    ['with rateLimit', 204, ['RateLimit', 'RateLimit-Policy'], { rateLimit }],
    ['with rateLimit', 429, ['RateLimit', 'RateLimit-Policy', 'Retry-After'], { rateLimit }],
    ['with failedAttempts', 429, ['Retry-After'], { failedAttempts, authentication: token }],
    ['with maxInFlight', 503, ['Retry-After'], {}],
    ['with a redirect', 301, ['Location'], {}, { openapi: { successStatus: 301 } }],
    ['with a redirect', 308, ['Location'], {}, { openapi: { successStatus: 308 } }],
    ['with scopes', 403, ['WWW-Authenticate'], { authentication: scoped }, { scopes: ['a'] }],
  ])('an operation %s documents the headers of %d: %j', async (_what, status, names, options, meta) => {
    const { responses } = await operationOf(options, meta);
    const headers = Object.keys(responses[status]?.headers ?? {});
    expect(headers.filter((name) => name !== 'X-Request-Id').toSorted()).toEqual(names);
  });

  it('an operation with scopes can be called only by the schemes that have scopes, and names them', async () => {
    const { security } = await operationOf({ authentication: [scoped, key] }, { scopes: ['a', 'b'] });
    expect(security).toEqual([{ bearer: ['a', 'b'] }]);
  });

  it.each([
    ['always, if each scheme has one for missing scopes', scoped, true],
    ['sometimes, if another scheme has none', [scoped, key], undefined],
  ])('a 403 has a challenge %s', async (_when, authentication, required) => {
    const { responses } = await operationOf({ authentication }, { scopes: ['a'] });
    expect(responses['403']?.headers['WWW-Authenticate']?.required).toBe(required);
  });
});
