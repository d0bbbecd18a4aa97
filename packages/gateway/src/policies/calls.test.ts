import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { Failure } from '../procedures/execute.ts';
import { readProcedures } from '../procedures/procedures.ts';
import { limitsOf } from './limits.ts';
import { inProcessRequest } from '../http/testing/inProcessRequest.ts';
import { Calls } from './calls.ts';
import { CallScope } from './callScope.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { Tracing } from './tracing.ts';

it('each of two calls that wait is ended at its own deadline, not at the next look after it', async () => {
  const calls = new Calls(limitsOf({ callTimeoutMs: 600 }), undefined);
  const ended: string[] = [];
  const wait = (name: string) =>
    new Promise<void>((resolve) => {
      calls.wait(new Promise<never>(() => {}), new CallScope(inProcessRequest('GET', '/')), () => {
        ended.push(name);
        resolve();
      });
    });
  const first = wait('first');
  await sleep(300);
  const second = wait('second');
  // Half way between the deadline of the second and the end of another timeout: timers fire in the order of their times,
  // however late all of them are.
  const between = sleep(750).then(() => ended.push('between'));
  await Promise.all([first, second, between]);
  expect(ended).toEqual(['first', 'second', 'between']);
});

/** Its message cannot be converted to a string. */
const unconvertible = { message: Object.create(null) as string };

describe('a call has an outcome, a failure,', () => {
  it.each<[how: string, tracing: Tracing]>([
    [
      'throws',
      () => {
        throw new Error('no span');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no span'))],
  ])('where its tracing %s', async (_how, tracing) => {
    const t = initTRPC.create();
    const [procedure] = await readProcedures(t.router({ a: t.procedure.query(() => 1) }));
    const calls = new Calls(limitsOf({}), tracing);
    const outcomes: unknown[] = [];
    const receiver = { settle: (index: number, outcome: unknown) => outcomes.push(index, outcome) };
    const scope = new CallScope(inProcessRequest('GET', '/'));
    calls.start(procedure as Procedure, {}, { read: () => undefined }, 3, scope, receiver);
    await sleep(1);
    expect(outcomes).toEqual([3, expect.any(Failure)]);
    expect(outcomes[1]).toMatchObject({ error: { cause: { message: 'no span' } } });
    expect(calls.inFlight).toBe(0);
  });

  it('where what it waits for rejects with something that cannot be read', async () => {
    const calls = new Calls(limitsOf({}), undefined);
    const outcome = await new Promise((resolve) => {
      // oxlint-disable-next-line prefer-promise-reject-errors -- anything may be thrown
      calls.wait(Promise.reject(unconvertible), new CallScope(inProcessRequest('GET', '/')), resolve);
    });
    expect(outcome).toMatchObject({ error: { code: 'INTERNAL_SERVER_ERROR' } });
    expect(calls.inFlight).toBe(0);
  });
});
