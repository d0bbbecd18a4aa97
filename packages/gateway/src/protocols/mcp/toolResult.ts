// Hot path: an output is encoded once, and its result is concatenated.
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { formatValue } from '../../http/formatValue.ts';
import { isAsyncIterable } from '../../http/response.ts';
import { boundedJson, errorTooLarge, maxErrorBytes, responseTooLarge } from '../../calls/responseBytes.ts';
import { clientMessage, formattedError } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { formatIssues, issuesOf } from '../../procedures/inputError.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { ToolCall } from './tools.ts';

/** What the results of revisions before 2026-07-28 do not have. */
const complete = ',"resultType":"complete"';

/**
 * Writes the result of a call with an output of JSON: as text, and, if it is an object, as structured content.
 * @throws {LimitError} `response-bytes`
 */
export function outputResult(value: unknown, { isCurrent, maxBytes }: ToolCall): string {
  const json = boundedJson(value, maxBytes);
  const end = isCurrent ? `${complete}}` : '}';
  if (json === undefined) return `{"content":[]${end}`;
  // A text stays a text, which a model reads as it is.
  const text = typeof value === 'string' ? json : JSON.stringify(json);
  const structured = json.startsWith('{') ? `,"structuredContent":${json}` : '';
  return `{"content":[{"type":"text","text":${text}}]${structured}${end}`;
}

/** Returns what clients receive of an error: the members of a REST error. */
export function shownError(error: TRPCError, declared: ErrorDefinitions | undefined) {
  const shown = formattedError(error, declared);
  if (shown) return { code: shown.code, message: shown.message, status: shown.status, data: shown.data };
  const issues = issuesOf(error);
  const message = issues.length > 0 ? formatIssues(issues) : clientMessage(error);
  return { code: error.code, message, status: getHTTPStatusCodeFromError(error) };
}

/**
 * Writes the result of a failed call. Clients of revisions before 2026-07-28 compare the structured content even of an
 * error with the output schema (@modelcontextprotocol/sdk 1.32), so for them it is text only.
 * Of data that JSON does not have, the error is recorded, and clients receive a 500.
 */
export function errorResult(shown: object, call: ToolCall, record: { error: unknown }): string {
  const { isCurrent, maxBytes } = call;
  let json: string;
  try {
    json = boundedJson(shown, maxErrorBytes(maxBytes)) as string;
  } catch (cause) {
    const isLarge = cause instanceof LimitError;
    if (!isLarge) record.error = cause;
    const error = isLarge ? errorTooLarge(maxBytes) : new TRPCError({ code: 'INTERNAL_SERVER_ERROR' });
    json = JSON.stringify(shownError(error, undefined));
  }
  const structured = isCurrent ? `,"structuredContent":${json}${complete}` : '';
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"isError":true${structured}}`;
}

/** Whether an output is a `Blob`, or a list of them, which JSON does not have. */
export const isBlobs = (value: unknown): value is Blob | readonly Blob[] =>
  Array.isArray(value)
    ? value.length > 0 && value.every((each) => each instanceof Blob)
    : value instanceof Blob;

/**
 * Writes the result of a call with an output of bytes: images, audio and plain text as such, others as a resource.
 * @throws {TypeError} for an output that is not bytes
 * @throws {LimitError} `response-bytes`
 */
export async function bytesResult(value: unknown, call: ToolCall): Promise<string> {
  const { isCurrent, maxBytes } = call;
  const { contentType = 'application/octet-stream', name } = call.tool;
  const parts = isBlobs(value) ? [value].flat() : [await readBytes(value, maxBytes)];
  const content = await Promise.all(
    parts.map(async (part, index) => {
      const bytes = new Uint8Array(await part.arrayBuffer());
      // The protocol requires the URI of a resource, also of one that nothing serves.
      return contentOf(bytes, part.type || contentType, `tool:${name}/${index}`);
    }),
  );
  return boundedJson({ content, ...(isCurrent && { resultType: 'complete' }) }, maxBytes) as string;
}

async function readBytes(value: unknown, maxBytes: number): Promise<Blob> {
  if (value instanceof Uint8Array) return new Blob([value]);
  if (!isAsyncIterable(value)) throw new TypeError(`A tool of bytes returned ${formatValue(value)}.`);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of value as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    size += chunk.byteLength;
    // Before all of a stream without an end is in memory.
    if (size > maxBytes) throw responseTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return new Blob(chunks);
}

function contentOf(bytes: Uint8Array, type: string, uri: string): object {
  const [mimeType = type] = type.toLowerCase().split(';');
  const [kind = ''] = mimeType.split('/');
  if (mimeType === 'text/plain') return { type: 'text', text: decoder.decode(bytes) };
  if (kind === 'image' || kind === 'audio') return { type: kind, mimeType, data: base64(bytes) };
  const isText = kind === 'text' || /[/+](?:json|xml)$/.test(mimeType);
  const resource = isText ? { text: decoder.decode(bytes) } : { blob: base64(bytes) };
  return { type: 'resource', resource: { uri, mimeType, ...resource } };
}

const decoder = new TextDecoder();

function base64(bytes: Uint8Array): string {
  let binary = '';
  // The number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(binary);
}
