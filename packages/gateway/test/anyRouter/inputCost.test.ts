import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has } from '../servers.ts';
import { seedMessage, testSeed } from '../testSeed.ts';
import { Random } from '../trpcClients/random.ts';
import { costlyInputs, startInputCost, textInput, type CostlyInput, type TextInput } from './inputCost.ts';

/** Number of inputs. `INPUT_COSTS=all npx vitest run packages/gateway/test/anyRouter/inputCost.test.ts` sends all. */
const inputs = process.env['INPUT_COSTS'] ?? '60';

/** Maximum processor time of a request, in milliseconds, with its client, which runs in the same process. */
const maxMs = 250;

/** With `strictness: 'report'`, an input is read, parsed and compared twice. */
const maxMsOfReport = 400;

let running: Awaited<ReturnType<typeof startInputCost>>;
beforeAll(async () => void (running = await startInputCost()), 60_000);
afterAll(async () => void (await running.close()));

/** Returns the processor time of a request by a protocol, in milliseconds. */
async function costOf(protocol: keyof typeof running.send, input: CostlyInput): Promise<number> {
  let ms = Infinity;
  // Processor time includes that of the garbage collector and of cores shared with others: the least of 4 counts.
  for (let attempt = 0; attempt < 4 && ms > maxMsOf(protocol); attempt += 1) {
    const before = process.cpuUsage();
    // oxlint-disable-next-line no-await-in-loop -- one request at a time is measured
    await running.send[protocol](input);
    const { system, user } = process.cpuUsage(before);
    ms = Math.min(ms, (system + user) / 1000);
  }
  return ms;
}

const maxMsOf = (protocol: keyof typeof running.send) => (protocol === 'lenient' ? maxMsOfReport : maxMs);

/** Lists the protocols that take an input. */
const protocolsOf = ({ procedure }: CostlyInput) =>
  (Object.keys(running.send) as (keyof typeof running.send)[]).filter((name) =>
    name === 'form' ? procedure.endsWith('_text') : name !== 'socket' || has('WebSockets'),
  );

describe('inputs that cost', () => {
  it.each<TextInput>([
    ['url', 'text', 'han', 63_000, Infinity],
    ['url', 'list', 'hanHost', 990_000, 750],
    ['url', 'names', 'hanFile', 990_000, 20_000],
    ['httpUrl', 'union', 'hanEscaped', 990_000, Infinity],
    ['urlWithMaximum', 'parsed', 'hangul', 200_000, Infinity],
    ['urlAsCheck', 'objects', 'hostOfMarks', 990_000, Infinity],
    ['codec', 'values', 'han', 200_000, 20_000],
    ['nfc', 'text', 'marks', 200_000, Infinity],
    ['nfd', 'tuple', 'thai', 990_000, 20_000],
    ['nfkc', 'list', 'kana', 990_000, 200_000],
    ['coercedText', 'text', 'marks', 990_000, Infinity],
    ['templateOfTexts', 'text', '"x"', 4000, Infinity],
    ['templateOfTexts', 'list', '"x"', 200_000, 750],
    ['templateOfTextAndNumber', 'text', '"x1"', 20_000, Infinity],
    ['templateOfAdjacent', 'text', '"x"', 999, Infinity],
    ['templateOfAdjacent', 'list', '"x"', 990_000, 130],
    ['templateOfDigits', 'union', '"1"', 65_000, 750],
  ])(
    `a request takes at most ${maxMs} ms of processor time for %s (%s) and the text %s of %d bytes in pieces of %d, over every protocol`,
    { timeout: 60_000 },
    async (...row) => {
      const input = textInput(row);
      const problems: string[] = [];
      for (const protocol of protocolsOf(input)) {
        // oxlint-disable-next-line no-await-in-loop -- one request at a time is measured
        const ms = await costOf(protocol, input);
        if (ms > maxMsOf(protocol)) problems.push(`${Math.round(ms)} ms over ${protocol}`);
      }
      expect(problems).toEqual([]);
    },
  );

  it(
    `a request takes at most ${maxMs} ms of processor time for each of ${inputs} other inputs`,
    { timeout: 30_000 + (inputs === 'all' ? 30_000 : Number(inputs)) * 1000 },
    async () => {
      const random = new Random(testSeed);
      const all = costlyInputs(random);
      const problems: string[] = [];
      let worst = 0;
      for (let index = 0; index < (inputs === 'all' ? all.length : Number(inputs)); index += 1) {
        const input = (inputs === 'all' ? all[index] : random.pick(all))?.();
        if (input === undefined) continue;
        const protocol = random.pick(protocolsOf(input));
        // oxlint-disable-next-line no-await-in-loop -- one request at a time is measured
        const ms = await costOf(protocol, input);
        worst = Math.max(worst, ms);
        if (ms > maxMsOf(protocol))
          problems.push(`${Math.round(ms)} ms: ${protocol}, ${input.name}. ${seedMessage}`);
      }
      if (process.env['INPUT_COSTS'] !== undefined)
        process.stdout.write(`The slowest took ${Math.round(worst)} ms.\n${problems.join('\n')}\n`);
      expect(problems).toEqual([]);
    },
  );
});
