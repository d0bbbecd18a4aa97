import { setTimeout as sleep } from 'node:timers/promises';
import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { testSeed } from '../testSeed.ts';
import { fuzzedFrames, isServed, sentinel } from './fuzzedFrames.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith, type Running } from './start.ts';
import { probe } from './webSocketProbe.ts';

/** Returns the server's messages, sorted: concurrent calls may be answered in any order. */
async function responsesOf({ server }: Running, index: number): Promise<string[]> {
  const { socket, received, until } = await probe(server.port);
  socket.write(Buffer.concat([...fuzzedFrames(testSeed, index), sentinel]));
  await until(() => isServed(received));
  // Calls sent before the sentinel may be answered after it.
  await sleep(40);
  const { closed } = socket;
  socket.destroy();
  return closed ? ['closed'] : received.texts.toSorted();
}

const idOf = (text: string) => /"id":("[^"]*"|[^,}]*)/.exec(text)?.[1] ?? '';
const stoppedIds = (texts: readonly string[]) =>
  new Set(texts.filter((text) => text.includes('"type":"stopped"')).map(idOf));

const messages = inputs(300);

it('the gateway answers fuzzed WebSocket messages with the bytes of tRPC’s adapter if that keeps the connection open', async () => {
  const [official, gateway] = await Promise.all([startWith(serveOfficial)(), startWith(serveGateway)()]);
  let compared = 0;
  let next = 0;
  const compare = async () => {
    while (next < messages) {
      const index = (next += 1);
      const [expected, actual] = await Promise.all([
        responsesOf(official, index),
        responsesOf(gateway, index),
      ]);
      // Timing decides whether a subscription has ended before its id is reused.
      if ([...expected, ...actual].some((text) => text.includes('Duplicate id'))) continue;
      // See `adapterDifferences`: the gateway accepts a few frames that make tRPC's adapter close the connection.
      if (expected.at(-1) === 'closed') continue;
      // Timing also decides whether a subscription has failed before it is stopped.
      const stopped = stoppedIds([...expected, ...actual]);
      const others = (texts: readonly string[]) => texts.filter((text) => !stopped.has(idOf(text)));
      expect({ index, responses: others(actual) }, `TEST_SEED=${testSeed} repeats this run.`).toEqual({
        index,
        responses: others(expected),
      });
      compared += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, compare));
  expect(compared, `TEST_SEED=${testSeed} repeats this run.`).toBeGreaterThan((messages * 2) / 3);
});
