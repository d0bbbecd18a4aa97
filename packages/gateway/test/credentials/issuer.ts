import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** How a token differs from a valid one. */
export interface Signing {
  readonly key?: Key | Uint8Array;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Claims to leave out. */
  readonly without?: readonly string[];
}

export type Issuer = Awaited<ReturnType<typeof openIssuer>>;

export const audience = 'https://notes.example';

/** Starts an issuer until the test ends. */
export async function startIssuer() {
  const issuer = await openIssuer();
  onTestFinished(() => issuer.close());
  return issuer;
}

/** Starts an issuer of access tokens on a local port, with a JWKS, until its `close()`. */
export async function openIssuer() {
  /** The published keys by their ids. */
  const published = new Map<string, JWK>();
  let requests = 0;
  let newest: { readonly kid: string; readonly alg: string; readonly key: Key } | undefined;
  const server = createServer((request, response) => {
    requests += 1;
    if (issuer.status === 0) return;
    if (request.url === '/jwks') response.statusCode = issuer.status;
    else if (request.url !== '/moved') response.statusCode = 404;
    if (response.statusCode >= 300 && response.statusCode < 400) response.setHeader('location', '/moved');
    response.setHeader('content-type', 'application/jwk-set+json');
    response.end(issuer.page ?? JSON.stringify({ keys: [...published.values()] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const issuer = {
    issuer: origin,
    jwksUri: `${origin}/jwks`,
    /** Returns how often the keys were requested. */
    requests: () => requests,
    published,
    /** The status of responses at `jwksUri`; 0 for no response. */
    status: 200,
    /** The body of responses, instead of the keys. */
    page: undefined as string | undefined,
    /** Creates a key pair and publishes it. */
    async publish(kid: string, alg = 'ES256') {
      const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
      published.set(kid, { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' });
      newest = { kid, alg, key: privateKey };
      return privateKey;
    },
    /** Signs a token, by default a valid one with the newest key. */
    async sign(claims: JWTPayload = {}, { key = newest?.key, header, without = [] }: Signing = {}) {
      const now = Math.floor(Date.now() / 1000);
      const payload: JWTPayload = {
        iss: origin,
        aud: audience,
        sub: 'ada',
        iat: now,
        exp: now + 300,
        ...claims,
      };
      for (const name of without) delete payload[name];
      return new SignJWT(payload)
        .setProtectedHeader({ alg: newest?.alg ?? 'ES256', kid: newest?.kid, ...header } as { alg: string })
        .sign(key as Key, { crit: { x: true } });
    },
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  await issuer.publish('first');
  return issuer;
}
