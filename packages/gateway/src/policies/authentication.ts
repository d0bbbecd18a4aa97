import { TRPCError } from '@trpc/server';
import { isThenable } from '../http/after.ts';
import type { HttpRequest } from '../http/request.ts';
import { clientError } from '../procedures/clientError.ts';
import { Failure, failureOf } from '../procedures/execute.ts';
import { bearerCredential, challenge } from './bearer.ts';
import type { Calls } from './calls.ts';
import { CallScope } from './callScope.ts';
import type { FailedAttempts } from './failedAttempts.ts';
import type { Policy, Target } from './policy.ts';
import type { RequestScope } from './requestScope.ts';

/** Falsy values with which `authenticate` rejects a token. */
export type Nobody = null | undefined | false;

/** Returns whose token it is, or a falsy value for an invalid or revoked one. It throws where that cannot be decided. */
export type Authenticate<Identity> = (
  token: string,
  request: HttpRequest,
) => Identity | Nobody | PromiseLike<Identity | Nobody>;

export interface AuthenticationOptions<Identity> {
  readonly authenticate: Authenticate<Identity>;
  /** The realm of `WWW-Authenticate`. */
  readonly realm: string;
  readonly calls: Calls;
  readonly failedAttempts: FailedAttempts | undefined;
}

/** Why a credential is rejected, and the `WWW-Authenticate` header of a 401. */
interface AuthFailure {
  readonly error: TRPCError;
  readonly challenge?: string;
}

/**
 * Checks the bearer token (RFC 6750) of a request, once. A look-up that waits counts as a call, and has as much time.
 * A public operation is served without a good credential, as anonymous.
 */
export function authenticationPolicy<Identity>({
  authenticate,
  realm,
  calls,
  failedAttempts,
}: AuthenticationOptions<Identity>): Policy<Identity> {
  const missing: AuthFailure = {
    error: new TRPCError({
      code: 'UNAUTHORIZED',
      message: 'A credential is required: send "Authorization: Bearer <API key>".',
    }),
    challenge: challenge(realm, true),
  };
  const invalid: AuthFailure = {
    error: new TRPCError({ code: 'UNAUTHORIZED', message: 'The API key is not valid.' }),
    challenge: challenge(realm, false),
  };

  function reject(
    scope: RequestScope<Identity>,
    { isPublic }: Target,
    failure: AuthFailure,
  ): TRPCError | undefined {
    if (isPublic) {
      scope.isAnonymous = true;
      return undefined;
    }
    if (failure.challenge !== undefined) scope.addHeader('www-authenticate', failure.challenge);
    return failure.error;
  }

  function rejectToken(
    scope: RequestScope<Identity>,
    target: Target,
    token: string,
    lookedUpAt?: number,
  ): TRPCError | undefined {
    const tooMany = failedAttempts?.count(scope.request, token, lookedUpAt);
    return reject(scope, target, tooMany === undefined ? invalid : { error: tooMany });
  }

  return {
    admit(scope, target) {
      const { request } = scope;
      const credential = bearerCredential(target.authorization ?? request.header('authorization'));
      if (credential === 'missing') return reject(scope, target, missing);
      if (credential === 'malformed') return reject(scope, target, invalid);
      const { token } = credential;
      // A look-up that cannot be waited for does not begin.
      const overload = calls.rejection(1);
      if (overload) return reject(scope, target, { error: overload });
      if (failedAttempts?.isKnown(token)) return rejectToken(scope, target, token);
      try {
        const found = authenticate(token, request);
        if (!isThenable<Identity | Nobody>(found)) return decide(found);
        const lookedUpAt = performance.now();
        return new Promise((resolve) => {
          // A scope of its own: the call has all of its time afterwards.
          calls.wait(found, new CallScope(request), (outcome) => {
            resolve(
              outcome instanceof Failure
                ? reject(scope, target, { error: clientError(outcome.error) })
                : decide(outcome as Identity | Nobody, lookedUpAt),
            );
          });
        });
      } catch (cause) {
        return reject(scope, target, { error: clientError(failureOf(cause).error) });
      }

      function decide(identity: Identity | Nobody, lookedUpAt?: number): TRPCError | undefined {
        // '' and 0 reject a token too.
        if (!identity) return rejectToken(scope, target, token, lookedUpAt);
        scope.identity = identity;
        scope.token = token;
        return undefined;
      }
    },
  };
}
