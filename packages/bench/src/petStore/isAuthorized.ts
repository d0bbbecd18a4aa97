import { createKeyVerifier } from '@petstore/core';
import { petStore } from './operations.ts';

const verify = createKeyVerifier({ keys: petStore.keys, apiKey: process.env['API_KEY'] });
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** Checks a request's bearer token as the pet store does: by its hash, among the stored keys and the one of the environment. */
export function isAuthorized(authorization: string | null | undefined): boolean {
  const token = authorization ? bearer.exec(authorization)?.[1] : undefined;
  return token !== undefined && verify(token) !== undefined;
}
