import { shown } from '../../http/unknownNames.ts';
import { GatewayError } from '../../procedures/gatewayError.ts';
import type { SecurityScheme, Verify } from '../scheme.ts';

/** What every scheme takes. */
export interface SchemeOptions<Identity> {
  /**
   * Checks a credential: once per request, before anything else of it is looked at, and about once a second while a
   * WebSocket or a stream of events goes on that began with it. A falsy value rejects it (401), and ends those (1008). A
   * `TRPCError` thrown here is the response: `SERVICE_UNAVAILABLE` while keys cannot be read.
   */
  readonly verify: Verify<Identity>;
  /** The scopes that an identity has, for procedures with `scopes` in their metadata. */
  readonly scopes?: (identity: Identity) => readonly string[];
  /** The realm of `WWW-Authenticate`. Default: `api`. */
  readonly realm?: string;
  /** Its name among the document's `securitySchemes`, which must be its own. */
  readonly name?: string;
  /** Its entry in the document's `securitySchemes`, in place of the one that follows from the other options. */
  readonly document?: SecurityScheme;
}

export const defaultRealm = 'api';

/** @throws {GatewayError} where `verify` is not a function, which the types do not say of plain JavaScript */
export function requireVerify(scheme: string, verify: unknown): void {
  if (typeof verify === 'function') return;
  throw new GatewayError(`${scheme}: verify is ${shown(verify)}; it must be a function.`);
}
