import { expect, it, onTestFinished, vi } from 'vitest';
import { RedisConnection } from './redisConnection.ts';

it('a client of a server that is away is replaced once, after the first of its commands that exceeds its time', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const away = new Promise<string>(() => {});
  const replies = [away, 'reply', 'reply of a third client'];
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
  const commands = [run(), run()].map((command) => command.catch((error: unknown) => error));
  await vi.advanceTimersByTimeAsync(4000);
  const late = { message: 'Redis has not responded for 4 s.' };
  expect(await Promise.all(commands)).toMatchObject([late, late]);
  expect(await run()).toBe('reply');
});
