import type { ClientAddress } from './clientAddress.ts';
import type { RequestScope } from './requestScope.ts';
import { unlessItThrows, type ObservedRequest, type Telemetry } from './telemetry.ts';

interface ObserveOptions {
  /** What a path matches, of the protocol that serves it. */
  readonly routeOf: (protocol: ObservedRequest['protocol'], path: string) => string | undefined;
  /** That of `publicUrl`, where it has one. */
  readonly publicScheme: ObservedRequest['scheme'] | undefined;
  readonly clientAddress: ClientAddress;
}

/** Begins to observe requests. */
export const createObserve =
  (telemetry: Telemetry, { clientAddress, publicScheme, routeOf }: ObserveOptions) =>
  (scope: RequestScope): void => {
    const { protocol, request } = scope;
    scope.telemetry = unlessItThrows(() =>
      telemetry.begin({
        request,
        protocol,
        route: routeOf(protocol, request.path),
        scheme: publicScheme ?? request.scheme ?? 'http',
        clientAddress: clientAddress(request),
      }),
    );
  };
