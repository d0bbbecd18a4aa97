// Hot path: every request of a gateway with `authentication` runs through it.
import { TRPCError } from '@trpc/server';
import { mapMaybePromise, type MaybePromise } from '../http/maybePromise.ts';
import { isObject } from '../http/isObject.ts';
import { collect, GatewayError } from '../checks/gatewayError.ts';
import type { CallRunner } from '../calls/callRunner.ts';
import { policyError } from '../calls/policy.ts';
import type { FailedAttempts } from './failedAttempts.ts';
import { crossSiteError } from './crossSite.ts';
import { passesOriginCheck, safeMethods, type OriginCheck } from './origins.ts';
import type { RequestPolicy, RequestContext } from '../calls/requestContext.ts';
import type { Rejected, Scheme } from '../calls/scheme.ts';

export interface AuthenticationOptions<Identity> {
  /** The schemes, in the order in which they are tried. */
  readonly schemes: readonly Scheme<Identity>[];
  readonly allowsCredentials: OriginCheck;
  readonly calls: CallRunner;
  readonly failedAttempts: FailedAttempts | undefined;
}

/** The error for a missing or rejected credential, and the `WWW-Authenticate` headers of a 401. */
interface AuthFailure {
  readonly error: TRPCError;
  readonly challenges?: readonly string[];
}

/** A scheme, with what its credentials are remembered and rejected by. */
interface Check<Identity> {
  readonly scheme: Scheme<Identity>;
  /** Precedes the credentials of this scheme in the record of failed attempts. */
  readonly prefix: string;
  readonly invalid: AuthFailure;
}

/** @throws {GatewayError} for no scheme, invalid or equal names, and two that read the same credential */
export function schemesOf<Identity>(
  authentication: Scheme<Identity> | readonly Scheme<Identity>[] | undefined,
): readonly Scheme<Identity>[] {
  if (authentication === undefined) return [];
  const schemes = [authentication].flat() as readonly Scheme<Identity>[];
  if (schemes.length === 0 || !schemes.every(isScheme)) {
    throw new GatewayError(
      'authentication must be a scheme, or a list of one or more schemes, such as authentication: bearer({ verify: (token) => users.get(token) }).',
    );
  }
  collect(
    schemes.map(({ name, reads }, at) => () => {
      const earlier = schemes.slice(0, at);
      const rival = earlier.find((each) => reads !== undefined && each.reads === reads);
      if (rival !== undefined) {
        throw new GatewayError(
          `The schemes "${rival.name}" and "${name}" both read ${reads}, so the second is never used. Use one scheme whose verify accepts the credentials of both.`,
        );
      }
      // OpenAPI 3.1 §4.8.7.1
      if (!/^[\w.-]+$/.test(name) || earlier.some((each) => each.name === name)) {
        throw new GatewayError(
          `authentication has a scheme named "${name}"; its name must be unique, and contain only letters, digits, ".", "_" and "-".`,
        );
      }
    }),
  );
  return schemes;
}

const isScheme = (value: unknown) =>
  isObject(value) && typeof value['read'] === 'function' && typeof value['verify'] === 'function';

/** @throws {GatewayError} for `needsExactHeaders`: uWebSockets.js trims bytes outside ASCII around values. */
export function allowInexactHeaders(schemes: readonly Scheme[]): void {
  const scheme = schemes.find(({ needsExactHeaders }) => needsExactHeaders);
  if (scheme === undefined) return;
  throw new GatewayError(
    `The scheme "${scheme.name}" reads ${scheme.reads}, but uWebSockets.js removes bytes outside ASCII at the start of a header, so a sibling subdomain could set this cookie by another name. Serve the gateway with trpc-gateway/node, or let a proxy reject such Cookie headers and set proxyRejectsNonAscii: true in cookie().`,
  );
}

/**
 * Verifies the credential by the first scheme that finds one. A pending verification counts as a call and has the
 * same timeout. Without a valid credential, a public operation is served as anonymous.
 */
export function authenticationPolicy<Identity>({
  schemes,
  allowsCredentials,
  calls,
  failedAttempts,
}: AuthenticationOptions<Identity>): RequestPolicy<Identity> {
  const usages = schemes.map(({ usage }) => usage).join(' or ');
  const missing = unauthorized(`A credential is required: send ${usages}.`, schemes);
  const checks = schemes.map((scheme, index): Check<Identity> => ({
    scheme,
    // Schemes must not share remembered rejections.
    prefix: index === 0 ? '' : `${scheme.name}\0`,
    invalid: unauthorized(`The ${scheme.noun} is not valid.`, schemes, scheme),
  }));

  function reject(context: RequestContext<Identity>, authFailure: AuthFailure): TRPCError | undefined {
    if (context.target.isPublic) {
      context.isAnonymous = true;
      return undefined;
    }
    context.challenges = authFailure.challenges;
    return authFailure.error;
  }

  function verify(
    context: RequestContext<Identity>,
    check: Check<Identity>,
    credential: string,
  ): MaybePromise<TRPCError | undefined> {
    const { prefix, scheme } = check;
    if (scheme.isAmbient && canChangeState(context) && !passesOriginCheck(allowsCredentials, context)) {
      return reject(context, { error: crossSiteError });
    }
    if (failedAttempts?.wasRejected(prefix + credential)) return fail(context, check, credential);
    try {
      const verified = scheme.verify(credential, context.request);
      // `isThenable`, written out, since every request runs it.
      const { then } = (verified || {}) as Partial<PromiseLike<unknown>>;
      if (typeof then === 'function')
        return verifyLater(context, check, credential, verified as PromiseLike<Identity | Rejected>);
      // '' and 0 reject a credential too.
      return verified
        ? accept(context, check, credential, verified as Identity)
        : fail(context, check, credential);
    } catch (cause) {
      return reject(context, { error: policyError(cause) });
    }
  }

  function verifyLater(
    context: RequestContext<Identity>,
    check: Check<Identity>,
    credential: string,
    pending: PromiseLike<Identity | Rejected>,
  ): Promise<TRPCError | undefined> {
    const lookedUpAt = performance.now();
    return calls.waitForPolicy(Promise.resolve(pending), context).then(
      (verified) =>
        verified
          ? accept(context, check, credential, verified)
          : fail(context, check, credential, lookedUpAt),
      (cause: unknown) => reject(context, { error: policyError(cause) }),
    );
  }

  /** @param lookedUpAt when the verification started; `undefined` if there is no new rejection to remember */
  function fail(
    context: RequestContext<Identity>,
    { invalid, prefix, scheme }: Check<Identity>,
    credential: string,
    lookedUpAt?: number,
  ): MaybePromise<TRPCError | undefined> {
    return mapMaybePromise(
      failedAttempts?.countFailure(context.request, prefix + credential, lookedUpAt, scheme.noun),
      (tooMany) => reject(context, tooMany === undefined ? invalid : { error: tooMany }),
    );
  }

  return {
    admit(context) {
      const { request } = context;
      const source = context.target.credentials ?? request;
      for (const check of checks) {
        const credential = check.scheme.read(source, request);
        if (credential === undefined) continue;
        const { header } = check.scheme;
        // Adapters with sockets read the first header of a name, and a proxy may have checked another.
        return credential === null || (header !== undefined && request.isRepeated?.(header))
          ? reject(context, check.invalid)
          : verify(context, check, credential);
      }
      return reject(context, missing);
    },
  };
}

/** Sets the identity of a request whose credential is valid. */
function accept<Identity>(
  context: RequestContext<Identity>,
  { scheme }: Check<Identity>,
  credential: string,
  identity: Identity,
): undefined {
  context.identity = identity;
  context.credential = credential;
  context.scheme = scheme;
  context.via.authenticated(credential, scheme);
}

/** Whether a request can change state. A WebSocket can, despite its method `GET`. */
const canChangeState = ({ kind, request }: RequestContext): boolean =>
  kind === 'socket' || !safeMethods.has(request.method);

/** Has the challenges of all schemes (RFC 9110 §11.6.1). `invalid`: whose credential was invalid. */
const unauthorized = (message: string, schemes: readonly Scheme[], invalid?: Scheme): AuthFailure => ({
  error: new TRPCError({ code: 'UNAUTHORIZED', message }),
  challenges: schemes.flatMap(
    (scheme) => scheme.challenge(scheme === invalid ? { error: 'invalid_token' } : undefined) ?? [],
  ),
});
