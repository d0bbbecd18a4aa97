import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import type { TRPCRequestInfo } from '@trpc/server/http';
import type { Header } from '../../http/response.ts';
import type { EventStreamTimes } from '../../http/serverSentEvents.ts';
import type { Calls } from '../../policies/calls.ts';
import type { Limits } from '../../policies/limits.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import type { TrpcErrorResponse } from './errorResponse.ts';
import type { JsonLinesFormat } from './jsonLines.ts';
import type { RpcOptions } from './options.ts';
import type { TrpcRequest } from './request.ts';
import type { RpcEventFormatOptions } from './rpcEventFormat.ts';

type RouterConfig = AnyTRPCRouter['_def']['_config'];

/** What all requests of a gateway share. */
export interface TrpcSettings {
  readonly config: RouterConfig;
  readonly calls: Calls;
  readonly limits: Limits;
  readonly options: RpcOptions<AnyTRPCRouter>;
  readonly lines: LineSettings;
  readonly events: EventSettings;
  readonly createContext: (scope: RequestScope, request: TrpcRequest, info: TRPCRequestInfo) => unknown;
  /** Watches the credential of a stream while it is sent. @returns ends the watch */
  readonly watch: (scope: RequestScope, onRevoked: () => void) => () => void;
  /** Writes an error outside of all formats. */
  readonly errorResponse: TrpcErrorResponse;
}

/** The router's `jsonl`. */
export interface LineSettings extends JsonLinesFormat {
  readonly headers: readonly Header[];
  readonly pingMs: number | undefined;
}

export function lineSettings(config: RouterConfig, maxLineBytes: number): LineSettings {
  const { contentType = 'application/json', pingMs } = config.jsonl ?? {};
  const { output } = config.transformer;
  return {
    headers: [
      ['content-type', contentType],
      ['vary', 'trpc-accept, accept'],
    ],
    pingMs: pingMs || undefined,
    serialize: output === noTransformer ? undefined : (line) => output.serialize(line),
    maxLineBytes,
  };
}

/** The transformer of a router that names none. */
const noTransformer = initTRPC.create()._config.transformer.output;

/** The router's `sse`. */
export interface EventSettings extends EventStreamTimes, RpcEventFormatOptions {
  readonly isEnabled: boolean;
  readonly endsAfterFirst: boolean;
  /** Why no subscription is served. */
  readonly error: Error | undefined;
}

/** How long streams of events may be quiet, and last, over REST too. */
export function eventTimes({ sse = {} }: RouterConfig): EventStreamTimes {
  const { maxDurationMs, ping: { enabled = false, intervalMs = 1000 } = {} } = sse;
  const isPinging = enabled && intervalMs > 0 && intervalMs !== Infinity;
  return { pingMs: isPinging ? intervalMs : undefined, maxDurationMs };
}

export function eventSettings(config: RouterConfig, maxEventBytes: number): EventSettings {
  const { enabled = true, emitAndEndImmediately = false, client = {}, ping } = config.sse ?? {};
  const { enabled: isPinging = false, intervalMs = 1000 } = ping ?? {};
  const { reconnectAfterInactivityMs } = client;
  const isTooRare =
    isPinging && reconnectAfterInactivityMs !== undefined && intervalMs > reconnectAfterInactivityMs;
  return {
    serialize: (data): unknown => config.transformer.output.serialize(data),
    client: JSON.stringify(client),
    ...eventTimes(config),
    maxEventBytes,
    isEnabled: enabled,
    endsAfterFirst: emitAndEndImmediately,
    error: isTooRare
      ? new Error(
          'Ping interval must be less than client reconnect interval to prevent unnecessary reconnection - ' +
            `ping.intervalMs: ${intervalMs} client.reconnectAfterInactivityMs: ${reconnectAfterInactivityMs}`,
        )
      : undefined,
  };
}
