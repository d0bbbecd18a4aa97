import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok, until } from './testing/dial.ts';

// Only the Linux kernel distributes connections.
const onLinux = process.platform === 'linux' ? adapters : [];

describe.each(onLinux)('reusePort on $adapter', ({ adapter, listen, serve }) => {
  it('reusePort distributes the connections of one port over several servers', async () => {
    const first = await listen(() => ok('first'), { reusePort: true });
    await listen(() => ok('second'), { reusePort: true, port: first.port });
    const responses = new Set<string>();
    await until(async () => {
      const { text } = await dial(first, get('/'));
      await until(() => expect(text()).toMatch(/first$|second$/));
      responses.add(text().endsWith('first') ? 'first' : 'second');
      expect(responses.size).toBe(2);
    });
  });

  it.each([
    [true, undefined],
    // uWebSockets.js shares its port with every process that sets SO_REUSEPORT.
    ...(adapter === 'node:http' ? [[undefined, true] as const] : []),
    [undefined, undefined],
  ] as const)(
    'reusePort: %s of the first and %s of the second server rejects with in-use',
    async (ofFirst, ofSecond) => {
      const options = (reusePort: boolean | undefined) => (reusePort === undefined ? {} : { reusePort });
      const { port } = await listen(() => ok(), options(ofFirst));
      await expect(serve({ handle: () => ok() }, { port, ...options(ofSecond) })).rejects.toMatchObject({
        code: 'in-use',
      });
    },
  );
});
