import type { Authenticate } from './authentication.ts';
import type { HttpRequest } from '../http/request.ts';

/**
 * Watches the credential of something that goes on: a WebSocket, a stream.
 * @param token `undefined` where no credential was asked for: then there is nothing to watch
 * @returns ends the watch
 */
export type CredentialWatch = (
  token: string | undefined,
  request: HttpRequest,
  onRevoked: () => void,
) => () => void;

/** How often a credential that is in use is checked, in milliseconds: a revocation must be seen within 5 s. */
const everyMs = 1000;

/** How long a check may take before it is made again, in milliseconds. */
const patienceMs = 3000;

interface Watched {
  /** What uses the token now, with the request that it came with. */
  readonly uses: Map<() => void, HttpRequest>;
  /** When the check that is under way began, by `performance.now()`. */
  checkedSince: number | undefined;
}

/** Checks the tokens in use about every second, each once, however many use it. Nothing runs while there are none. */
export function createCredentialWatch<Identity>(
  authenticate: Authenticate<Identity> | undefined,
): CredentialWatch {
  if (authenticate === undefined) return () => () => {};
  const tokens = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;

  async function check(token: string, watched: Watched): Promise<void> {
    const request = watched.uses.values().next().value;
    const begun = performance.now();
    // A look-up that hangs is not waited for for ever: it may never come back.
    if (request === undefined || begun - (watched.checkedSince ?? -Infinity) < patienceMs) return;
    watched.checkedSince = begun;
    try {
      const identity = await authenticate?.(token, request);
      if (!identity) for (const onRevoked of watched.uses.keys()) onRevoked();
    } catch {
      // While keys cannot be read nothing is known about this one: what it began goes on, and it is asked again.
    } finally {
      if (watched.checkedSince === begun) watched.checkedSince = undefined;
    }
  }

  return (token, request, onRevoked) => {
    if (token === undefined) return () => {};
    const watched = tokens.get(token) ?? { uses: new Map(), checkedSince: undefined };
    tokens.set(token, watched);
    // A function of its own for each use: one may be handed in twice.
    const use = () => onRevoked();
    watched.uses.set(use, request);
    timer ??= setInterval(() => {
      for (const [known, uses] of tokens) void check(known, uses);
    }, everyMs).unref();
    return () => {
      watched.uses.delete(use);
      if (watched.uses.size === 0 && tokens.get(token) === watched) tokens.delete(token);
      if (tokens.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}
