import { unref, type Timer } from '../http/eventLoop.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Scheme } from './scheme.ts';
import { hasLostScopes } from './scopes.ts';

/** A credential in use. */
interface CredentialUse {
  readonly request: HttpRequest;
  /** `undefined` where no credential was checked: then there is nothing to watch. */
  readonly scheme: Scheme | undefined;
  readonly credential: string | undefined;
  /** What `verify` returned when it began. */
  readonly identity: unknown;
}

/**
 * Watches the credential of something that goes on: a WebSocket, a stream.
 * @returns ends the watch
 */
export type CredentialWatch = (use: CredentialUse, onRevoked: () => void) => () => void;

/** How often a credential that is in use is checked, in milliseconds: a revocation must be seen within 5 s. */
const everyMs = 1000;

/** How long a check may take before it is made again, in milliseconds. */
const patienceMs = 3000;

interface Watched {
  readonly scheme: Scheme;
  readonly credential: string;
  /** What uses the credential now, by what ends it. */
  readonly uses: Map<() => void, CredentialUse>;
  /** When the check that is under way began, by `performance.now()`. */
  checkedSince: number | undefined;
}

/** Checks the credentials in use about every second, each once, however many use it. Nothing runs while there are none. */
export function createCredentialWatch(): CredentialWatch {
  const all = new Map<string, Watched>();
  let timer: Timer | undefined;

  async function check(watched: Watched): Promise<void> {
    const { request } = watched.uses.values().next().value ?? {};
    const begun = performance.now();
    // A look-up that hangs is not waited for for ever: it may never come back.
    if (request === undefined || begun - (watched.checkedSince ?? -Infinity) < patienceMs) return;
    watched.checkedSince = begun;
    try {
      const { credential, scheme, uses } = watched;
      const identity = await scheme.verify(credential, request);
      for (const [onRevoked, use] of uses) {
        if (!identity || hasLostScopes(scheme, use.identity, identity)) onRevoked();
      }
    } catch {
      // While keys cannot be read nothing is known about this one: what it began goes on, and it is asked again.
    } finally {
      if (watched.checkedSince === begun) watched.checkedSince = undefined;
    }
  }

  return (use, onRevoked) => {
    const { credential, scheme } = use;
    if (credential === undefined || scheme === undefined) return () => {};
    const key = `${scheme.name} ${credential}`;
    const watched = all.get(key) ?? { scheme, credential, uses: new Map(), checkedSince: undefined };
    all.set(key, watched);
    // A function of its own for each use: one may be handed in twice.
    const end = () => onRevoked();
    watched.uses.set(end, use);
    timer ??= startTimer();
    return () => {
      watched.uses.delete(end);
      if (watched.uses.size === 0 && all.get(key) === watched) all.delete(key);
      if (all.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };

  function startTimer() {
    const each = () => {
      for (const watched of all.values()) void check(watched);
    };
    return unref(setInterval(each, everyMs));
  }
}
