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

/** @throws if there is no reply */
async function callTool(
  origin: string,
  params: object,
  key: string | undefined,
  loss: Loss | undefined,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    ...(loss === 'connection' && { signal: AbortSignal.timeout(Math.floor(Math.random() * 8)) }),
  });
  const text = await response.text();
  if (loss !== undefined) throw new Error('The reply was lost.');
  return { status: response.status, text };
}

/** Calls `order` with a key in a place. */
export async function order(
  origin: string,
  text: string,
  { key, loss, place }: { readonly key: string; readonly place: KeyPlace; readonly loss?: Loss | undefined },
): Promise<Outcome> {
  const params = {
    name: 'order',
    arguments: { text, ...(place === 'argument' && { idempotencyKey: key }) },
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
