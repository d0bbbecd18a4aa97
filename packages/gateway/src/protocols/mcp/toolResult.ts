// Hot path: an output is encoded once, and its result is concatenated.
import type { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { formatValue } from '../../http/formatValue.ts';
import { isAsyncIterable } from '../../http/response.ts';
import { boundedJson, errorTooLarge, maxErrorBytes } from '../../calls/responseBytes.ts';
import { clientMessage, formattedError } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { formatIssues, issuesOf } from '../../procedures/inputError.ts';
import { LimitError } from '../../procedures/limitError.ts';

/** What tells the results of the current revision apart. */
const complete = ',"resultType":"complete"';

/**
 * Writes the result of a call with an output of JSON: as text, and as structured content. Before 2026-07-28, structured
 * content is an object.
 * @throws {LimitError} `response-bytes`
 */
export function outputResult(value: unknown, isCurrent: boolean, maxBytes: number): string {
  const json = boundedJson(value, maxBytes);
  if (json === undefined) return `{"content":[]${isCurrent ? complete : ''}}`;
  // A text stays a text, which a model reads as it is.
  const text = typeof value === 'string' ? json : JSON.stringify(json);
  const structured = isCurrent || json.startsWith('{') ? `,"structuredContent":${json}` : '';
  return `{"content":[{"type":"text","text":${text}}]${structured}${isCurrent ? complete : ''}}`;
}

/** An error as clients receive it, with the members of a REST error. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  /** The data of a declared error. */
  readonly data: unknown;
}

/** @param declared the errors that the procedure declares */
export function shownError(error: TRPCError, declared: ErrorDefinitions | undefined): ShownError {
  const issues = issuesOf(error);
  return (
    formattedError(error, declared) ?? {
      code: error.code,
      message: issues.length > 0 ? formatIssues(issues) : clientMessage(error),
      status: getHTTPStatusCodeFromError(error),
      data: undefined,
    }
  );
}

/**
 * Writes the result of a failed call. Clients of revisions before 2026-07-28 compare the structured content even of an
 * error with the output schema (@modelcontextprotocol/sdk 1.32), so for them it is text only.
 * @throws an error of its data, which JSON does not have
 */
export function errorResult(
  { code, message, status, data }: ShownError,
  isCurrent: boolean,
  maxBytes: number,
): string {
  let json: string;
  try {
    json = boundedJson({ code, message, status, data }, maxErrorBytes(maxBytes)) as string;
  } catch (cause) {
    if (!(cause instanceof LimitError)) throw cause;
    json = JSON.stringify(shownError(errorTooLarge(maxBytes), undefined));
  }
  const structured = isCurrent ? `,"structuredContent":${json}${complete}` : '';
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"isError":true${structured}}`;
}

/** Whether an output is a `Blob`, or a list of them, which JSON does not have. */
export const isBlobs = (value: unknown): boolean =>
  value instanceof Blob ||
  (Array.isArray(value) && value.length > 0 && value.every((each) => each instanceof Blob));

/**
 * Writes the result of a call with an output of bytes: images, audio and text as such, others as a resource.
 * @param contentType the media type of bytes that have none
 * @throws {TypeError} for an output that is not bytes
 * @throws {LimitError} `response-bytes`
 */
export async function bytesResult(
  value: unknown,
  { contentType = '', isCurrent, maxBytes, uri }: BytesOptions,
): Promise<string> {
  const parts = isBlobs(value) ? ([value].flat() as Blob[]) : [await readBytes(value, maxBytes)];
  const content = await Promise.all(
    parts.map(async (part, index) => {
      const type = part.type || contentType || 'application/octet-stream';
      return contentOf(new Uint8Array(await part.arrayBuffer()), type, index === 0 ? uri : `${uri}/${index}`);
    }),
  );
  return boundedJson({ content, ...(isCurrent && { resultType: 'complete' }) }, maxBytes) as string;
}

interface BytesOptions {
  readonly contentType: string | undefined;
  readonly isCurrent: boolean;
  readonly maxBytes: number;
  readonly uri: string;
}

async function readBytes(value: unknown, maxBytes: number): Promise<Blob> {
  if (value instanceof Uint8Array) return new Blob([value]);
  if (!isAsyncIterable(value)) {
    throw new TypeError(
      `A tool of bytes returned ${formatValue(value)}. Return a Uint8Array, Blob, ReadableStream or AsyncIterable<Uint8Array>.`,
    );
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of value) {
    if (!(chunk instanceof Uint8Array))
      throw new TypeError('A tool of bytes yielded something else. Yield Uint8Array chunks.');
    size += chunk.byteLength;
    // Before all of a stream without an end is in memory.
    if (size > maxBytes) boundedJson('x'.repeat(maxBytes), maxBytes);
    chunks.push(chunk as Uint8Array<ArrayBuffer>);
  }
  return new Blob(chunks);
}

function contentOf(bytes: Uint8Array, type: string, uri: string): object {
  const [mimeType = type] = type.split(';');
  if (/^text\/plain$/i.test(mimeType)) return { type: 'text', text: decoder.decode(bytes) };
  const kind = /^(image|audio)\//i.exec(mimeType)?.[1]?.toLowerCase();
  if (kind !== undefined) return { type: kind, mimeType, data: base64(bytes) };
  const isText = /^text\/|[/+](?:json|xml)$/i.test(mimeType);
  const resource = isText ? { text: decoder.decode(bytes) } : { blob: base64(bytes) };
  return { type: 'resource', resource: { uri, mimeType, ...resource } };
}

const decoder = new TextDecoder();

/** The largest number of arguments of a call is limited. */
const chunkBytes = 0x80_00;

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  }
  return btoa(binary);
}
