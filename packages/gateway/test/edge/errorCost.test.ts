import { countArgument } from '@petstore/testing/countArgument';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Random } from '../trpcClients/random.ts';
import { has } from '../servers.ts';
import { seedMessage, testSeed } from '../testSeed.ts';
import { extraBytes, maxResponseBytes, randomInput, startErrorCost } from './errorCost.ts';

/** Number of inputs. `ERROR_INPUTS=10000 npx vitest run packages/gateway/test/edge/errorCost.test.ts` sends more. */
const inputs = countArgument('ERROR_INPUTS', process.env['ERROR_INPUTS'], 150);

/** Maximum processor time of a request, in milliseconds, with its client, which runs in the same process. */
const maxMs = 250;

describe('errors of inputs', () => {
  it(
    `no request with one of ${inputs} random inputs takes more than ${maxMs} ms of processor time or gets more than maxResponseBytes, over REST, tRPC, batches, JSON lines, server-sent events and WebSockets`,
    { timeout: 30_000 + inputs * 1000 },
    async () => {
      const random = new Random(testSeed);
      const { close, describe: nameOf, maxBytes, procedures, send } = await startErrorCost(testSeed);
      onTestFinished(() => void close());
      const protocols = Object.keys(send).filter((name) => has('WebSockets') || name !== 'sockets');
      let worstMs = 0;
      const problems: string[] = [];
      for (let index = 0; index < inputs; index += 1) {
        const protocol = protocols[index % protocols.length] ?? '';
        const most = maxBytes[protocol] ?? 0;
        const size = Math.round(200 * (most / 200) ** random.fraction());
        let json: string;
        // A few inputs get larger than intended, and would be rejected as too large.
        do json = JSON.stringify(randomInput(random, size));
        while (json.length > most);
        const procedure = random.pick(procedures);
        const what = `${protocol}, ${json.length} bytes (${json.slice(0, 60)}…) to ${nameOf(procedure)}. ${seedMessage}`;
        let ms = Infinity;
        // Processor time includes that of the garbage collector and of cores shared with others: the least of 4 counts.
        for (let attempt = 0; attempt < 4 && ms > maxMs; attempt += 1) {
          const before = process.cpuUsage();
          // oxlint-disable-next-line no-await-in-loop -- one request at a time is measured
          const { bytes, status } = (await send[protocol]?.(procedure, json)) ?? { bytes: 0, status: 0 };
          const { system, user } = process.cpuUsage(before);
          ms = Math.min(ms, (system + user) / 1000);
          if (bytes > maxResponseBytes + extraBytes) problems.push(`${bytes} bytes: ${what}`);
          if (status >= 500) problems.push(`status ${status}: ${what}`);
        }
        if (ms > maxMs) problems.push(`${Math.round(ms)} ms: ${what}`);
        worstMs = Math.max(worstMs, ms);
      }
      expect(problems).toEqual([]);
      if (process.env['ERROR_INPUTS'] !== undefined)
        process.stdout.write(`The slowest took ${Math.round(worstMs)} ms.\n`);
    },
  );
});
