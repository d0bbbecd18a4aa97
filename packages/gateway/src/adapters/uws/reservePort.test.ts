import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { reservePort, serve } from './serve.ts';
import { dial, get, ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';

// Only Linux distributes connections with SO_REUSEPORT.
describe.runIf(process.platform === 'linux')('shared ports', () => {
  it('reusePort rejects with in-use if the other process does not share the port', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await expect(serve({ handle: () => ok() }, { port, reusePort: true })).rejects.toMatchObject({
      code: 'in-use',
    });
    other.close();
  });

  it('reservePort holds a port until servers listen on it', async () => {
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
