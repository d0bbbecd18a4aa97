import { setTimeout as sleep } from 'node:timers/promises';
import { inputs } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { testSeed } from '../testSeed.ts';
import { fuzzedFrames, isServed, sentinel } from './fuzzedFrames.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith, type Running } from './start.ts';
import { probe } from './webSocketProbe.ts';

/** Every message that comes back, in no order: calls that were made at once answer as they like. */
async function responsesOf({ server }: Running, index: number): Promise<string[]> {
  const { socket, received, until } = await probe(server.port);
  socket.write(Buffer.concat([...fuzzedFrames(testSeed, index), sentinel]));
  await until(() => isServed(received));
  // What was asked before may be answered after.
  await sleep(40);
  const { closed } = socket;
  socket.destroy();
  return closed ? ['closed'] : received.texts.toSorted();
}

const idOf = (text: string) => /"id":("[^"]*"|[^,}]*)/.exec(text)?.[1] ?? '';
const stoppedIds = (texts: readonly string[]) =>
  new Set(texts.filter((text) => text.includes('"type":"stopped"')).map(idOf));

const messages = inputs(300);

it('fuzzed messages are answered by both with the same bytes, wherever the adapter keeps the connection', async () => {
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
      // Whether a subscription is over when its id is used again is a matter of moments.
      if ([...expected, ...actual].some((text) => text.includes('Duplicate id'))) continue;
      // What `differences` tells of frames: the gateway bears some that the adapter does not.
      if (expected.at(-1) === 'closed') continue;
      // So is whether a subscription has failed when it is stopped.
      const stopped = stoppedIds([...expected, ...actual]);
      const others = (texts: readonly string[]) => texts.filter((text) => !stopped.has(idOf(text)));
      expect({ index, answers: others(actual) }, `TEST_SEED=${testSeed} repeats this run.`).toEqual({
        index,
        answers: others(expected),
      });
      compared += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, compare));
  expect(compared, `TEST_SEED=${testSeed} repeats this run.`).toBeGreaterThan((messages * 2) / 3);
});
