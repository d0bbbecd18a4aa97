import { OutgoingResponse, type Header } from '../../http/response.ts';
import type { MessageError, MessageId } from './message.ts';

export const jsonType: readonly Header[] = [['content-type', 'application/json']];

export const eventStreamType: readonly Header[] = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];

/** Writes a response message. The id is its last member, so that `withId` finds it. */
export const resultMessage = (result: string, id: MessageId): string =>
  `{"jsonrpc":"2.0","result":${result},"id":${JSON.stringify(id)}}`;

/** Replaces the id of a message that was stored for another request. In a text, the quotes would be escaped. */
export const withId = (message: string, id: MessageId): string =>
  `${message.slice(0, message.lastIndexOf(',"id":'))},"id":${JSON.stringify(id)}}`;

export function messageError({ code, message, status, id, data }: MessageError): OutgoingResponse {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message, data }, id });
  return new OutgoingResponse(status, [], body, jsonType);
}
