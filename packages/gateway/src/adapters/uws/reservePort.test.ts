import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { reservePort, serve } from './serve.ts';
import { dial, get, ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';

// Elsewhere SO_REUSEPORT does not deal connections out.
describe.runIf(process.platform === 'linux')('a port that is shared', () => {
  it('is served by several, and every connection is answered', async () => {
    const first = await listen(() => ok('first'), { reusePort: true });
    await listen(() => ok('second'), { reusePort: true, port: first.port });
    const answers = new Set<string>();
    await until(async () => {
      const { socket, text } = await dial(first);
      socket.write(get('/'));
      await until(() => expect(text()).toMatch(/first$|second$/));
      answers.add(text().endsWith('first') ? 'first' : 'second');
      expect(answers.size).toBe(2);
    });
  });

  it('is rejected for a process that does not share it', async () => {
    const { port } = await listen(() => ok(), { reusePort: true });
    await expect(serve({ handle: () => ok() }, { port })).rejects.toMatchObject({ code: 'in-use' });
  });

  it('is rejected where the other process does not share it', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await expect(serve({ handle: () => ok() }, { port, reusePort: true })).rejects.toMatchObject({
      code: 'in-use',
    });
    other.close();
  });

  it('can be held for those that will serve on it', async () => {
    const { port, release } = await reservePort('127.0.0.1', 0);
    const listening = await listen(() => ok('held'), { port, reusePort: true });
    release();
    await until(async () => {
      const { socket, text } = await dial(listening);
      socket.write(get('/'));
      await until(() => expect(text()).toContain('held'));
    });
  });
});
