import type { ClientAddress } from './clientAddress.ts';
import type { RequestScope } from './requestScope.ts';
import { ignoreErrors, type ObservedRequest, type Telemetry } from './telemetry.ts';

interface ObserveOptions {
  /** Returns the route that a path matches. */
  readonly routeOf: (protocol: ObservedRequest['protocol'], path: string) => string | undefined;
  /** The scheme of `publicUrl`, if it is set. */
  readonly publicScheme: ObservedRequest['scheme'] | undefined;
  readonly clientAddress: ClientAddress;
}

/** Creates the function that starts the telemetry of a request. */
export const createObserve =
  (telemetry: Telemetry, { clientAddress, publicScheme, routeOf }: ObserveOptions) =>
  (scope: RequestScope): void => {
    const { protocol, request } = scope;
    scope.telemetry = ignoreErrors(() =>
      telemetry.begin({
        request,
        protocol,
        route: routeOf(protocol, request.path),
        scheme: publicScheme ?? request.scheme ?? 'http',
        clientAddress: clientAddress(request),
      }),
    );
  };
