import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { inProcessRequest } from '../../testing/inProcessRequest.ts';
import { textOf } from '../../testing/streams.ts';
import { CallContext } from '../../calls/requestContext.ts';
import { failureOf } from '../../procedures/execute.ts';
import { resyncErrors } from '../../procedures/resync.ts';
import { eventBody } from './restEvents.ts';

function start(events: AsyncIterable<unknown>) {
  const context = new CallContext(inProcessRequest('GET', '/v1/ticks'));
  const body = eventBody(events, {
    context,
    parse: (event) => event,
    maxEventBytes: 1000,
    toError: (cause) => failureOf(cause).error,
    reportError: ({ code }) => code,
    pingMs: undefined,
    maxDurationMs: undefined,
    watch: () => () => {},
  });
  return { body, context };
}

async function* failing(ms: number) {
  await sleep(ms);
  yield* [];
  throw new TRPCError({ code: 'CONFLICT' });
}

it('a subscription that fails before its first event rejects with its error, and its signal aborts', async () => {
  const { body, context } = start(failing(5));
  await expect(body).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(context.signal.aborted).toBe(true);
});

it('a subscription without an event for 250 ms starts with a comment, and sends a later error as an event', async () => {
  const { body, context } = start(failing(300));
  expect(await textOf(await body)).toBe(':\n\nevent: error\ndata: CONFLICT\n\n');
  expect(context.signal.aborted).toBe(false);
});

it.each([
  ['before its first event', [], ''],
  ['later', [1], 'data: 1\n\n'],
])(
  'a subscription that fails with RESYNC %s ends with the event resync and its id',
  async (_when, values, before) => {
    async function* resyncing() {
      yield* values;
      throw resyncErrors.RESYNC({ data: { lastEventId: 'a-7' } });
    }
    const { body, context } = start(resyncing());
    expect(await textOf(await body)).toBe(`${before}event: resync\nid: a-7\ndata: BAD_REQUEST\n\n`);
    expect(context.signal.aborted).toBe(false);
  },
);

it.each(['\0', '\n', '\r'])(
  'a RESYNC whose id has %j is an error, and begins no other event',
  async (end) => {
    async function* poisoned() {
      yield* [];
      throw resyncErrors.RESYNC({ data: { lastEventId: `a${end}${end}event: forged${end}data: 1` } });
    }
    await expect(start(poisoned()).body).rejects.toMatchObject({ declaredCode: 'RESYNC' });
  },
);
