import type { Gateway } from 'trpc-gateway';
import { jsonText } from './jsonText.ts';

/** An HTTP request that calls a procedure. */
export interface Call {
  readonly method: string;
  readonly target: string;
  /** JSON. */
  readonly body?: string | undefined;
}

/** `rest`, `rpc`: a single tRPC call, `batch`: a tRPC batch of one call. */
export type ProtocolVariant = 'rest' | 'trpc' | 'batch';

/** The status and the body of a response. */
interface ResponseText {
  readonly status: number;
  readonly text: string;
}

export type Send = (call: Call) => Promise<ResponseText>;

/** Sends calls by `gateway.fetch`: without a socket, thousands of calls take seconds. */
export function inProcess({ fetch }: Gateway): Send {
  const headers = { 'content-type': 'application/json' };
  return async ({ method, target, body }) => {
    const init = { method, headers, body };
    const response = await fetch(`http://localhost${target}`, init);
    return { status: response.status, text: await response.text() };
  };
}

/** The request of a tRPC call, alone or as a batch of one. */
export function rpcCall(type: 'query' | 'mutation', path: string, input: unknown, isBatch: boolean): Call {
  const isAbsent = input === undefined;
  const text = isBatch ? (isAbsent ? '{}' : `{"0":${jsonText(input)}}`) : isAbsent ? '' : jsonText(input);
  const target = `/trpc/${path}${isBatch ? '?batch=1' : ''}`;
  if (type === 'mutation') return { method: 'POST', target, body: text };
  if (text === '') return { method: 'GET', target };
  return { method: 'GET', target: `${target}${isBatch ? '&' : '?'}input=${encodeURIComponent(text)}` };
}

/**
 * The outcome of a call in a form that both protocols share: the data as JSON text, so that `-0`, the order of members and
 * `__proto__` are compared too, or the code and the status of the error.
 */
export type Outcome = { readonly data: string } | { readonly code: string; readonly status: number };

export function restOutcome({ status, text }: ResponseText): Outcome {
  if (status === 204) return { data: 'undefined' };
  const body: unknown = JSON.parse(text);
  return status < 300 ? { data: jsonText(body) } : { code: (body as { code: string }).code, status };
}

/** @throws {Error} if the envelope is malformed, or its status differs from the status line */
export function rpcOutcome({ status, text }: ResponseText, isBatch: boolean): Outcome {
  // tRPC's envelope has one of these two members.
  const parsed: unknown = JSON.parse(text);
  const envelope = (isBatch ? (parsed as unknown[])[0] : parsed) as {
    readonly result?: { readonly data?: unknown };
    readonly error?: { readonly data: { readonly code: string; readonly httpStatus: number } };
  };
  if (envelope.error !== undefined) {
    const { code, httpStatus } = envelope.error.data;
    if (httpStatus !== status) throw new Error(`tRPC answered ${status} with httpStatus ${httpStatus}.`);
    return { code, status };
  }
  if (status !== 200 || envelope.result === undefined) throw new Error(`tRPC answered ${status}: ${text}`);
  return { data: 'data' in envelope.result ? jsonText(envelope.result.data) : 'undefined' };
}
