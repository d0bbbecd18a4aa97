import { randomUUID } from 'node:crypto';
import { vouch } from './headers.ts';

// What comes from outside goes into logs and back out in a header: printable, no separators, and short.
const acceptable = /^[A-Za-z0-9._~:+/=-]{1,128}$/;

/** The id of a request: the client's `X-Request-Id` where it is fit to be repeated, else a new one. */
export function requestId(header: string | undefined): string {
  return vouch(header !== undefined && acceptable.test(header) ? header : randomUUID());
}
