// Hot path: an output is encoded once, and its result is concatenated.
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { maxStringLength } from '../../calls/limits.ts';
import {
  boundedJson,
  isLarger,
  errorTooLarge,
  maxErrorBytes,
  requireBytes,
  tooLarge,
} from '../../calls/responseBytes.ts';
import { clientMessage, formattedError } from '../../procedures/clientError.ts';
import type { ErrorDefinitions } from '../../procedures/declareErrors.ts';
import { formatIssues, issuesOf } from '../../procedures/inputError.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { utf8Length } from '../../http/response.ts';
import { ByteContent } from './byteContent.ts';
import { cutOutput, tooLargeText, type Excess } from './resultLimit.ts';
import type { ToolCall } from './tools.ts';

/** The member that results have since revision 2026-07-28. */
const complete = ',"resultType":"complete"';

/**
 * Writes the result of a call. An output of JSON is text, which every host reads. An output with a schema is structured content
 * too, since clients require that: both count, as they are sent.
 * @throws {LimitError} `response-bytes`
 */
export function outputResult(value: unknown, call: ToolCall, record: CallRecord): string {
  const { isCurrent, tool } = call;
  const { isStructured, maxBytes, maxResponseBytes } = tool.limit;
  const limitedTo = (option: Excess['option'], most: number, bytes: number) =>
    limitedResult(value, { bytes, maxBytes: most, option }, call, record);
  if (value instanceof ByteContent) {
    const { content, text } = value;
    if (isLarger(text, maxBytes)) return limitedTo('maxResultBytes', maxBytes, utf8Length(text));
    return boundedJson({ content, ...(isCurrent && { resultType: 'complete' }) }, maxResponseBytes) as string;
  }
  // A larger output may be cut.
  const json = boundedJson(value, maxStringLength);
  if (json === undefined) return writeResult('[]', '', isCurrent);
  // A text stays a text, which a model reads as it is.
  const shown = typeof value === 'string' ? value : json;
  if (isLarger(shown, maxBytes)) return limitedTo('maxResultBytes', maxBytes, utf8Length(shown));
  const text = typeof value === 'string' ? json : (boundedJson(json, maxStringLength) as string);
  const structured = isStructured && json.startsWith('{') ? `,"structuredContent":${json}` : '';
  // A UTF-16 code unit is 1 to 3 bytes in UTF-8.
  if ((text.length + structured.length) * 3 > maxResponseBytes) {
    const bytes = utf8Length(text) + utf8Length(structured);
    if (bytes > maxResponseBytes) return limitedTo('maxResponseSize', maxResponseBytes, bytes);
  }
  return writeResult(`[{"type":"text","text":${text}}]`, structured, isCurrent);
}

const writeResult = (content: string, structured: string, isCurrent: boolean): string =>
  `{"content":${content}${structured}${isCurrent ? complete : ''}}`;

interface CallRecord {
  error: unknown;
  isResultCut: boolean;
}

/**
 * Writes the result of a call whose output is too large. That of a mutation is no error, unless the tool has an output schema:
 * clients accept nothing else without structured content. Above `maxResponseSize`, it is an error over every protocol, unless
 * it can be cut.
 * @throws {LimitError} `response-bytes`
 */
function limitedResult(value: unknown, excess: Excess, call: ToolCall, record: CallRecord): string {
  const {
    args,
    isCurrent,
    tool: { limit },
  } = call;
  const resultOf = (texts: readonly string[], structured = '') =>
    writeResult(JSON.stringify(texts.map((text) => ({ type: 'text', text }))), structured, isCurrent);
  const cut = cutOutput(value, excess, limit, args);
  if (cut) {
    record.isResultCut = true;
    const [text, sentence, structured] = cut;
    return resultOf([text, sentence], limit.isStructured ? `,"structuredContent":${structured}` : '');
  }
  const message = tooLargeText(excess, limit);
  const { procedure, isStructured } = limit;
  if (procedure.type !== 'mutation' || excess.option === 'maxResponseSize') throw tooLarge(message);
  record.isResultCut = true;
  if (!isStructured) return resultOf([message]);
  return errorResult({ code: 'PAYLOAD_TOO_LARGE', message, status: 413 }, call, record);
}

/** Returns what clients get of an error, as over REST. `wrapper`: the argument before the paths of issues. */
export function shownError(error: TRPCError, declared: ErrorDefinitions | undefined, wrapper?: string) {
  const shown = formattedError(error, declared);
  if (shown) return { code: shown.code, message: shown.message, status: shown.status, data: shown.data };
  const issues = issuesOf(error);
  const message = issues.length > 0 ? formatIssues(issues, wrapper) : clientMessage(error);
  return { code: error.code, message, status: getHTTPStatusCodeFromError(error) };
}

/**
 * Writes the result of a failed call. Clients of revisions before 2026-07-28 compare the structured content even of an
 * error with the output schema (@modelcontextprotocol/sdk 1.32), so for them it is text only.
 * If the data is not JSON, that error is recorded, and clients receive a 500.
 */
export function errorResult(shown: object, call: ToolCall, record: Pick<CallRecord, 'error'>): string {
  const { isCurrent, tool } = call;
  const { maxResponseBytes } = tool.limit;
  const mostBytes = maxErrorBytes(maxResponseBytes);
  const structuredOf = (text: string) => (isCurrent ? `,"structuredContent":${text}${complete}` : '');
  let json: string;
  try {
    json = boundedJson(shown, mostBytes) as string;
    requireBytes(JSON.stringify(json), structuredOf(json), mostBytes);
  } catch (cause) {
    const isLarge = cause instanceof LimitError;
    if (!isLarge) record.error = cause;
    const error = isLarge
      ? errorTooLarge(maxResponseBytes)
      : new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause });
    json = JSON.stringify(shownError(error, undefined));
  }
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"isError":true${structuredOf(json)}}`;
}

/**
 * The `_meta` of a result that an earlier call with the same key has produced. Names should have a prefix in reverse DNS
 * notation (MCP 2026-07-28, "_meta"); this one is that of the project's pages on GitHub.
 */
const replayedMeta = { 'io.github.trpc-gateway/replayed': true };
const replayedEnd = `,"_meta":${JSON.stringify(replayedMeta)}}`;

export const markReplayed = (result: string): string => `${result.slice(0, -1)}${replayedEnd}`;

/**
 * Returns the result of an earlier call as replayed, in the revision of its repeat: clients may be updated in between.
 * `message` is the stored one.
 */
export function replayedResult(message: string, isCurrent: boolean): string {
  const { result } = JSON.parse(message) as { readonly result: StoredResult };
  const { resultType: _resultType, structuredContent, ...others } = result;
  const { content, isError } = others;
  return JSON.stringify({
    ...others,
    structuredContent: isError === true ? errorContent(content, isCurrent) : structuredContent,
    ...(isCurrent && { resultType: 'complete' }),
    _meta: replayedMeta,
  });
}

/** What `outputResult` and `errorResult` write. */
interface StoredResult {
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly resultType?: string;
}

/** Returns the structured content of an error, which `errorResult` writes as text too. */
const errorContent = ([block]: StoredResult['content'], isCurrent: boolean): unknown =>
  isCurrent && block?.text !== undefined ? JSON.parse(block.text) : undefined;
