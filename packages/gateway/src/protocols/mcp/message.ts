// Hot path: every request is read here.
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';

/** The revision without handshake and sessions: each request carries its version and the client's capabilities. */
export const currentVersion = '2026-07-28';
/** Revisions with a handshake, the newest first. They are served without sessions. */
export const olderVersions = ['2025-11-25', '2025-06-18'] as const;
export const supportedVersions: readonly string[] = [currentVersion, ...olderVersions];

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

export type MessageId = string | number;

/** A request of JSON-RPC. */
export interface Message {
  readonly id: MessageId;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether its revision is `currentVersion`. */
  readonly isCurrent: boolean;
}

/** An error of the protocol. Those of calls are results. */
export class MessageError {
  readonly code: number;
  readonly message: string;
  readonly status: number;
  readonly id: MessageId | undefined;
  readonly data: object | undefined;

  /** @param id `undefined` if the message has none that could be read */
  constructor(code: number, message: string, status = 400, id?: MessageId, data?: object) {
    this.code = code;
    this.message = message;
    this.status = status;
    this.id = id;
    this.data = data;
  }
}

const prefix = 'io.modelcontextprotocol/';
/** The headers that mirror a message. */
const mirrors = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/**
 * Reads the message of a request, and checks that the headers that mirror it say the same: a proxy may have decided by
 * them.
 * @param text the body
 * @returns `undefined` for a notification, which has no response
 */
export function readMessage(request: HttpRequest, text: string): Message | MessageError | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return new MessageError(errorCodes.parseError, 'The body is not valid JSON.');
  }
  if (!isObject(body)) {
    return new MessageError(
      errorCodes.invalidRequest,
      Array.isArray(body)
        ? 'The body is a batch; send each message in a request of its own.'
        : 'The body is not a JSON-RPC message, which is an object.',
    );
  }
  const { id, jsonrpc, method, params = {} } = body;
  const hasId = isId(id);
  if (jsonrpc !== '2.0' || typeof method !== 'string' || !isObject(params) || (!hasId && 'id' in body)) {
    return new MessageError(
      errorCodes.invalidRequest,
      'The message must have "jsonrpc": "2.0", a method, an id that is a string or an integer, and params that are an object, if any.',
      400,
      hasId ? id : undefined,
    );
  }
  const { _meta: meta } = params;
  const claimed = isObject(meta) ? meta[`${prefix}protocolVersion`] : undefined;
  const header = request.header('mcp-protocol-version');
  const isOlder = claimed === undefined && (header === undefined || isOlderVersion(header));
  const error = isOlder
    ? undefined
    : currentError(request, {
        id: hasId ? id : undefined,
        method,
        params,
        meta,
        claimed,
        header,
      });
  if (error) return error;
  return hasId ? { id, method, params, isCurrent: !isOlder } : undefined;
}

/** Another number would be sent back as a different one, or its response would match no request. */
const isId = (id: unknown): id is MessageId => typeof id === 'string' || Number.isSafeInteger(id);

const isOlderVersion = (version: string) => (olderVersions as readonly string[]).includes(version);

interface CurrentMessage {
  /** `undefined` for a notification. */
  readonly id: MessageId | undefined;
  readonly method: string;
  readonly params: Message['params'];
  readonly meta: unknown;
  readonly claimed: unknown;
  readonly header: string | undefined;
}

/** Returns the first problem with the metadata of a message of `currentVersion`, or of an unknown version. */
function currentError(
  request: HttpRequest,
  { id, method, params, meta, claimed, header }: CurrentMessage,
): MessageError | undefined {
  const problem = (code: number, message: string, data?: object) =>
    new MessageError(code, message, 400, id, data);
  const mismatch = (name: string, expected: string) =>
    problem(
      errorCodes.headerMismatch,
      `${name}: must be in the head of the request once, as ${expected} says.`,
    );
  if (claimed !== undefined && typeof claimed !== 'string') {
    return problem(errorCodes.invalidParams, `${prefix}protocolVersion in params._meta must be a string.`);
  }
  const isTwice = mirrors.find((name) => request.isRepeated?.(name));
  if (isTwice !== undefined) return mismatch(isTwice, 'the body');
  if (claimed !== undefined && header !== claimed && (header !== undefined || claimed === currentVersion)) {
    return mismatch('MCP-Protocol-Version', 'params._meta');
  }
  const requested = header ?? claimed;
  if (requested !== currentVersion) {
    return problem(errorCodes.unsupportedVersion, 'The protocol version is not supported.', {
      supported: supportedVersions,
      requested,
    });
  }
  // This revision defines no header for notifications.
  if (id === undefined) return undefined;
  const capabilities = isObject(meta) ? meta[`${prefix}clientCapabilities`] : undefined;
  if (claimed === undefined || !isObject(capabilities)) {
    return problem(
      errorCodes.invalidParams,
      `params._meta must have ${prefix}protocolVersion, and ${prefix}clientCapabilities as an object.`,
    );
  }
  if (request.header('mcp-method') !== method) return mismatch('Mcp-Method', 'method');
  if (method === 'tools/call' && decodeName(request.header('mcp-name')) !== params['name']) {
    return mismatch('Mcp-Name', 'params.name');
  }
  return undefined;
}

const encodedName = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Decodes a header whose value may not be plain ASCII (2026-07-28, "Value Encoding"). */
export function decodeName(header: string | undefined): string | undefined {
  const encoded = header === undefined ? undefined : encodedName.exec(header)?.[1];
  if (encoded === undefined) return header;
  try {
    return strictUtf8.decode(Uint8Array.from(atob(encoded), (unit) => unit.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns the text of a body; `undefined` if it is not valid UTF-8. */
export function decodeBody(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}
