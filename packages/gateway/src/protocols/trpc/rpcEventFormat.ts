import { isTrackedEnvelope } from '@trpc/server';
import { isObject } from '../../http/isObject.ts';
import type { EventFormat } from '../../http/serverSentEvents.ts';
import { boundedJson } from '../../policies/responseBytes.ts';

export interface RpcEventFormatOptions {
  /** The transformer's. */
  readonly serialize: (data: unknown) => unknown;
  /** The options for the client (`sse.client`), as JSON. */
  readonly client: string;
  /** The largest event, in bytes; the stream ends with an error in place of a larger one. */
  readonly maxEventBytes: number;
}

/** Server-sent events as tRPC's `sseStreamProducer` (@trpc/server 11.25) writes them. One for each stream. */
export class RpcEventFormat implements EventFormat {
  readonly start: string;
  readonly end = 'event: return\ndata: \n\n\n';
  readonly ping = 'event: ping\ndata: \n\n\n';
  readonly #options: RpcEventFormatOptions;
  readonly #reportError: (cause: unknown) => unknown;
  #lastEventId: string | null;

  /**
   * @param lastEventId the event after which the client reconnects
   * @param reportError reports an error. @returns its shape
   */
  constructor(
    options: RpcEventFormatOptions,
    lastEventId: string | null,
    reportError: (cause: unknown) => unknown,
  ) {
    this.start = `event: connected\ndata: ${options.client}\n\n\n`;
    this.#options = options;
    this.#lastEventId = lastEventId && !/[\0\n\r]/.test(lastEventId) ? lastEventId : null;
    this.#reportError = reportError;
  }

  event(value: unknown): string {
    const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
    const json = boundedJson(this.#options.serialize(data), this.#options.maxEventBytes);
    if (id !== undefined) {
      this.#lastEventId = id;
      return `data: ${json}\nid: ${id}\n\n\n`;
    }
    if (this.#lastEventId === null) return `data: ${json}\n\n\n`;
    return `data: ${json}\nid: \n\n\nevent: restore-id\ndata: \nid: ${this.#lastEventId}\n\n\n`;
  }

  error(cause: unknown): string {
    if (isObject(cause) && cause['name'] === 'AbortError') return '';
    const shape = this.#options.serialize(this.#reportError(cause) ?? null);
    return `event: serialized-error\ndata: ${JSON.stringify(shape)}\n\n\n`;
  }
}
