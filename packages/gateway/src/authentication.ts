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

/** Checks the credential of a request, once, before anything else of it is looked at. It never throws. */
export type Authentication<Identity> = (
  request: GatewayRequest,
) => Admission<Identity> | Promise<Admission<Identity>>;

/** Bearer authentication (RFC 6750) by `authenticate`; without it everybody is let in. */
export function createAuthentication<Identity>(
  authenticate:
    | ((token: string, request: GatewayRequest) => Identity | undefined | Promise<Identity | undefined>)
    | undefined,
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
  const admit = (identity: Identity | undefined) => (identity === undefined ? invalid : { identity });
  const fail = (cause: unknown) => new Refusal(getTRPCErrorFromUnknown(cause));

  return (request) => {
    const credential = bearerCredential(request.header('authorization'));
    if (credential === 'missing') return missing;
    if (credential === 'malformed') return invalid;
    try {
      const identity = authenticate(credential.token, request);
      return identity instanceof Promise ? identity.then(admit, fail) : admit(identity);
    } catch (cause) {
      return fail(cause);
    }
  };
}
