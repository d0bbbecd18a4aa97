import { unref, type Timer } from '../http/eventLoop.ts';
import type { RequestScope } from '../calls/requestScope.ts';
import type { Scheme } from '../calls/scheme.ts';
import { hasLostScopes } from './scopes.ts';

/** The credential of a request. Without one that was verified, nothing is watched. */
type CredentialUse = Pick<RequestScope, 'credential' | 'identity' | 'request' | 'scheme'>;

/**
 * Watches the credential of a WebSocket or a stream, and calls `onRevoked` if it is revoked.
 * @returns a function that ends the watch
 */
export type CredentialWatch = (use: CredentialUse, onRevoked: () => void) => () => void;

/** The interval of checks of each credential, in milliseconds. A revocation must take effect within 5 s. */
const checkIntervalMs = 1000;

/** How long a check may take before it is started again, in milliseconds. */
const verifyTimeoutMs = 3000;

interface WatchedCredential {
  readonly scheme: Scheme;
  readonly credential: string;
  /** The current uses of the credential, by the function that ends each. */
  readonly uses: Map<() => void, CredentialUse>;
  /** When the running check started (`performance.now()`). */
  checkedSince: number | undefined;
}

/**
 * Creates a watch that checks each credential in use about once a second, however many streams use it. No timer runs
 * while no credential is in use.
 */
export function createCredentialWatch(): CredentialWatch {
  const watchedCredentials = new Map<string, WatchedCredential>();
  let timer: Timer | undefined;

  async function check(watched: WatchedCredential): Promise<void> {
    const { request } = watched.uses.values().next().value ?? {};
    const startedAt = performance.now();
    // Do not wait forever for a verification that hangs.
    if (request === undefined || startedAt - (watched.checkedSince ?? -Infinity) < verifyTimeoutMs) return;
    watched.checkedSince = startedAt;
    try {
      const { credential, scheme, uses } = watched;
      const identity = await scheme.verify(credential, request);
      for (const [onRevoked, use] of uses) {
        if (!identity || hasLostScopes(scheme, use.identity, identity)) onRevoked();
      }
    } catch {
      // The key store is unavailable, so the credential may still be valid. Keep its streams, and check again.
    } finally {
      if (watched.checkedSince === startedAt) watched.checkedSince = undefined;
    }
  }

  return (use, onRevoked) => {
    const { credential, scheme } = use;
    if (credential === undefined || scheme === undefined) return () => {};
    const key = `${scheme.name} ${credential}`;
    const watched = watchedCredentials.get(key) ?? {
      scheme,
      credential,
      uses: new Map(),
      checkedSince: undefined,
    };
    watchedCredentials.set(key, watched);
    // A new function for each use: `onRevoked` may be passed twice.
    const end = () => onRevoked();
    watched.uses.set(end, use);
    timer ??= startTimer();
    return () => {
      watched.uses.delete(end);
      if (watched.uses.size === 0 && watchedCredentials.get(key) === watched) watchedCredentials.delete(key);
      if (watchedCredentials.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };

  function startTimer() {
    const checkAll = () => {
      for (const watched of watchedCredentials.values()) void check(watched);
    };
    return unref(setInterval(checkAll, checkIntervalMs));
  }
}
