import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { connectTools } from './connectTools.ts';
import { toolServers } from './serveTools.ts';

const start = toolServers();

const tasks = inputs(5000, 200);
const lost = Math.floor(tasks / 3);

/** Where an agent says which of its calls are one action. */
interface KeyPlace {
  readonly args?: object;
  readonly beside?: object;
  readonly meta?: object;
  readonly header?: string;
}

/**
 * Runs an agent that places an order in each task. The reply to every third call is lost, so it calls the tool again.
 * A model writes its arguments anew, so the repeat has them in another order.
 * @returns the number of calls that it repeated, of results that said that they were replayed, and of orders too many
 */
async function runAgent(keyed: (key: string) => KeyPlace) {
  const { seen, server } = await start();
  let header: string | undefined;
  let losesReply = false;
  let repeats = 0;
  let replays = 0;
  const client = await connectTools(server.origin, async (url, init) => {
    const headers = new Headers(init?.headers);
    if (header !== undefined) headers.set('idempotency-key', header);
    const response = await server.fetch(url, { ...init, headers });
    if (!losesReply) return response;
    // The server has run the call.
    await response.arrayBuffer();
    throw new TypeError('The connection was closed before the response.');
  });
  const before = seen.placed;
  for (let task = 1; task <= tasks; task += 1) {
    const { args, beside, meta, ...place } = keyed(crypto.randomUUID());
    header = place.header;
    const order = {
      name: 'orders_place',
      arguments: { item: `tea ${task}`, ...args },
      ...beside,
      ...(meta && { _meta: { ...meta } }),
    };
    losesReply = task % 3 === 0;
    const result = await client.callTool(order).catch((error: unknown) => {
      if (!losesReply) throw error;
      losesReply = false;
      repeats += 1;
      const rewritten = Object.fromEntries(Object.entries(order.arguments).toReversed());
      return client.callTool({ ...order, arguments: rewritten });
    });
    if (result._meta?.['io.github.trpc-gateway/replayed'] === true) replays += 1;
  }
  await client.close();
  return { repeats, replays, duplicates: seen.placed - before - tasks };
}

it.each<[place: string, duplicates: number, keyed: (key: string) => KeyPlace]>([
  ['a key as an argument', 0, (key) => ({ args: { idempotencyKey: key } })],
  ['a key beside the arguments', 0, (key) => ({ beside: { idempotencyKey: key } })],
  ['a key in params._meta', 0, (key) => ({ meta: { idempotencyKey: key } })],
  ['a key in the header Idempotency-Key', 0, (header) => ({ header })],
  ['no key', lost, () => ({})],
])(
  'with %s, an agent that lost the reply to every third of its orders and repeated it has placed %i of them twice',
  async (_place, duplicates, keyed) => {
    expect(await runAgent(keyed)).toEqual({ repeats: lost, replays: lost - duplicates, duplicates });
  },
);
