import { TRPCError } from '@trpc/server';
import { unref, type Timer } from '../http/eventLoop.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import type { Scheme } from '../calls/scheme.ts';
import { hasLostScopes } from './scopes.ts';

/** The credential of a request. Without one that was verified, nothing is watched. */
type CredentialUse = Pick<RequestContext, 'credential' | 'identity' | 'request' | 'scheme'>;

/** Calls `onRevoked` if the credential of a WebSocket or stream is revoked. @returns a function that ends the watch */
export type CredentialWatch = (use: CredentialUse, onRevoked: () => void) => () => void;

/** Creates the error with which a stream ends when its credential is revoked. */
export const revokedError = (): TRPCError =>
  new TRPCError({
    code: 'UNAUTHORIZED',
    message: 'The credential of this stream is no longer valid. Connect again with another.',
  });

/** The interval of checks of each credential, in milliseconds. A revocation must take effect within 5 s. */
const checkIntervalMs = 1000;

/** How long a check may take before it is started again, in milliseconds. */
const verifyTimeoutMs = 3000;

interface WatchedCredential {
  readonly timer: Timer;
  /** The current uses of the credential, by the function that ends each. */
  readonly uses: Map<() => void, CredentialUse>;
  /** When the running check started (`performance.now()`). */
  checkedSince: number;
}

/** Creates a watch that checks each credential in use about once a second, however many streams use it. */
export function createCredentialWatch(): CredentialWatch {
  const watchedCredentials = new Map<string, WatchedCredential>();

  async function check(watched: WatchedCredential, scheme: Scheme, credential: string): Promise<void> {
    const startedAt = performance.now();
    const [use] = watched.uses.values();
    // Do not wait forever for a verification that hangs.
    if (use === undefined || startedAt - watched.checkedSince < verifyTimeoutMs) return;
    watched.checkedSince = startedAt;
    try {
      const identity = await scheme.verify(credential, use.request);
      for (const [onRevoked, { identity: before }] of watched.uses) {
        if (!identity || hasLostScopes(scheme, before, identity)) onRevoked();
      }
    } catch {
      // The key store is unavailable, so the credential may still be valid. Keep its streams, and check again.
    } finally {
      if (watched.checkedSince === startedAt) watched.checkedSince = -Infinity;
    }
  }

  return (use, onRevoked) => {
    const { credential, scheme } = use;
    if (credential === undefined || scheme === undefined) return () => {};
    const key = `${scheme.name} ${credential}`;
    const watched: WatchedCredential = watchedCredentials.get(key) ?? {
      timer: unref(setInterval(() => void check(watched, scheme, credential), checkIntervalMs)),
      uses: new Map(),
      checkedSince: -Infinity,
    };
    watchedCredentials.set(key, watched);
    // A new function for each use: `onRevoked` may be passed twice.
    const end = () => onRevoked();
    watched.uses.set(end, use);
    return () => {
      if (!watched.uses.delete(end) || watched.uses.size > 0) return;
      clearInterval(watched.timer);
      watchedCredentials.delete(key);
    };
  };
}
