import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { reservePort, serve } from './serve.ts';
import { dial, get, ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';

// Elsewhere SO_REUSEPORT does not deal connections out.
describe.runIf(process.platform === 'linux')('a port that is shared', () => {
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
