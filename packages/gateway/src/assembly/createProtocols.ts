import { createCredentialWatch } from '../auth/credentialWatch.ts';
import { createSocketOrigins } from '../auth/origins.ts';
import { mapRejection } from '../calls/mapError.ts';
import { admit } from '../calls/policy.ts';
import type { SharedPolicies } from './createPolicies.ts';
import type { AnyGatewayOptions } from './options.ts';
import { createMessageAdmission } from '../policies/messageAdmission.ts';
import { failureOf } from '../procedures/execute.ts';
import { createRouteOf } from '../protocols/paths.ts';
import type { ProtocolSettings } from '../protocols/protocolSettings.ts';
import type { Protocols } from '../protocols/requestHandler.ts';
import { createErrorResponses } from '../protocols/rest/errorResponse.ts';
import { createReadForm } from '../protocols/rest/readInput.ts';
import { createRestProtocol } from '../protocols/rest/restProtocol.ts';
import { createRouteProtocol } from '../protocols/rest/serveRoutes.ts';
import { eventTimes } from '../protocols/trpc/eventsResponse.ts';
import { trpcOptions, type TrpcSettings } from '../protocols/trpc/options.ts';
import { syncConfig } from '../protocols/trpc/routerConfig.ts';
import { SubscriptionStarts } from '../protocols/trpc/subscriptionStarts.ts';
import { TrpcErrors } from '../protocols/trpc/trpcErrors.ts';
import { createTrpcProtocol } from '../protocols/trpc/trpcProtocol.ts';
import { WebSockets } from '../protocols/trpc/webSockets.ts';
import type { ServedService } from './readService.ts';

/**
 * Creates the protocols, which read requests into calls and encode their outcomes. Each receives what the gateway serves
 * and shares, and what it alone needs.
 */
export function createProtocols(options: AnyGatewayOptions, service: ServedService, shared: SharedPolicies) {
  const { mapError, policies, rateLimit, reportError } = shared;
  const { maskUnexpectedErrors: isMasked = true } = options;
  const { errorFormat, limits, operations, ownOrigin, paths, routes, schemes } = service;
  const { maxResponseSize } = limits;
  const config = syncConfig(options.router);
  const errors = new TrpcErrors(config, { maxResponseSize, isMasked, reportError });
  const { errorResponse, rejectionResponse } = createErrorResponses({
    format: errorFormat,
    maxResponseSize,
    reportError,
    shapeOf: (error) => errors.shapeOf(error, true),
    encodeTrpc: (shape, context) => errors.encode(shape, context).text,
  });

  const settings = {
    ...service,
    ...shared,
    watch: createCredentialWatch(),
    eventTimes: eventTimes(config),
    toError: mapError ?? ((cause) => failureOf(cause).error),
    createContext: mapError ? mapRejection(options.createContext, mapError) : options.createContext,
  } satisfies ProtocolSettings;
  const trpcSettings = {
    ...settings,
    config,
    trpc: trpcOptions(options.trpc, reportError),
    readForm: createReadForm(operations, limits),
    errors,
  } satisfies TrpcSettings;
  const rest = createRestProtocol({ ...settings, spool: options.spool, errorResponse });
  const mcp = service.tools?.protocol({
    ...settings,
    server: { name: options.document.title, version: options.document.version },
    admitMessage: createMessageAdmission(rateLimit, policies.ofService),
  });
  const other = createRouteProtocol(routes, errorResponse);
  const sockets = new WebSockets({
    ...trpcSettings,
    admit: (context) => admit(policies.admittingSockets, context),
    policies: policies.ofService,
    allowsOrigin: createSocketOrigins(options.cors?.origins ?? [], ownOrigin),
    keepAlive: options.sockets?.keepAlive,
    // A credential of the first scheme decides. Connection parameters may replace the credential of another scheme.
    awaitsParameters: (request) => schemes[0]?.read(request, request) === undefined && schemes.length > 0,
    starts: new SubscriptionStarts(limits),
  });
  // Without `mcp`, no path selects it.
  const protocols: Protocols = { rest, trpc: createTrpcProtocol(trpcSettings), mcp: mcp ?? other, other };
  return {
    protocols,
    sockets,
    rejectionResponse,
    /** Returns the route pattern of a path, a label for telemetry. */
    routeOf: createRouteOf(paths, routes, rest.routeOf),
  };
}
