import { expect, it, onTestFinished, vi } from 'vitest';
import { RedisConnection } from './redisConnection.ts';

it('a client that has connected to a server that is away is replaced after its first command that exceeds its time', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const away = new Promise<string>(() => {});
  const replies = [away, 'reply'];
  const connection = new RedisConnection(() => {
    const reply = replies.shift();
    const nothing = async () => {};
    return {
      isOpen: true,
      connect: nothing,
      close: nothing,
      destroy: nothing,
      on: nothing,
      eval: async () => reply,
    };
  });
  const run = () => connection.run((client) => client.eval(), 4000);
  const first = run().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(4000);
  expect(await first).toMatchObject({ message: 'Redis has not responded for 4 s.' });
  expect(await run()).toBe('reply');
});
