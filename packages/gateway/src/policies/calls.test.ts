import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { limitsOf } from './limits.ts';
import { inProcessRequest } from '../http/testing/inProcessRequest.ts';
import { Calls } from './calls.ts';
import { CallScope } from './callScope.ts';

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
