import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/**
 * Starts an issuer of access tokens on 127.0.0.1, for development and tests. It keeps its key in memory, and gives everyone on this machine any token:
 * `curl $origin/token -d user=ada -d scope=animals:write`.
 */
export async function startIssuer(port = 0) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'development', use: 'sig' }] };
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/jwks.json') {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(keys));
    } else if (request.method === 'POST' && request.url === '/token') {
      text(request)
        .then((body) => new URLSearchParams(body))
        .then((form) => token(form.get('user') ?? '', form.get('scope') ?? ''))
        .then(
          (signed) => response.end(signed),
          () => response.writeHead(400).end(),
        );
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const audience = 'https://shelter.example';

  /** Signs a token for a user, with the scopes separated by spaces. */
  function token(user: string, scope: string, client = 'development'): Promise<string> {
    return new SignJWT({ scope, client_id: client })
      .setProtectedHeader({ alg: 'ES256', kid: 'development', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(user)
      .setExpirationTime('1 hour')
      .sign(privateKey);
  }

  return {
    /** The options of `jwt()`. */
    accepts: { issuer, audience, jwksUri: `${issuer}/jwks.json` },
    token,
    close: () => void server.close(),
  };
}
