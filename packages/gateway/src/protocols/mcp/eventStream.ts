import { TRPCError } from '@trpc/server';
import { eventStreamHeaders } from '../../http/eventSource.ts';
import { isTrackedEnvelope } from '../../http/trackedEnvelope.ts';
import { isObject } from '../../http/isObject.ts';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import { OutgoingResponse } from '../../http/response.ts';
import type { EventFormat } from '../../http/serverSentEvents.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { maxIdLength, type Message } from './message.ts';
import { errorCodes, errorResponse, messageEvent, resultMessage } from './responses.ts';
import type { ToolCall } from './tools.ts';

/** The error of a call that the server cuts at the deadline of its stop. */
export const stoppedError = new TRPCError({
  code: 'SERVICE_UNAVAILABLE',
  message:
    'The server stopped before the call was complete. Which part of it has run is unknown. Another call starts from the beginning.',
});

/**
 * Formats a subscription's stream: each value is progress, if the client asks for it, the last one the result.
 * `results` has the result after the last value, and those of errors.
 */
export function progressFormat(
  { id, meta, tool }: ToolCall,
  results: {
    end(last: unknown): string;
    error(cause: unknown): string;
    revoked(): string;
    expired(): string;
  },
): EventFormat {
  const { progressToken } = meta;
  const { maxResponseBytes } = tool.limit;
  const isAsked =
    typeof progressToken === 'string'
      ? progressToken.length <= maxIdLength
      : Number.isSafeInteger(progressToken);
  let last: unknown;
  let progress = 0;
  return {
    // A comment: uWebSockets.js sends the head only with the first bytes of the body.
    start: ':\n\n',
    ping: ':\n\n',
    get end() {
      return messageEvent(resultMessage(results.end(last), id));
    },
    event: (value) =>
      mapMaybePromise(tool.parseEvent(isTrackedEnvelope(value) ? value[1] : value), (data) => {
        last = data;
        progress += 1;
        if (!isAsked) return '';
        const message = typeof data === 'string' ? data : boundedJson(data, maxResponseBytes);
        const params = { progressToken, progress, message };
        const notification = { jsonrpc: '2.0', method: 'notifications/progress', params };
        return messageEvent(boundedJson(notification, maxResponseBytes) as string);
      }),
    error: (cause) => messageEvent(resultMessage(results.error(cause), id)),
    revoked: () => messageEvent(resultMessage(results.revoked(), id)),
    expired: () => messageEvent(resultMessage(results.expired(), id)),
  };
}

/** Responds to `subscriptions/listen` with a stream that acknowledges and ends: the tools never change. */
export function listen({ id, params }: Message): OutgoingResponse {
  if (!isObject(params['notifications'])) {
    const error = { code: errorCodes.invalidParams, message: 'params.notifications must be an object.' };
    return errorResponse(200, error, id);
  }
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  const method = 'notifications/subscriptions/acknowledged';
  const acknowledgement = { jsonrpc: '2.0', method, params: { notifications: {}, _meta } };
  const end = resultMessage(JSON.stringify({ resultType: 'complete', _meta }), id);
  const text = messageEvent(JSON.stringify(acknowledgement)) + messageEvent(end);
  return new OutgoingResponse(200, [], text, eventStreamHeaders);
}
