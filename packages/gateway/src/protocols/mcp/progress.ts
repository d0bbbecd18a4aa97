import { isTrackedEnvelope } from '@trpc/server';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import type { EventFormat } from '../../http/serverSentEvents.ts';
import { boundedJson } from '../../calls/responseBytes.ts';

/** Formats a message as a server-sent event. */
export const messageEvent = (message: string): string => `event: message\ndata: ${message}\n\n`;

interface ProgressOptions {
  /** The token of `params._meta.progressToken`, with which the client asks for progress. */
  readonly token: unknown;
  readonly maxBytes: number;
  readonly parseEvent: (event: unknown) => unknown;
  /** Returns the response to a call whose subscription has ended. @param last its last value */
  readonly response: (last: unknown) => string;
  /** Reports an error and returns the response. */
  readonly errorResponse: (cause: unknown) => string;
  readonly revoked: () => string;
}

/**
 * Creates the format of the stream of a subscription: each value is progress, if the client asks for it, and the last one
 * is the result.
 */
export function progressFormat(options: ProgressOptions): EventFormat {
  const { errorResponse, maxBytes, parseEvent, response, revoked, token } = options;
  const isAsked = typeof token === 'string' || Number.isSafeInteger(token);
  let last: unknown;
  let progress = 0;
  return {
    // A comment: uWebSockets.js sends the head only with the first bytes of the body.
    start: ':\n\n',
    ping: ':\n\n',
    get end() {
      return messageEvent(response(last));
    },
    event: (value) =>
      mapMaybePromise(parseEvent(isTrackedEnvelope(value) ? value[1] : value), (data) => {
        last = data;
        progress += 1;
        if (!isAsked) return '';
        const message = typeof data === 'string' ? data : boundedJson(data, maxBytes);
        const params = { progressToken: token, progress, message };
        return messageEvent(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
      }),
    error: (cause) => messageEvent(errorResponse(cause)),
    revoked: () => messageEvent(revoked()),
  };
}
