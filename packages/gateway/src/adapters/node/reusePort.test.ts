import { describe, expect, it } from 'vitest';
import { dial, get, listenOn, ok, until } from '../server/testing/dial.ts';
import { serve } from './serve.ts';

const listen = listenOn(serve);

// Elsewhere the kernel does not distribute connections.
describe.runIf(process.platform === 'linux')('reusePort', () => {
  it('lets several servers take the connections of one port', async () => {
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

  it.each([
    [true, undefined],
    [undefined, true],
    [undefined, undefined],
  ])('of the first %s and of the second %s is a port in use', async (ofFirst, ofSecond) => {
    const options = (reusePort: boolean | undefined) => (reusePort === undefined ? {} : { reusePort });
    const { port } = await listen(() => ok(), options(ofFirst));
    await expect(serve({ handle: () => ok() }, { port, ...options(ofSecond) })).rejects.toMatchObject({
      code: 'in-use',
    });
  });
});
