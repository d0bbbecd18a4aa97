import Negotiator from 'negotiator';
import { GatewayError } from '../checks/gatewayError.ts';
import {
  type ContentCoding,
  type ContentEncoder,
  contentEncoders,
  encodeBody,
} from '../http/contentEncoder.ts';
import type { MaybePromise } from '../http/maybePromise.ts';
import { hasNoBody, isBodyStream, type OutgoingResponse, utf8Length } from '../http/response.ts';
import type { Target } from '../calls/policy.ts';
import type { RequestContext } from '../calls/requestContext.ts';

/** Compresses a response if its client accepts that. It never throws and never rejects. */
export type Compress = (
  context: RequestContext,
  response: OutgoingResponse,
) => MaybePromise<OutgoingResponse>;

/** The least size of a body, in bytes. Smaller ones, except streams, are sent as they are. */
const minSize = 1024;

/** The codings in the order in which they are preferred if the client accepts several equally. */
const preferredCodings: readonly ContentCoding[] = ['zstd', 'br', 'gzip'];
/** Those of streams: brotli takes the most memory while a stream is open. */
const preferredStreamCodings: readonly ContentCoding[] = ['zstd', 'gzip', 'br'];

/** Media types that become smaller. Those of images, audio, video and archives are compressed already. */
const compressibleType =
  /^(?:text\/|image\/(?:bmp|svg\+xml)|font\/[ot]tf|application\/(?:(?:x-)?(?:ndjson|javascript|yaml)|json|jsonl|json-seq|xml|graphql|toml|sql|rtf|wasm|x-www-form-urlencoded|[^;\s]+\+(?:json|xml|yaml|text))(?:[;\s]|$))/i;
const eventStreamType = /^text\/event-stream(?:[;\s]|$)/i;
const noTransform = /(?:^|[\s,])no-transform(?:[\s,]|$)/i;
const variesAlready = /(?:^|[\s,])(?:\*|accept-encoding)(?:[\s,]|$)/i;
/** Headers that describe the bytes of the body: an encoding, a part, or a digest (RFC 9530). */
const bindingHeader = /^(?:content-(?:encoding|range|digest|md5)|(?:repr-)?digest)$/;

/** Compresses (RFC 9110 §8.4) after all policies. @throws {GatewayError} if the runtime has no encoder */
export function createCompression(): Compress {
  const encoders = contentEncoders();
  if (encoders.size === 0) {
    throw new GatewayError(
      'compression needs node:zlib, which this runtime does not have. Leave compression out; on Cloudflare Workers, set the compatibility flag nodejs_compat, or let Cloudflare compress.',
    );
  }
  const wholeCoding = createNegotiation(encoders, preferredCodings);
  const streamCoding = createNegotiation(encoders, preferredStreamCodings);

  return (context, response) => {
    const { body, status } = response;
    if (status === 304) return asCompressed(context, response);
    if (body === undefined || hasNoBody(status) || isSmall(body)) return response;
    const fields = readFields(response);
    if (!mayCompress(context, fields)) return response;
    addVary(response, fields.vary);
    const accepted = context.request.header('accept-encoding');
    if (accepted === undefined) return response;
    const coding = (isBodyStream(body) ? streamCoding : wholeCoding)(accepted);
    const encoder = coding && encoders.get(coding);
    if (!coding || !encoder) return response;
    const finish = (encoded: NonNullable<OutgoingResponse['body']>) => {
      response.body = encoded;
      response.headers.push(['content-encoding', coding]);
      // Ranges of the encoded bytes do not exist.
      if (fields.hasRanges) response.delete('accept-ranges');
      // The same bytes no longer follow from it (RFC 9110 §8.8.3.3). `If-None-Match` compares weakly (§13.1.2).
      if (fields.etag.startsWith('"')) response.header('etag', `W/${fields.etag}`);
      return response;
    };
    const encoded = encodeBody(body, coding, encoder);
    // An encoder fails only if memory is exhausted.
    return encoded instanceof Promise ? encoded.then(finish, () => response) : finish(encoded);
  };
}

/**
 * Gives a 304 the `Vary` and the `ETag` of its 200 (RFC 9110 §15.4.5), as a cache updates its stored response by it
 * (RFC 9111 §4.3.4). Whether that is compressed, only the client knows: it sends back the tag that it got.
 */
function asCompressed(context: RequestContext, response: OutgoingResponse): OutgoingResponse {
  const fields = readFields(response);
  // A 304 need not have the type of its 200.
  fields.type ||= 'text/plain';
  if (!mayCompress(context, fields)) return response;
  addVary(response, fields.vary);
  const weak = `W/${fields.etag}`;
  const isStrong = fields.etag.startsWith('"');
  if (isStrong && context.request.header('if-none-match')?.includes(weak)) response.header('etag', weak);
  return response;
}

const isSmall = (body: NonNullable<OutgoingResponse['body']>): boolean =>
  typeof body === 'string'
    ? body.length < minSize && utf8Length(body) < minSize
    : body instanceof Uint8Array && body.byteLength < minSize;

/** The headers of a response that decide whether it is compressed, or that change if it is. */
interface Fields {
  type: string;
  cacheControl: string;
  vary: string;
  etag: string;
  hasRanges?: boolean;
  setsCookie?: boolean;
  /** Whether a header describes the bytes of the body. */
  isBound?: boolean;
}

function readFields({ headers, sharedHeaders }: OutgoingResponse): Fields {
  const fields: Fields = { type: '', cacheControl: '', vary: '', etag: '' };
  for (const list of [sharedHeaders, headers]) {
    for (const [name, value] of list) {
      const lower = name.toLowerCase();
      if (lower === 'content-type') fields.type ||= value;
      else if (lower === 'cache-control') fields.cacheControl += `,${value}`;
      else if (lower === 'vary') fields.vary += `,${value}`;
      else if (lower === 'etag') fields.etag = value;
      else if (lower === 'accept-ranges') fields.hasRanges = true;
      else if (lower === 'set-cookie') fields.setsCookie = true;
      else fields.isBound ||= bindingHeader.test(lower);
    }
  }
  return fields;
}

/** Whether a response can be compressed for clients that accept it. */
function mayCompress({ target }: RequestContext, fields: Fields): boolean {
  const { procedures } = target;
  const { cacheControl, isBound, setsCookie, type } = fields;
  if (isBound || !compressibleType.test(type)) return false;
  if (procedures.some((procedure) => procedure?.compression === false)) return false;
  // A cookie is a secret beside what a client may have chosen (BREACH).
  if (setsCookie && !isAllowed(procedures)) return false;
  // It forbids proxies to compress (RFC 9111 §5.2.2.6), as they would buffer events. Here, each event is sent at once.
  return !noTransform.test(cacheControl) || eventStreamType.test(type);
}

/** Whether all procedures allow to compress what may be secret. */
const isAllowed = (procedures: Target['procedures']) =>
  procedures.length > 0 && procedures.every((procedure) => procedure?.compression === true);

/** Adds `Vary: Accept-Encoding` (RFC 9110 §12.5.5), to an existing `Vary` unless other responses share that. */
function addVary({ headers }: OutgoingResponse, vary: string): void {
  if (variesAlready.test(vary)) return;
  const at = vary === '' ? -1 : headers.findIndex(([name]) => name.toLowerCase() === 'vary');
  if (at === -1) headers.push(['vary', 'Accept-Encoding']);
  else headers[at] = ['vary', `${headers[at]?.[1]}, Accept-Encoding`];
}

interface Preferring {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[];
}

/** The most values of `Accept-Encoding` that are remembered, and their maximum length: there are few, and clients choose them. */
const maxRemembered = 100;
const maxRememberedLength = 100;

/** Creates the function that chooses the coding for an `Accept-Encoding` (RFC 9110 §12.5.3); `undefined` is none. */
function createNegotiation(
  encoders: ReadonlyMap<ContentCoding, ContentEncoder>,
  preferred: readonly ContentCoding[],
): (accepted: string) => ContentCoding | undefined {
  const available = [...preferred.filter((coding) => encoders.has(coding)), 'identity'];
  const remembered = new Map<string, ContentCoding | undefined>();
  return (accepted) => {
    if (remembered.has(accepted)) return remembered.get(accepted);
    // A recipient treats x-gzip as gzip (§8.4.1.3).
    const value = accepted.toLowerCase().replaceAll('x-gzip', 'gzip');
    // The types of negotiator 0.6 lack `preferred`, by which 1.0 sorts what the client accepts equally.
    const negotiator = new Negotiator({ headers: { 'accept-encoding': value } }) as unknown as Preferring;
    const [first] = negotiator.encodings(available, { preferred: available });
    const coding = preferred.find((each) => each === first);
    if (remembered.size < maxRemembered && accepted.length <= maxRememberedLength) {
      remembered.set(accepted, coding);
    }
    return coding;
  };
}
