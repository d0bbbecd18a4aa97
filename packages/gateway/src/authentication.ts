import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { bearerCredential, challenge } from './bearer.ts';
import type { GatewayRequest } from './http.ts';

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

export type Admission<Identity> = { readonly identity: Identity | undefined } | Refusal;

/** What stands for nobody. */
export type Nobody = null | undefined | false;

/** Whose token a token is. */
export type Authenticate<Identity> = (
  token: string,
  request: GatewayRequest,
) => Identity | Nobody | PromiseLike<Identity | Nobody>;

/** Checks the credential of a request, once, before anything else of it is looked at. It never throws. */
export type Authentication<Identity> = (
  request: GatewayRequest,
) => Admission<Identity> | Promise<Admission<Identity>>;

/** Bearer authentication (RFC 6750) by `authenticate`; without it everybody is let in. */
export function createAuthentication<Identity>(
  authenticate: Authenticate<Identity> | undefined,
  realm: string,
): Authentication<Identity> {
  if (authenticate === undefined) return () => ({ identity: undefined });

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
  // What a look-up gives for nobody is not always undefined: null, false, '' and 0 let nobody in either.
  const admit = (identity: Identity | Nobody) => (identity ? { identity } : invalid);
  const fail = (cause: unknown) => new Refusal(getTRPCErrorFromUnknown(cause));

  return (request) => {
    const credential = bearerCredential(request.header('authorization'));
    if (credential === 'missing') return missing;
    if (credential === 'malformed') return invalid;
    try {
      const identity = authenticate(credential.token, request);
      return isThenable(identity) ? Promise.resolve(identity).then(admit, fail) : admit(identity);
    } catch (cause) {
      return fail(cause);
    }
  };
}

// Not `instanceof Promise`: what a query builder gives can be waited for too, and taken for an identity it lets all in.
const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && 'then' in value;
