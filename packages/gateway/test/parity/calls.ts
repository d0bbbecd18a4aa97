import type { Gateway } from 'trpc-gateway';
import { currentHeaders, currentMeta } from '../mcp/messages.ts';
import { richMeta, type RichProcedure } from './richRouter.ts';

/** The data of a call as JSON, so that `-0`, the order of members and `__proto__` are compared too, or its error. */
export type Outcome = { readonly data: string } | { readonly code: string; readonly status: number };

/** Calls a procedure. `undefined` if the protocol cannot express the input. */
export type Call = (procedure: RichProcedure, input: unknown) => Promise<Outcome> | undefined;

// ES2025 "JSON.parse source text access": in V8 since Node 21, not yet in TypeScript's library.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** Returns the JSON text that `JSON.parse` reads as this value. `JSON.stringify` alone writes `-0` as `0`. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (Object.is(member, -0) ? rawJSON('-0') : member));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What tRPC sends. */
interface Envelope {
  readonly result?: { readonly data?: unknown };
  readonly error?: { readonly data: { readonly code: string; readonly httpStatus: number } };
}

/** Returns the outcome of tRPC's envelope. */
export function envelopeOutcome({ error, result }: Envelope): Outcome {
  return error ? { code: error.data.code, status: error.data.httpStatus } : { data: jsonText(result?.data) };
}

/** Returns the calls of a gateway over each protocol, in process: without a socket, thousands of calls take seconds. */
export function callsOf({ fetch }: Gateway): Readonly<Record<string, Call>> {
  const send = async (method: string, target: string, body?: string, headers: object = {}) => {
    const init = { method, headers: { 'content-type': 'application/json', ...headers }, body };
    const response = await fetch(`http://localhost${target}`, init);
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  const trpc =
    (isBatch: boolean): Call =>
    async (procedure, input) => {
      const own = input === undefined ? '' : jsonText(input);
      const text = isBatch ? (own === '' ? '{}' : `{"0":${own}}`) : own;
      const target = `/trpc/${procedure}${isBatch ? '?batch=1' : ''}`;
      const query = text === '' ? '' : `${isBatch ? '&' : '?'}input=${encodeURIComponent(text)}`;
      const { body, status } = await (procedure === 'search'
        ? send('GET', `${target}${query}`)
        : send('POST', target, text));
      const outcome = envelopeOutcome((isBatch ? (body as readonly unknown[])[0] : body) as Envelope);
      if ('status' in outcome && outcome.status !== status) {
        throw new Error(`tRPC answered ${status} with httpStatus ${outcome.status}.`);
      }
      return outcome;
    };
  const tool =
    (isCurrent: boolean): Call =>
    (procedure, input) => {
      // Arguments are an object.
      if (!isObject(input)) return undefined;
      const meta = isCurrent ? `,"_meta":${JSON.stringify(currentMeta)}` : '';
      const params = `{"name":"${procedure}","arguments":${jsonText(input)}${meta}}`;
      const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
      return send('POST', '/mcp', message, isCurrent ? currentHeaders('tools/call', procedure) : {}).then(
        ({ body }) => toolOutcome(body as ToolMessage),
      );
    };
  return {
    trpc: trpc(false),
    batch: trpc(true),
    rest: (procedure, input) =>
      restRequest(procedure, input, send)?.then(({ body, status }): Outcome => {
        if (status === 204) return { data: 'undefined' };
        return status < 300 ? { data: jsonText(body) } : { code: (body as { code: string }).code, status };
      }),
    current: tool(true),
    older: tool(false),
  };
}

interface ToolMessage {
  readonly result: {
    readonly content: readonly [{ readonly text: string }];
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
  };
}

function toolOutcome({ result: { content, isError, structuredContent } }: ToolMessage): Outcome {
  if (isError !== true) return { data: jsonText(structuredContent) };
  const { code, status } = JSON.parse(content[0].text) as { readonly code: string; readonly status: number };
  return { code, status };
}

type Send<Response> = (method: string, target: string, body?: string) => Promise<Response>;

/** Sends a call over REST; `undefined` if REST cannot express the input. */
function restRequest<Response>(
  procedure: RichProcedure,
  input: unknown,
  send: Send<Response>,
): Promise<Response> | undefined {
  const { method, path } = richMeta[procedure];
  if (procedure === 'create') return send(method, `/v1${path}`, input === undefined ? '' : jsonText(input));
  if (!isObject(input)) return undefined;
  const { id, ...others } = input;
  // An int64 that a double cannot represent is a 404 whatever the schema is.
  if (procedure !== 'search' && (typeof id !== 'number' || isUnsafeInt64(id))) return undefined;
  const target = `/v1${typeof id === 'number' ? path.replace('{id}', numberText(id)) : path}`;
  if (method === 'PUT' || method === 'PATCH') return send(method, target, jsonText(others));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(others)) {
    const isKnown = procedure === 'search' ? Object.hasOwn(queryTexts, name) : name === 'on';
    const texts = isKnown ? queryTexts[name]?.(value) : [];
    if (texts === undefined) return undefined;
    for (const each of texts) query.append(name, each);
  }
  return send(method, query.size === 0 ? target : `${target}?${query.toString()}`);
}

const isUnsafeInt64 = (value: number) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;

/** Returns a number in decimal without rounding: `String` writes -(2^63) as another number, which is no int64. */
function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

const textOf = (value: unknown) => (typeof value === 'string' && value.isWellFormed() ? [value] : undefined);

/** The query parameters of a member, or `undefined` if a query cannot carry the value as its schema's type. */
const queryTexts: Readonly<Record<string, (value: unknown) => readonly string[] | undefined>> = {
  text: textOf,
  kind: textOf,
  count: (value) => (typeof value === 'number' ? [numberText(value)] : undefined),
  ratio: (value) => (typeof value === 'number' ? [String(value)] : undefined),
  on: (value) => (typeof value === 'boolean' ? [String(value)] : undefined),
  // An empty array has no parameters, and the default is an empty array.
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => textOf(tag) !== undefined) ? (value as string[]) : undefined,
};
