import { createSign, generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest } from 'trpc-gateway';
import { jwt, type JwtOptions } from 'trpc-gateway/jwt';
import { exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK, type JWTPayload } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { audience, type Signing, startIssuer } from './issuer.ts';

// Comparable: jwk of honojs/hono, fastify-jwt. There is no thread about tRPC.

const request = {} as HttpRequest;

async function start(options: Partial<JwtOptions<JWTPayload>> = {}) {
  const issuer = await startIssuer();
  const scheme = jwt({ issuer: issuer.issuer, audience, jwksUri: issuer.jwksUri, ...options });
  /** The subject of a token, `undefined` if it is rejected, 503 if its key cannot be fetched. */
  const subject = async (token: string) => {
    const credential = scheme.read({ header: () => `Bearer ${token}` }, request);
    if (typeof credential !== 'string') return undefined;
    try {
      const claims = await scheme.verify(credential, request);
      return claims ? claims.sub : undefined;
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 'SERVICE_UNAVAILABLE') return 503;
      throw error;
    }
  };
  return { issuer, scheme, subject };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** Moves the clock, until the test ends. */
function wait(seconds: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
  onTestFinished(() => void vi.useRealTimers());
}

describe('access tokens', () => {
  it('a valid token is verified once, and returns its claims', async () => {
    const { issuer, scheme, subject } = await start();
    const token = await issuer.sign();
    expect(await subject(token)).toBe('ada');
    // Not a promise, because the signature is not checked again.
    expect(scheme.verify(token, request)).toMatchObject({ sub: 'ada' });
    expect(issuer.requests()).toBe(1);
  });

  it.each<[what: string, claims: () => JWTPayload, signing?: Signing]>([
    ['has several audiences, one of them this service', () => ({ aud: ['https://other.example', audience] })],
    ['expired 3 s ago, within the clock tolerance', () => ({ exp: inSeconds(-3) })],
    ['becomes valid in 3 s, within the clock tolerance', () => ({ nbf: inSeconds(3) })],
    ['does not name its key', () => ({}), { header: { kid: undefined } }],
    ['has an unknown header that is not critical', () => ({}), { header: { x: 1 } }],
  ])('a token that %s is accepted', async (_what, claims, signing) => {
    const { issuer, subject } = await start();
    expect(await subject(await issuer.sign(claims(), signing))).toBe('ada');
  });

  it.each<[what: string, claims: () => JWTPayload, signing?: Signing]>([
    ['has expired', () => ({ exp: inSeconds(-10) })],
    ['has no exp', () => ({}), { without: ['exp'] }],
    ['has an exp that is not a number', () => ({ exp: '9999999999' as unknown as number })],
    ['is not valid yet', () => ({ nbf: inSeconds(60) })],
    ['is of another issuer', () => ({ iss: 'https://evil.example' })],
    ['is of an issuer with an additional slash', () => ({ iss: 'http://127.0.0.1/' })],
    ['has no iss', () => ({}), { without: ['iss'] }],
    ['is for another service', () => ({ aud: 'https://other.example' })],
    ['is for a service whose name starts with the audience', () => ({ aud: `${audience}.evil.example` })],
    ['has no aud', () => ({}), { without: ['aud'] }],
    ['has an empty list as aud', () => ({ aud: [] })],
    ['has an unknown critical header', () => ({}), { header: { crit: ['x'], x: true } }],
  ])('a token that %s is rejected', async (_what, claims, signing) => {
    const { issuer, subject } = await start();
    expect(await subject(await issuer.sign(claims(), signing))).toBeUndefined();
  });

  const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
  it.each(algorithms)('a token that is signed by %s is accepted by default', async (alg) => {
    const { issuer, subject } = await start();
    await issuer.publish(alg, alg);
    expect(await subject(await issuer.sign())).toBe('ada');
  });

  it('a token for any audience of the option audience is accepted', async () => {
    const { issuer, subject } = await start({ audience: ['https://first.example', audience] });
    expect(await subject(await issuer.sign())).toBe('ada');
    expect(await subject(await issuer.sign({ aud: 'https://first.example' }))).toBe('ada');
    expect(await subject(await issuer.sign({ aud: 'https://third.example' }))).toBeUndefined();
  });

  it('verify receives the claims and the request, also for a token that was verified before', async () => {
    const verify = vi.fn((claims: JWTPayload, _request: HttpRequest) => claims.sub === 'ada' && claims);
    const { issuer, scheme } = await start({ verify });
    const requests = [{}, {}] as HttpRequest[];
    const token = await issuer.sign();
    for (const each of requests) await scheme.verify(token, each);
    expect(verify.mock.calls.map(([claims]) => claims.sub)).toEqual(['ada', 'ada']);
    for (const [at, each] of requests.entries()) expect(verify.mock.calls[at]?.[1]).toBe(each);
    expect(await scheme.verify(await issuer.sign({ sub: 'eve' }), request)).toBe(false);
  });

  it('a token is accepted until the clock tolerance after its exp has ended, also if it was verified before', async () => {
    const { issuer, subject } = await start();
    const exp = inSeconds(60);
    const [verified, first, second] = await Promise.all(
      ['ada', 'bob', 'eve'].map((sub) => issuer.sign({ sub, exp })),
    );
    expect(await subject(verified ?? '')).toBe('ada');
    wait(0);
    vi.setSystemTime((exp + 5) * 1000 - 1);
    expect([await subject(verified ?? ''), await subject(first ?? '')]).toEqual(['ada', 'bob']);
    vi.setSystemTime((exp + 5) * 1000);
    expect([await subject(verified ?? ''), await subject(second ?? '')]).toEqual([undefined, undefined]);
  });

  it.each([undefined, '', 7])(
    'an access token with the subject %o is rejected (RFC 9068 §2.2)',
    async (sub) => {
      const claims = { sub, name: 'Ada' } as JWTPayload;
      const accessToken = { header: { typ: 'at+jwt' } };
      const { issuer, scheme } = await start({ type: 'at+jwt' });
      expect(await scheme.verify(await issuer.sign(claims, accessToken), request)).toBeUndefined();
      const any = await start();
      const token = await any.issuer.sign(claims, accessToken);
      expect(await any.scheme.verify(token, request)).toMatchObject({ name: 'Ada' });
    },
  );

  it('a token whose typ differs from the option type is rejected', async () => {
    const { issuer, subject } = await start({ type: 'at+jwt' });
    expect(await subject(await issuer.sign())).toBeUndefined();
    expect(await subject(await issuer.sign({}, { header: { typ: 'JWT' } }))).toBeUndefined();
    expect(await subject(await issuer.sign({}, { header: { typ: 'at+jwt' } }))).toBe('ada');
    expect(await subject(await issuer.sign({}, { header: { typ: 'application/at+jwt' } }))).toBe('ada');
  });

  it('a token whose algorithm is not in the option algorithms is rejected', async () => {
    const { issuer, subject } = await start({ algorithms: ['ES256'] });
    await issuer.publish('rsa', 'RS256');
    expect(await subject(await issuer.sign())).toBeUndefined();
  });
});

describe('forged tokens', () => {
  it('a token without a signature is rejected (alg none)', async () => {
    const { issuer, subject } = await start();
    const [, payload = '', signature = ''] = (await issuer.sign()).split('.');
    for (const alg of ['none', 'None', 'NONE', '', undefined]) {
      const header = encode({ alg, kid: 'first' });
      expect(await subject(`${header}.${payload}.`)).toBeUndefined();
      expect(await subject(`${header}.${payload}.${signature}`)).toBeUndefined();
    }
  });

  it('a token whose signature is an HMAC with the public key as its secret is rejected', async () => {
    const { issuer, subject } = await start();
    await issuer.publish('rsa', 'RS256');
    const jwk = issuer.published.get('rsa') ?? {};
    const pem = await exportSPKI((await importJWK(jwk)) as Parameters<typeof exportSPKI>[0]);
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), jwk.n ?? '']) {
      const key = new TextEncoder().encode(secret);
      const header = { alg: 'HS256', kid: 'rsa' };
      expect(await subject(await issuer.sign({}, { key, header }))).toBeUndefined();
    }
  });

  it('a token with its own key is rejected: jwk, jku, x5u and x5c are ignored', async () => {
    const { issuer, subject } = await start();
    const { privateKey: key } = await generateKeyPair('ES256');
    const evil = await startIssuer();
    const jwk = evil.published.get('first');
    const before = evil.requests();
    for (const header of [
      { jwk },
      { jku: evil.jwksUri },
      { x5u: evil.jwksUri },
      { jku: evil.jwksUri, kid: 'evil' },
    ]) {
      expect(await subject(await issuer.sign({}, { key, header }))).toBeUndefined();
    }
    expect(await subject(await evil.sign({ iss: issuer.issuer }))).toBeUndefined();
    expect(evil.requests()).toBe(before);
  });

  it('a token of 8,193 characters, or of other than three parts in base64url, is malformed', async () => {
    const { scheme } = await start();
    const read = (token: string) => scheme.read({ header: () => `Bearer ${token}` }, request);
    const tokenOf = (length: number) => `a.${'b'.repeat(length - 4)}.c`;
    expect(read(tokenOf(8192))).toBe(tokenOf(8192));
    const malformed = [tokenOf(8193), 'abc', 'a.b', 'a.b.c.d', 'a.b.c.d.e', 'a=.b.c', 'a.b~.c'];
    expect(malformed.filter((token) => read(token) !== null)).toEqual([]);
  });
});

describe('the key endpoint of the issuer', () => {
  it('a token is answered with 503, and not rejected, if its issuer cannot be reached', async () => {
    const { issuer, subject } = await start();
    const token = await issuer.sign();
    await issuer.close();
    expect(await subject(token)).toBe(503);
    expect(await subject(await issuer.sign())).toBe(503);
  });

  // 302 and 307 lead to the same keys: an issuer that redirects could be led anywhere.
  it.each([404, 500, 503, 201, 204, 302, 307])(
    'a token is answered with 503 if the key endpoint answers with %i',
    async (status) => {
      const { issuer, subject } = await start();
      issuer.status = status;
      expect(await subject(await issuer.sign())).toBe(503);
    },
  );

  it('known keys are used while the issuer is down: their tokens are valid, forged ones are rejected, those of other keys are 503', async () => {
    const { issuer, subject } = await start();
    const exp = inSeconds(7200);
    const old = await issuer.sign({ exp });
    expect(await subject(old)).toBe('ada');
    const fresh = await issuer.sign({ sub: 'bob', exp });
    const forged = `${fresh.slice(0, -8)}AAAAAAAA`;
    issuer.status = 500;
    wait(601);
    expect(await subject(old)).toBe('ada');
    expect(await subject(fresh)).toBe('bob');
    expect(await subject(forged)).toBeUndefined();
    await issuer.publish('second');
    const unseen = await issuer.sign({ sub: 'eve' });
    expect(await subject(unseen)).toBe(503);
    issuer.status = 200;
    await expect.poll(() => subject(unseen)).toBe('eve');
  });

  it('keys are fetched once for concurrent tokens, and at most once a second for unknown keys', async () => {
    const { issuer, subject } = await start();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, at) => issuer.sign({ sub: `user${at}` })),
    );
    await Promise.all(tokens.map(subject));
    expect(issuer.requests()).toBe(1);
    const { privateKey: key } = await generateKeyPair('ES256');
    const unknown = (at: number) => issuer.sign({}, { key, header: { kid: `unknown${at}` } });
    const started = performance.now();
    for (let round = 0; round < 3; round += 1) {
      const forged = await Promise.all(Array.from({ length: 50 }, (_, at) => unknown(at)));
      expect(new Set(await Promise.all(forged.map(subject)))).toEqual(new Set([undefined]));
      await sleep(600);
    }
    expect(issuer.requests()).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - started) / 1000));
    expect(issuer.requests()).toBeGreaterThan(1);
  });

  it('keys are used for 10 minutes, and the old ones until newer ones are loaded', async () => {
    const { issuer, scheme, subject } = await start();
    const [first = '', second = ''] = await Promise.all(
      ['ada', 'bob'].map((sub) => issuer.sign({ sub, exp: inSeconds(7200) })),
    );
    expect(await subject(first)).toBe('ada');
    wait(590);
    expect(await subject(second)).toBe('bob');
    expect(issuer.requests()).toBe(1);
    // Not a promise, because the signature is not checked again.
    expect(scheme.verify(second, request)).toMatchObject({ sub: 'bob' });
    wait(11);
    expect(await subject(second)).toBe('bob');
    await expect.poll(() => issuer.requests()).toBe(2);
    // The newer keys are loaded some time after they are requested.
    await vi.waitFor(async () => {
      expect(await subject(second)).toBe('bob');
      expect(scheme.verify(second, request)).not.toBeInstanceOf(Promise);
    });
    expect(scheme.verify(second, request)).toMatchObject({ sub: 'bob' });
    expect(issuer.requests()).toBe(2);
  });

  it.each([{ kid: 'second' }, { kid: undefined }])(
    'a token of a key that was published after the last request for keys waits for it, with the header %o',
    async (header) => {
      const { issuer, subject } = await start();
      expect(await subject(await issuer.sign())).toBe('ada');
      await issuer.publish('second');
      issuer.published.delete('first');
      expect(await subject(await issuer.sign({ sub: 'eve' }, { header }))).toBe('eve');
      await sleep(1100);
      await issuer.publish('third');
      const third = header.kid && 'third';
      expect(await subject(await issuer.sign({ sub: 'bob' }, { header: { kid: third } }))).toBe('bob');
      expect(issuer.requests()).toBe(3);
    },
  );

  it('at most 100 tokens of unknown keys wait for newer keys, and further ones are 503', async () => {
    const { issuer, subject } = await start();
    expect(await subject(await issuer.sign())).toBe('ada');
    const { privateKey: key } = await generateKeyPair('ES256');
    const tokens = await Promise.all(
      Array.from({ length: 120 }, (_, at) => issuer.sign({}, { key, header: { kid: `unknown${at}` } })),
    );
    const subjects = await Promise.all(tokens.map(subject));
    expect(subjects.filter((each) => each === undefined)).toHaveLength(100);
    expect(subjects.filter((each) => each === 503)).toHaveLength(20);
    expect(await subject(tokens[0] ?? '')).toBeUndefined();
    expect(issuer.requests()).toBeLessThanOrEqual(3);
  });

  it('a page with the status 200 that has no keys is no newer key set: the keys are requested again', async () => {
    const { issuer, subject } = await start();
    const token = await issuer.sign({ exp: inSeconds(7200) });
    expect(await subject(token)).toBe('ada');
    issuer.published.delete('first');
    issuer.page = '<!doctype html>';
    wait(601);
    expect(await subject(token)).toBe('ada');
    await expect.poll(() => issuer.requests()).toBe(2);
    issuer.page = undefined;
    await expect.poll(() => subject(token), { interval: 100 }).toBeUndefined();
  });

  it('a token that a withdrawn key verified while newer keys were loaded is verified again by these', async () => {
    const { issuer, subject } = await start();
    const token = await issuer.sign({ exp: inSeconds(7200) });
    expect(await subject(token)).toBe('ada');
    issuer.published.delete('first');
    wait(601);
    const verify = crypto.subtle.verify.bind(crypto.subtle);
    const slow = vi.spyOn(crypto.subtle, 'verify').mockImplementation(async (...parameters) => {
      await sleep(300);
      return verify(...parameters);
    });
    onTestFinished(() => slow.mockRestore());
    expect(await subject(token)).toBe('ada');
    expect(issuer.requests()).toBe(2);
    expect(await subject(token)).toBeUndefined();
  });

  it('known keys are used for a day while the issuer is down, and then their tokens are answered with 503', async () => {
    const { issuer, subject } = await start();
    const token = await issuer.sign({ exp: inSeconds(7 * 86_400) });
    expect(await subject(token)).toBe('ada');
    await issuer.close();
    wait(86_000);
    expect(await subject(token)).toBe('ada');
    wait(401);
    expect(await subject(token)).toBe(503);
  });

  it('a token is answered with 503 if the key endpoint does not answer within 5 s', async () => {
    const { issuer, subject } = await start();
    const token = await issuer.sign();
    issuer.status = 0;
    const started = performance.now();
    expect(await subject(token)).toBe(503);
    expect(performance.now() - started).toBeGreaterThan(4900);
    issuer.status = 200;
    expect(await subject(token)).toBe('ada');
  });

  it('a token is answered with 503 if its key in the key set is not a public key', async () => {
    const { issuer, subject } = await start();
    const key = await issuer.publish('private');
    const token = await issuer.sign();
    const jwk = { ...issuer.published.get('private'), ...(await exportJWK(key)) };
    issuer.published.set('private', jwk);
    expect(await subject(token)).toBe(503);
  });

  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const weakJwk = weak.publicKey.export({ format: 'jwk' }) as JWK;

  it.each<[what: string, jwk: JWK]>([
    ['RSA with 1,024 bits', { ...weakJwk, alg: 'RS256' }],
    ['a modulus that is not base64url', { kty: 'RSA', n: '!', e: 'AQAB', alg: 'RS256' }],
    ['no modulus', { kty: 'RSA', e: 'AQAB', alg: 'RS256' }],
    ['a point that is not on its curve', { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', alg: 'RS256' }],
    ['an unknown type', { kty: 'none', alg: 'RS256' }],
  ])(
    'tokens of an unusable key in the key set are rejected, and those of the other keys are accepted: %s',
    async (_what, jwk) => {
      const { issuer, subject } = await start();
      const good = await issuer.sign();
      const goodWithoutId = await issuer.sign({}, { header: { kid: undefined } });
      issuer.published.set('unusable', { ...jwk, kid: 'unusable', use: 'sig' });
      const weakToken = (header: object) => {
        const signed = `${encode({ alg: 'RS256', ...header })}.${encode({ iss: issuer.issuer, aud: audience, sub: 'ada', exp: inSeconds(60) })}`;
        return `${signed}.${createSign('sha256').update(signed).sign(weak.privateKey, 'base64url')}`;
      };
      expect(await subject(weakToken({ kid: 'unusable' }))).toBeUndefined();
      expect(await subject(weakToken({}))).toBeUndefined();
      expect([await subject(good), await subject(goodWithoutId)]).toEqual(['ada', 'ada']);
      // Beside a usable key of the same type, a token without `kid` is tried with each.
      await issuer.publish('strong', 'RS256');
      wait(601);
      const strong = await issuer.sign({}, { header: { kid: undefined } });
      await expect.poll(() => subject(strong)).toBe('ada');
      expect(await subject(weakToken({}))).toBeUndefined();
    },
  );

  it('tokens of two keys without ids are accepted', async () => {
    const { issuer, subject } = await start();
    const tokens = [await issuer.sign({}, { header: { kid: undefined } })];
    await issuer.publish('second');
    tokens.push(await issuer.sign({}, { header: { kid: undefined } }));
    for (const [kid, jwk] of issuer.published) {
      const { kid: _kid, ...without } = jwk;
      issuer.published.set(kid, without);
    }
    expect(await Promise.all(tokens.map(subject))).toEqual(['ada', 'ada']);
    const expired = await issuer.sign({ exp: inSeconds(-60) }, { header: { kid: undefined } });
    expect(await subject(expired)).toBeUndefined();
    // No newer key would verify it.
    expect(issuer.requests()).toBe(1);
    const { privateKey: key } = await generateKeyPair('ES256');
    expect(await subject(await issuer.sign({}, { key, header: { kid: undefined } }))).toBeUndefined();
  });
});
