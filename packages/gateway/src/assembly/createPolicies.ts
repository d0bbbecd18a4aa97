import { authenticationPolicy } from '../auth/authentication.ts';
import { crossSitePolicy } from '../auth/crossSite.ts';
import { createFailedAttempts } from '../auth/failedAttempts.ts';
import { createCredentialOrigins, toolOriginPolicy } from '../auth/origins.ts';
import { scopesPolicy } from '../auth/scopes.ts';
import { CallRunner } from '../calls/callRunner.ts';
import { createOutputReport } from '../calls/outputReport.ts';
import { createClientAddress } from '../calls/clientAddress.ts';
import { errorMapper } from '../calls/mapError.ts';
import { requirePolicies } from '../calls/policy.ts';
import { Recorder } from '../calls/recorder.ts';
import type { ReportError } from '../calls/reportError.ts';
import type { Scheme } from '../calls/scheme.ts';
import { clientTimeoutPolicy, type RequestPolicy } from '../calls/requestContext.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import { tryHook } from '../http/hooks.ts';
import type { Operation } from '../operations/operation.ts';
import type { AnyGatewayOptions } from './options.ts';
import { corsPolicy } from '../policies/cors.ts';
import { createIdempotency } from '../policies/idempotency.ts';
import { createRateLimit } from '../policies/rateLimit.ts';
import { arrangePolicies } from '../policies/requestPolicies.ts';
import { securityHeadersPolicy } from '../policies/securityHeaders.ts';
import type { Procedure } from '../procedures/procedure.ts';
import type { ServedService } from './readService.ts';

/** The policies of a gateway, and the state that they share with the protocols. */
export type SharedPolicies = ReturnType<typeof createPolicies>;

/** Creates the policies, in the order in which they run, and the state that all requests share. */
export function createPolicies(
  options: AnyGatewayOptions,
  { limits, operations, ownOrigin, procedures, schemes, scopes }: ServedService,
) {
  const isProtected = schemes.length > 0;
  const mapError = options.mapError && errorMapper(options.mapError);
  const { onError } = options;
  const reportError: ReportError | undefined =
    onError && ((reported) => void tryHook(onError, reported as never));
  const calls = new CallRunner(
    limits,
    options.telemetry !== undefined,
    mapError,
    options.router._def._config.isDev ? createOutputReport() : undefined,
  );
  const clientAddress = createClientAddress(options.trustProxy ?? []);
  const failedAttempts =
    options.failedAttempts && createFailedAttempts(options.failedAttempts, clientAddress, options.state);
  const rateLimit = options.rateLimit && createRateLimit(options.rateLimit, clientAddress, options.state);
  const allowsCredentials = createCredentialOrigins(
    options.cors?.credentials ? options.cors.origins : [],
    ownOrigin,
  );
  // After these, each call takes a place in `calls` and gets a deadline and a span.
  const own: readonly RequestPolicy[] = [
    calls,
    isProtected
      ? authenticationPolicy({ schemes, allowsCredentials, calls, failedAttempts })
      : crossSitePolicy(allowsCredentials),
    ...(scopes.length > 0 ? [scopesPolicy] : []),
    ...(rateLimit ? [rateLimit] : []),
    clientTimeoutPolicy,
    securityHeadersPolicy(isProtected),
    ...(options.cors ? [corsPolicy(options.cors, describedHeaders(operations, schemes))] : []),
  ];
  const ofService = options.policies ?? [];
  requirePolicies(ofService);
  const stored = [...procedures.values()].find(({ isReplayed }) => isReplayed);
  if (stored && !isProtected && !options.idempotency?.caller) requireCaller(stored);
  return {
    policies: arrangePolicies(own, [toolOriginPolicy(options.cors?.origins ?? [], ownOrigin)], ofService),
    /** Runs the calls of all protocols; also the policy for `maxInFlight`. */
    calls,
    clientAddress,
    recorder: new Recorder(options, reportError),
    reportError,
    mapError,
    failedAttempts,
    rateLimit,
    /** `undefined` if no procedure has responses that the gateway stores. */
    idempotency: stored && createIdempotency(options.idempotency ?? {}, limits, calls, options.state),
  };
}

/** Rejects keys of callers known only to `createContext`, which runs too late. @throws {GatewayError} */
function requireCaller({ path }: Procedure): never {
  throw new GatewayError(
    `Procedure "${path}" accepts idempotency keys, but without authentication all clients share theirs, and receive each other's responses. Set idempotency: { caller: ({ request }) => … }, which returns what names the user, such as the value of the session cookie; or () => undefined, if everyone may receive every response.`,
  );
}

/** Returns the response headers of all operations, which CORS exposes automatically. */
const describedHeaders = (
  operations: readonly Operation[],
  schemes: readonly Scheme[],
): readonly string[] => [
  ...operations.flatMap(({ rest }) =>
    Object.keys({ ...rest.responseHeaders?._zod.def.shape, ...rest.headers }),
  ),
  ...(schemes.some(({ protectedResource }) => protectedResource) ? ['WWW-Authenticate'] : []),
];
