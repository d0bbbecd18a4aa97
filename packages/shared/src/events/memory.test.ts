import { expect, it, onTestFinished } from 'vitest';
import { collect, keepAll, received, textsOf } from './testing/collect.ts';
import { memoryEventLog } from './memory.ts';
import { describeEventLog } from './testing/eventLogContract.ts';

describeEventLog('in memory', async () => {
  const log = memoryEventLog();
  onTestFinished(() => log.close());
  return { log, reopen: async () => log };
});

it('a client that comes from another process gets a resync', async () => {
  const [one, other] = [memoryEventLog(), memoryEventLog()];
  const id = await one.append('a', 'x', keepAll);
  await other.append('a', '1', keepAll);
  await other.append('a', '2', keepAll);
  const items = collect(other, 'a', id);
  await received(items, '2');
  expect(textsOf(items)).toEqual(['(resync)', '1', '2']);
});
