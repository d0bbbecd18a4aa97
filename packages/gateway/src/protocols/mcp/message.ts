// Hot path: every request is read here.
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { OutgoingResponse } from '../../http/response.ts';
import { errorCodes, errorResponse, type MessageId } from './responses.ts';

/** The revision without handshake and sessions: each request carries its version and the client's capabilities. */
export const currentVersion = '2026-07-28';
/** Revisions with a handshake, the newest first. They are served without sessions. */
export const olderVersions: readonly string[] = ['2025-11-25', '2025-06-18'];
export const supportedVersions: readonly string[] = [currentVersion, ...olderVersions];

/** The longest id and the longest progress token, in characters: a stream repeats them, and holds them while it is open. */
export const maxIdLength = 256;

/** A request of JSON-RPC. */
export interface Message {
  readonly id: MessageId;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** `params._meta` */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The name and the version that the client declares, as received. In older revisions, only `initialize` has them. */
  readonly clientInfo: unknown;
  /** Whether its revision is `currentVersion`. */
  readonly isCurrent: boolean;
}

/** Reads the message of a request. @returns the response to a notification, and to what is no valid message */
export function readMessage(request: HttpRequest, bytes: Uint8Array): Message | OutgoingResponse {
  let body: unknown;
  try {
    body = JSON.parse(strictUtf8.decode(bytes));
  } catch {
    return errorResponse(400, {
      code: errorCodes.parseError,
      message: 'The body is not valid JSON in UTF-8.',
    });
  }
  const { id, jsonrpc, method, params = {} } = isObject(body) ? body : {};
  // Another number would be sent back as a different one, or its response would match no request.
  const hasId = typeof id === 'string' ? id.length <= maxIdLength : Number.isSafeInteger(id);
  const ownId = hasId ? (id as MessageId) : undefined;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isObject(params) || (!hasId && id !== undefined)) {
    const message =
      'The body must be one message, not a batch: an object with "jsonrpc": "2.0", a method, params that are an object, and an id that is an integer or a string of at most 256 characters.';
    return errorResponse(400, { code: errorCodes.invalidRequest, message }, ownId);
  }
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const header = request.header('mcp-protocol-version');
  const isCurrent =
    meta[versionKey] !== undefined || (header !== undefined && !olderVersions.includes(header));
  const clientInfo = meta[clientInfoKey] ?? params['clientInfo'];
  const message = { id: ownId, method, params, meta, clientInfo, isCurrent };
  const error = isCurrent ? currentError(request, message, header) : undefined;
  if (error) return error;
  // Not a copy, whose type would have the id.
  return ownId === undefined ? new OutgoingResponse(202) : (message as Message);
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const versionKey = 'io.modelcontextprotocol/protocolVersion';
const clientInfoKey = 'io.modelcontextprotocol/clientInfo';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
/** The headers that repeat members of a message. */
const mirrors = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

/**
 * Returns the first problem with the metadata of a message of `currentVersion`, or of an unknown version. The headers that
 * mirror it must say the same as the message: a proxy may have decided by them.
 * @param message without an id, a notification, for which no headers are defined
 */
function currentError(
  request: HttpRequest,
  { id, method, params, meta }: Omit<Message, 'id'> & { readonly id: MessageId | undefined },
  header: string | undefined,
): OutgoingResponse | undefined {
  const reject = (code: number, message: string, data?: object) =>
    errorResponse(400, { code, message, data }, id);
  const claimed = meta[versionKey] ?? header;
  const isKnown = claimed === currentVersion;
  if (claimed !== header && (isKnown || header !== undefined)) {
    return reject(errorCodes.headerMismatch, `MCP-Protocol-Version: must be ${versionKey} of params._meta.`);
  }
  if (!isKnown) {
    // Another value may be nested so deep that it cannot be converted.
    const requested = typeof claimed === 'string' ? claimed.slice(0, 100) : typeof claimed;
    const data = { supported: supportedVersions, requested };
    return reject(errorCodes.unsupportedVersion, 'The protocol version is not supported.', data);
  }
  if (id === undefined) return undefined;
  if (meta[versionKey] === undefined || !isObject(meta[capabilitiesKey])) {
    const message = `params._meta must have ${versionKey}, and ${capabilitiesKey}, an object.`;
    return reject(errorCodes.invalidParams, message);
  }
  const isNamed = method !== 'tools/call' || decodeName(request.header('mcp-name')) === params['name'];
  const isRepeated = mirrors.some((name) => request.isRepeated?.(name));
  if (isNamed && !isRepeated && request.header('mcp-method') === method) return undefined;
  const message = 'Mcp-Method: must be the method, and Mcp-Name: the name of the tool, each sent once.';
  return reject(errorCodes.headerMismatch, message);
}

/** Decodes a header whose value may not be plain ASCII (2026-07-28, "Value Encoding"). */
export function decodeName(header: string | undefined): string | undefined {
  const encoded = header && /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header)?.[1];
  if (encoded === undefined) return header;
  try {
    return strictUtf8.decode(Uint8Array.from(atob(encoded), (unit) => unit.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
