// Hot path: every request of a gateway with `authentication` runs through it.
import { TRPCError } from '@trpc/server';
import { mapMaybePromise, isThenable, type MaybePromise } from '../http/maybePromise.ts';
import { isObject } from '../http/isObject.ts';
import { someHeader, type HttpRequest } from '../http/request.ts';
import { formatValue } from '../http/formatValue.ts';
import { clientError } from '../procedures/clientError.ts';
import { Failure, failureOf } from '../procedures/execute.ts';
import { GatewayError } from '../http/gatewayError.ts';
import type { Calls } from '../calls/calls.ts';
import { CallContext, type RequestPolicy, type RequestContext } from '../calls/requestContext.ts';
import type { FailedAttempts } from './failedAttempts.ts';
import { passesOriginCheck } from './origins.ts';
import { safeMethods, type SameSite } from './sameSite.ts';
import type { HeaderSource, Rejected, Scheme } from '../calls/scheme.ts';

export interface AuthenticationOptions<Identity> {
  /** The schemes, in the order in which they are tried. */
  readonly schemes: readonly Scheme<Identity>[];
  readonly isSameSite: SameSite;
  readonly calls: Calls;
  readonly failedAttempts: FailedAttempts | undefined;
}

/** The error for a missing or rejected credential, and the `WWW-Authenticate` headers of a 401. */
interface AuthFailure {
  readonly error: TRPCError;
  readonly challenges?: readonly string[];
}

/**
 * Validates the option `authentication` and returns its schemes.
 * @throws {GatewayError} for a value that is not a scheme, for an empty list, for two schemes that read the same
 *   credential, and for invalid or duplicate names
 */
export function schemesOf<Identity>(
  authentication: Scheme<Identity> | readonly Scheme<Identity>[] | undefined,
): readonly Scheme<Identity>[] {
  if (authentication === undefined) return [];
  const schemes = [authentication].flat() as readonly Scheme<Identity>[];
  if (schemes.length === 0) {
    throw new GatewayError(
      'authentication is an empty list. Add a scheme, or remove the option if no credential is required.',
    );
  }
  for (const scheme of schemes as readonly unknown[]) {
    if (isScheme(scheme)) continue;
    const actual = Array.isArray(authentication)
      ? `has ${formatValue(scheme)} in its list`
      : `is ${formatValue(scheme)}`;
    throw new GatewayError(
      `authentication ${actual}; it must be a scheme, or a list of schemes, such as authentication: bearer({ verify: (token) => users.get(token) }).`,
    );
  }
  const names = new Set<string>();
  const readers = new Map<string, string>();
  for (const { name, reads } of schemes) {
    const first = reads === undefined ? undefined : readers.get(reads);
    if (first !== undefined) {
      throw new GatewayError(
        `The schemes "${first}" and "${name}" both read ${reads}, so the second is never used. Use one scheme whose verify accepts the credentials of both.`,
      );
    }
    if (reads !== undefined) readers.set(reads, name);
    // OpenAPI 3.1 §4.8.7.1
    if (!/^[\w.-]+$/.test(name)) {
      throw new GatewayError(
        `authentication has a scheme named "${name}"; its name must contain only letters, digits, ".", "_" and "-".`,
      );
    }
    if (names.has(name)) {
      throw new GatewayError(
        `authentication has two schemes named "${name}". Give one of them another name, such as name: "${name}2".`,
      );
    }
    names.add(name);
  }
  return schemes;
}

const isScheme = (value: unknown) =>
  isObject(value) && typeof value['read'] === 'function' && typeof value['verify'] === 'function';

/**
 * Checks that the schemes are safe with uWebSockets.js, whose parser takes bytes outside ASCII around a header value
 * for white space.
 * @throws {GatewayError} for a scheme with `needsExactHeaders`
 */
export function allowInexactHeaders(schemes: readonly Scheme[]): void {
  const scheme = schemes.find(({ needsExactHeaders }) => needsExactHeaders);
  if (scheme === undefined) return;
  throw new GatewayError(
    `The scheme "${scheme.name}" reads ${scheme.reads}, but uWebSockets.js removes bytes outside ASCII at the start of a header, so a sibling subdomain could set this cookie by another name. Serve the gateway with @petstore/gateway/node, or let a proxy reject such Cookie headers and set proxyRejectsNonAscii: true in cookie().`,
  );
}

/** Returns the scheme that decides on a request: the first one that finds a credential, valid or malformed. */
export function schemeIn(
  schemes: readonly Scheme[],
  source: HeaderSource,
  request: HttpRequest,
): Scheme | undefined {
  return schemes.find((scheme) => scheme.read(source, request) !== undefined);
}

/**
 * Creates the policy that verifies the credential of a request, using the first scheme that finds one. A pending
 * verification counts as a call and has the same timeout. Without a valid credential, a public operation is served as
 * anonymous.
 */
export function authenticationPolicy<Identity>({
  schemes,
  isSameSite,
  calls,
  failedAttempts,
}: AuthenticationOptions<Identity>): RequestPolicy<Identity> {
  const missing: AuthFailure = {
    error: new TRPCError({
      code: 'UNAUTHORIZED',
      message: `A credential is required: send ${schemes.map(({ usage }) => usage).join(' or ')}.`,
    }),
    challenges: challengesOf(schemes),
  };
  const checks = checksOf(schemes);
  type Check = (typeof checks)[number];

  function reject(context: RequestContext<Identity>, authFailure: AuthFailure): TRPCError | undefined {
    if (context.target.isPublic) {
      context.isAnonymous = true;
      return undefined;
    }
    context.challenges = authFailure.challenges;
    return authFailure.error;
  }

  function rejectCredential(
    context: RequestContext<Identity>,
    { invalid, prefix, scheme }: Check,
    credential: string,
    lookedUpAt?: number,
  ): MaybePromise<TRPCError | undefined> {
    const counted = failedAttempts?.count(context.request, prefix + credential, lookedUpAt, scheme.noun);
    return mapMaybePromise(counted, (tooMany) =>
      reject(context, tooMany === undefined ? invalid : { error: tooMany }),
    );
  }

  function verify(
    context: RequestContext<Identity>,
    check: Check,
    credential: string,
  ): MaybePromise<TRPCError | undefined> {
    const { request } = context;
    const { prefix, scheme } = check;
    // A WebSocket can change state despite its method `GET`.
    const canChange = context.kind === 'socket' || !safeMethods.has(request.method);
    if (scheme.isAmbient && canChange && !passesOriginCheck(isSameSite, context))
      return reject(context, crossSite);
    if (failedAttempts?.isKnown(prefix + credential)) {
      return rejectCredential(context, check, credential);
    }
    try {
      const verified = scheme.verify(credential, request);
      if (!isThenable<Identity | Rejected>(verified)) return decide(verified);
      const lookedUpAt = performance.now();
      return new Promise((resolve) => {
        // A separate context: the call has its full timeout afterwards.
        calls.wait(verified, new CallContext(request), (outcome) => {
          resolve(
            outcome instanceof Failure
              ? reject(context, { error: clientError(outcome.error) })
              : decide(outcome as Identity | Rejected, lookedUpAt),
          );
        });
      });
    } catch (cause) {
      return reject(context, { error: clientError(failureOf(cause).error) });
    }

    function decide(identity: Identity | Rejected, lookedUpAt?: number): MaybePromise<TRPCError | undefined> {
      // '' and 0 reject a credential too.
      if (!identity) return rejectCredential(context, check, credential, lookedUpAt);
      context.identity = identity;
      context.credential = credential;
      context.scheme = scheme;
      return undefined;
    }
  }

  return {
    admit(context) {
      const { request } = context;
      const source = context.target.credentials ?? request;
      for (const check of checks) {
        const credential = check.scheme.read(source, request);
        if (credential === undefined) continue;
        const { header } = check.scheme;
        const isRepeated =
          header !== undefined && (request.isRepeated?.(header) ?? occursTwice(request, header));
        return credential === null || isRepeated
          ? reject(context, check.invalid)
          : verify(context, check, credential);
      }
      return reject(context, missing);
    },
  };
}

const crossSite: AuthFailure = {
  error: new TRPCError({
    code: 'FORBIDDEN',
    message: "Pages of other sites are not allowed to send requests with their visitors' credentials.",
  }),
};

/** Returns what is known of each scheme before a request arrives. */
const checksOf = <Identity>(schemes: readonly Scheme<Identity>[]) =>
  schemes.map((scheme, index) => ({
    scheme,
    // Schemes must not share remembered rejections.
    prefix: index === 0 ? '' : `${scheme.name}\0`,
    invalid: {
      error: new TRPCError({ code: 'UNAUTHORIZED', message: `The ${scheme.noun} is not valid.` }),
      challenges: challengesOf(schemes, scheme),
    } satisfies AuthFailure,
  }));

/**
 * Whether a header occurs twice. Adapters with sockets read the first one, and a proxy may have checked another.
 */
function occursTwice(request: HttpRequest, header: string): boolean {
  let count = 0;
  return someHeader(request, (name) => name === header && (count += 1) > 1);
}

/**
 * Returns the challenges of all schemes (RFC 9110 §11.6.1).
 * @param invalid the scheme whose credential was invalid
 */
const challengesOf = (schemes: readonly Scheme[], invalid?: Scheme): readonly string[] =>
  schemes.flatMap(
    (scheme) => scheme.challenge(scheme === invalid ? { error: 'invalid_token' } : undefined) ?? [],
  );
