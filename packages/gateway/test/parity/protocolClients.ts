import type { Gateway } from '@petstore/gateway';
import type { Client } from '../client.ts';
import { jsonText } from './jsonText.ts';

/** A request that carries a call of a procedure. */
export interface Call {
  readonly method: string;
  readonly target: string;
  /** JSON. */
  readonly body?: string | undefined;
}

/** REST; tRPC, a call alone; tRPC, a call in a batch. */
export type ProtocolVariant = 'rest' | 'rpc' | 'batch';

/** What came back. */
interface ResponseText {
  readonly status: number;
  readonly text: string;
}

export type Send = (call: Call) => Promise<ResponseText>;

/** Asks the gateway in this process: no socket between, so that thousands of calls take seconds. */
export function inProcess({ fetch }: Gateway, apiKey: string): Send {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return async ({ method, target, body }) => {
    const init = { method, headers, body };
    const response = await fetch(`http://localhost${target}`, init);
    return { status: response.status, text: await response.text() };
  };
}

/** Asks over the wire; each answer is held against the laws of every answer, too. */
export function overPort(client: Client): Send {
  return async ({ method, target, body }) => {
    const received = await client.send(method, target, body === undefined ? {} : { body });
    return { status: received.status, text: received.body.toString() };
  };
}

/** The tRPC protocol: a call alone, or in a batch of its own. */
export function rpcCall(type: 'query' | 'mutation', path: string, input: unknown, isBatch: boolean): Call {
  const isAbsent = input === undefined;
  const text = isBatch ? (isAbsent ? '{}' : `{"0":${jsonText(input)}}`) : isAbsent ? '' : jsonText(input);
  const target = `/trpc/${path}${isBatch ? '?batch=1' : ''}`;
  if (type === 'mutation') return { method: 'POST', target, body: text };
  if (text === '') return { method: 'GET', target };
  return { method: 'GET', target: `${target}${isBatch ? '&' : '?'}input=${encodeURIComponent(text)}` };
}

/**
 * What a protocol made of a call, in words that both have: the data, as JSON text (so that `-0`, the order of members and
 * `__proto__` count too), or the code and the status of the refusal.
 */
export type Outcome = { readonly data: string } | { readonly code: string; readonly status: number };

export function restOutcome({ status, text }: ResponseText): Outcome {
  if (status === 204) return { data: 'undefined' };
  const body: unknown = JSON.parse(text);
  return status < 300 ? { data: jsonText(body) } : { code: (body as { code: string }).code, status };
}

/** @throws {Error} where the envelope is not one, or says another status than the status line */
export function rpcOutcome({ status, text }: ResponseText, isBatch: boolean): Outcome {
  // The envelope of tRPC: one of these two members.
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
