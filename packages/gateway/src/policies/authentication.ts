import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { isThenable } from '../http/after.ts';
import { bearerCredential, challenge } from './bearer.ts';
import type { Calls } from './calls.ts';
import { CallScope } from './callScope.ts';
import { clientError } from '../procedures/clientError.ts';
import type { FailedAttempts } from './failedAttempts.ts';
import type { HttpRequest } from '../http/request.ts';

/** Why a request is not let in. */
export class Refusal {
  readonly error: TRPCError;
  /** `WWW-Authenticate`, with a 401. */
  readonly challenge: string | undefined;

  constructor(error: TRPCError, challengeValue?: string) {
    this.error = error;
    this.challenge = challengeValue;
  }
}

/** Who is let in; with the token, where one was asked for: a credential may be revoked while what it began goes on. */
export interface Admitted<Identity> {
  readonly identity: Identity | undefined;
  readonly token: string | undefined;
}

/** What stands for nobody. */
export type Nobody = null | undefined | false;

/** Whose token it is; nobody's, where it is not good, or not any more. It throws where that cannot be told. */
export type Authenticate<Identity> = (
  token: string,
  request: HttpRequest,
) => Identity | Nobody | PromiseLike<Identity | Nobody>;

export type Admission<Identity> = Admitted<Identity> | Refusal;

/**
 * Checks the credential of a request, once, before anything else of it is looked at. It never throws.
 * @param authorization where the credential is not in the header of that name
 */
export type Authentication<Identity> = (
  request: HttpRequest,
  authorization?: string,
) => Admission<Identity> | Promise<Admission<Identity>>;

/** Who is let in where no credential is asked for. */
export const anybody: Admitted<never> = { identity: undefined, token: undefined };

/**
 * Bearer authentication (RFC 6750) by `authenticate`; without it everybody is let in. While it is waited for it counts as
 * a call, and may take as long as one.
 * @param failedAttempts where those of one address are limited
 */
export function createAuthentication<Identity>(
  authenticate: Authenticate<Identity> | undefined,
  realm: string,
  calls: Calls,
  failedAttempts?: FailedAttempts,
): Authentication<Identity> {
  if (authenticate === undefined) return () => anybody;

  const missing = new Refusal(
    new TRPCError({
      code: 'UNAUTHORIZED',
      message: 'A credential is required: send "Authorization: Bearer <API key>".',
    }),
    challenge(realm, true),
  );
  const invalid = new Refusal(
    new TRPCError({ code: 'UNAUTHORIZED', message: 'The API key is not valid.' }),
    challenge(realm, false),
  );
  const fail = (cause: unknown) => new Refusal(clientError(getTRPCErrorFromUnknown(cause)));

  function refuse(request: HttpRequest, token: string, lookedUpAt?: number): Refusal {
    const tooMany = failedAttempts?.count(request, token, lookedUpAt);
    return tooMany === undefined ? invalid : new Refusal(tooMany);
  }

  return (request, authorization = request.header('authorization')) => {
    const credential = bearerCredential(authorization);
    if (credential === 'missing') return missing;
    if (credential === 'malformed') return invalid;
    const { token } = credential;
    // No look-up begins that could not be waited for.
    const overload = calls.refusal(1);
    if (overload) return new Refusal(overload);
    if (failedAttempts?.isKnown(token)) return refuse(request, token);
    try {
      const identity = authenticate(token, request);
      // What a look-up gives for nobody is not always undefined: null, false, '' and 0 let nobody in either.
      if (!isThenable<Identity | Nobody>(identity))
        return identity ? { identity, token } : refuse(request, token);
      // Only what was waited for is worth to be remembered.
      const lookedUpAt = performance.now();
      return calls
        .wait(new CallScope(request), Promise.resolve(identity))
        .then((found) => (found ? { identity: found, token } : refuse(request, token, lookedUpAt)), fail);
    } catch (cause) {
      return fail(cause);
    }
  };
}
