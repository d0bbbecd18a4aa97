import { getErrorShape, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import type { ResponseMeta, ResponseMetaFn } from '@trpc/server/http';
import type { Answer } from '../http/answer.ts';
import { isWritableHeader } from '../http/headers.ts';
import type { ProcedureDefinition } from '../procedures/procedures.ts';
import type { Reply } from '../procedures/reply.ts';

/** What a REST call came to: an output, an error, or a stream that begins. */
interface RestOutcome {
  readonly path: string;
  /** `undefined` where the call failed before it was made. */
  readonly ctx: unknown;
  readonly output?: unknown;
  readonly error?: TRPCError;
  readonly isStream?: boolean;
}

/** Applies `rpc.responseMeta` to the answer of a REST call. What that throws is thrown. */
export type RestResponseMeta = (answer: Answer, outcome: RestOutcome) => Answer;

/** `responseMeta` is given over REST what tRPC gives it; `info`, of which there is none, is undefined. */
export function createRestResponseMeta<Router extends AnyTRPCRouter>(
  { _def: { _config: config } }: Router,
  definitions: readonly ProcedureDefinition[],
  responseMeta: ResponseMetaFn<Router>,
): RestResponseMeta {
  const types = new Map(definitions.map(({ path, type }) => [path, type]));
  return (answer, { path, ctx, output, error, isStream = false }) => {
    const type = types.get(path) ?? 'unknown';
    const result = error
      ? { error: getErrorShape({ config, ctx: ctx as never, error, input: undefined, path, type }) }
      : { result: { data: output } };
    const meta = responseMeta({
      ctx,
      paths: [path],
      info: undefined,
      type,
      data: isStream ? [] : [result],
      errors: error ? [error] : [],
      eagerGeneration: isStream,
    });
    for (const [name, value, isReplacing] of headersOf(meta)) {
      // Checked here: the adapter would answer 500 after the record of the request has the status of this answer.
      if (!isWritableHeader([name, value])) {
        throw new TypeError(
          `rpc.responseMeta returned an invalid header ${JSON.stringify(name)} for procedure "${path}". ` +
            'Return a valid name, a value without line breaks and NUL, and no Content-Length, Connection or Transfer-Encoding.',
        );
      }
      if (isReplacing || name === 'content-type') {
        const isOther = ([other]: readonly [string, string]) => other.toLowerCase() !== name;
        answer.sharedHeaders = answer.sharedHeaders.filter(isOther);
        answer.headers = answer.headers.filter(isOther);
      }
      answer.headers.push([name, value]);
    }
    if (meta.status !== undefined) {
      answer.status = meta.status;
      if (bodiless.has(meta.status)) answer.body = undefined;
    }
    return answer;
  };
}

/** RFC 9110 §6.4.1 */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** The headers, and whether each replaces others of its name: as tRPC has it, one string for a name does. */
function* headersOf({
  headers,
}: ResponseMeta): Generator<[name: string, value: string, isReplacing: boolean]> {
  if (headers instanceof Headers) {
    for (const [name, value] of headers) yield [name, value, false];
    return;
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (Array.isArray(value)) for (const one of value) yield [name.toLowerCase(), one, false];
    else if (typeof value === 'string') yield [name.toLowerCase(), value, true];
  }
}

/** What procedures say in `reply`, as a `responseMeta` for tRPC, with what the router's own says: that wins. */
export function withReply<Router extends AnyTRPCRouter>(
  responseMeta: ResponseMetaFn<Router> | undefined,
  reply: Reply,
): ResponseMetaFn<Router> {
  return (outcome) => {
    const meta = responseMeta?.(outcome) ?? {};
    const isSingle = outcome.info?.isBatchCall === false && !outcome.eagerGeneration;
    const status = meta.status ?? (isSingle && outcome.errors.length === 0 ? rpcStatus(reply) : undefined);
    const said = rpcHeaders(reply);
    const others = status === undefined ? {} : { status };
    if (said.length === 0) return { ...meta, ...others };
    const headers: Record<string, string | string[]> = {};
    for (const [name, value, isReplacing] of [...said.map(asAdded), ...headersOf(meta)]) {
      headers[name] = isReplacing ? value : [...[headers[name] ?? []].flat(), value];
    }
    return { headers, ...others };
  };
}

const asAdded = ([name, value]: readonly [string, string]) => [name, value, false] as const;

/** Headers of a tRPC answer: its body is always JSON, whatever type the procedure's output has over REST. */
export const rpcHeaders = ({ headers }: Reply): readonly (readonly [string, string])[] =>
  headers.length === 0 ? headers : headers.filter(([name]) => name !== 'content-type');

/** The status of a tRPC answer; `undefined` where it could not carry the envelope that clients read: a redirect, 204. */
export const rpcStatus = ({ status }: Reply): number | undefined =>
  status !== undefined && status >= 200 && status <= 299 && !bodiless.has(status) ? status : undefined;
