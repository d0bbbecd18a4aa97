/** What an `Authorization` header holds: a bearer token, no bearer credential at all, or one that is not well-formed. */
export type BearerCredential = { readonly token: string } | 'missing' | 'malformed';

// RFC 6750 §2.1: b64token. The scheme's name is case-insensitive (RFC 9110 §11.1).
const scheme = /^bearer(?: |$)/i;
const credential = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** Reads an `Authorization` header. Another scheme than bearer is no bearer credential (RFC 6750 §3.1). */
export function bearerCredential(authorization: string | undefined): BearerCredential {
  if (authorization === undefined) return 'missing';
  const found = credential.exec(authorization)?.[1];
  if (found !== undefined) return { token: found };
  return scheme.test(authorization) ? 'malformed' : 'missing';
}

/**
 * The `WWW-Authenticate` challenge of a 401 (RFC 6750 §3): who sent no bearer credential is told the realm alone, who
 * sent a bad one that the token is invalid.
 */
export const challenge = (realm: string, isMissing: boolean): string =>
  `Bearer realm="${realm}"${isMissing ? '' : ', error="invalid_token"'}`;
