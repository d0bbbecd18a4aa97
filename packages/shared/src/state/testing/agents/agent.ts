import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** The places of the key of a call over MCP. */
const keyPlaces = ['argument', 'params', '_meta', 'header'] as const;
type KeyPlace = (typeof keyPlaces)[number];

/** How a reply is lost: it is dropped, or the connection is closed while the call may run. */
export type Loss = 'reply' | 'connection';

/** What an agent learns from one call of `order`. */
export type Outcome =
  | { readonly kind: 'placed'; readonly run: string; readonly isReplayed: boolean }
  /** The error tells it to look before it repeats the call. */
  | { readonly kind: 'interrupted' }
  /** An error after which it repeats the call with the same key. `status` is 409, 503 or 504. */
  | { readonly kind: 'rejected'; readonly status: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'unexpected'; readonly text: string };

interface Result {
  readonly content: readonly [{ readonly text: string }];
  readonly structuredContent?: object;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

interface CallParams {
  readonly name: string;
  readonly arguments: object;
  readonly _meta?: object;
}

/** The headers of a call of 2026-07-28, and its metadata. */
const currentRevision = ({ name, _meta }: CallParams) => ({
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  _meta: {
    ..._meta,
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  },
});

/**
 * Calls a tool in 2025-11-25 or in 2026-07-28.
 * @throws if there is no reply
 */
async function callTool(
  origin: string,
  params: CallParams,
  key: string | undefined,
  loss: Loss | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  const { headers, ...current } = Math.random() < 0.5 ? currentRevision(params) : {};
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, ...current } }),
    ...(loss === 'connection' && { signal: AbortSignal.timeout(Math.floor(Math.random() * 8)) }),
  });
  const text = await response.text();
  if (loss !== undefined) throw new Error('The reply was lost.');
  return { status: response.status, text };
}

/** Returns an object with its members in any order, since a model writes the arguments of each call anew. */
const written = <Value>(members: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> => {
  const entries = Object.entries(members).map((entry) => ({ entry, at: Math.random() }));
  return Object.fromEntries(entries.toSorted((a, b) => a.at - b.at).map(({ entry }) => entry));
};

/** Calls `order` with a key in a place. */
export async function order(
  origin: string,
  text: string,
  { key, loss, place }: { readonly key: string; readonly place: KeyPlace; readonly loss?: Loss | undefined },
): Promise<Outcome> {
  const params = {
    name: 'order',
    arguments: written({
      text,
      to: written({ street: 'Oude Delft 1', city: 'Delft' }),
      ...(place === 'argument' && { idempotencyKey: key }),
    }),
    ...(place === 'params' && { idempotencyKey: key }),
    ...(place === '_meta' && { _meta: { idempotencyKey: key } }),
  };
  let reply: Awaited<ReturnType<typeof callTool>>;
  try {
    reply = await callTool(origin, params, place === 'header' ? key : undefined, loss);
  } catch {
    return { kind: 'lost' };
  }
  const { result } = JSON.parse(reply.text) as { readonly result?: Result };
  if (result === undefined) {
    return reply.status === 503
      ? { kind: 'rejected', status: 503 }
      : { kind: 'unexpected', text: `${reply.status} ${reply.text}` };
  }
  if (result.isError !== true) {
    const { run } = result.structuredContent as { readonly run: string };
    return { kind: 'placed', run, isReplayed: result._meta?.['io.github.trpc-gateway/replayed'] === true };
  }
  const [{ text: json }] = result.content;
  const { message, status } = JSON.parse(json) as { readonly message: string; readonly status: number };
  if (status === 409 && message.includes('Look for its effect first')) return { kind: 'interrupted' };
  const isTransient = status === 503 || status === 504 || message.includes('still running');
  return isTransient ? { kind: 'rejected', status } : { kind: 'unexpected', text: json };
}

/** A call of `order` with its key. */
export interface Attempt {
  /** The number of times that the service was killed before. */
  readonly kills: number;
  readonly outcome: Outcome;
}

/**
 * Whether a kill may have cut a call with a key: the service was killed between two attempts, of which the first may have left
 * a call that ran. It did not if the one before had learned already that the call was running.
 */
export const mayBeCut = (attempts: readonly Attempt[]): boolean =>
  attempts.some(({ kills, outcome }, at) => {
    const next = attempts[at + 1];
    if (next === undefined || next.kills === kills) return false;
    const mayRun = outcome.kind === 'lost' || outcome.kind === 'rejected';
    return mayRun && !(isRunning(outcome) && isRunning(attempts[at - 1]?.outcome));
  });

/** Whether an error said that an earlier call is still running. */
const isRunning = (outcome: Outcome | undefined): boolean =>
  outcome?.kind === 'rejected' && outcome.status === 409;

/** Calls `findOrder` until there is a reply. @returns the runs of an order */
export async function findOrder(origin: () => Promise<string>, text: string): Promise<readonly string[]> {
  for (;;) {
    try {
      const params = { name: 'findOrder', arguments: { text } };
      const reply = await callTool(await origin(), params, undefined, undefined);
      const { result } = JSON.parse(reply.text) as { readonly result: Result };
      return (result.structuredContent as { readonly runs: readonly string[] }).runs;
    } catch {
      // The service was killed.
      await sleep(10);
    }
  }
}

export const newKey = (): string => randomUUID();
export const anyPlace = (): KeyPlace => keyPlaces[Math.floor(Math.random() * keyPlaces.length)] as KeyPlace;
