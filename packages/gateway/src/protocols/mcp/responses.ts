import { OutgoingResponse, type Header } from '../../http/response.ts';

export type MessageId = string | number;

const jsonType: readonly Header[] = [['content-type', 'application/json']];

/** Codes of JSON-RPC 2.0 (§5.1) and of MCP (2026-07-28, "Error Codes"). */
export const errorCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** An error of JSON-RPC 2.0 (§5.1). */
interface JsonRpcError {
  /** One of `errorCodes`. */
  readonly code: number;
  readonly message: string;
  readonly data?: object | undefined;
}

/** Writes an error of the protocol. Errors of calls are results. @param id `undefined` if the message has none */
export function errorResponse(status: number, error: JsonRpcError, id?: MessageId): OutgoingResponse {
  const { code, message, data } = error;
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message, data }, id });
  return new OutgoingResponse(status, [], body, jsonType);
}

export const resultMessage = (result: string, id: MessageId): string =>
  `{"jsonrpc":"2.0","result":${result},"id":${JSON.stringify(id)}}`;

export const resultResponse = (result: string, id: MessageId, headers: Header[] = []): OutgoingResponse =>
  new OutgoingResponse(200, headers, resultMessage(result, id), jsonType);

export const messageEvent = (message: string): string => `event: message\ndata: ${message}\n\n`;
