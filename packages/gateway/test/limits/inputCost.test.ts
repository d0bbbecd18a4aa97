import { measures } from '@petstore/testing/slowness';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { has } from '../servers.ts';
import { seedMessage, testSeed } from '../testSeed.ts';
import { Random } from '../random.ts';
import { costlyInputs, startInputCost, textInput, type CostlyInput, type TextInput } from './inputCost.ts';

/** Number of inputs. `INPUT_COSTS=all npx vitest run packages/gateway/test/limits/inputCost.test.ts` sends all. */
const inputs = process.env['INPUT_COSTS'] ?? '60';

/** Maximum processor time of a request, in milliseconds, with its client, which runs in the same process. */
const maxMs = 250;

let running: Awaited<ReturnType<typeof startInputCost>>;
beforeAll(async () => void (running = await startInputCost()));
afterAll(async () => void (await running.close()));

type Protocol = keyof typeof running.send;

/** Returns the processor time of a request by a protocol, in milliseconds. */
async function costOf(protocol: Protocol, input: CostlyInput): Promise<number> {
  let ms = Infinity;
  // Processor time includes that of the garbage collector and of cores shared with others: the least of 4 counts.
  for (let attempt = 0; attempt < 4 && ms > maxMs; attempt += 1) {
    const before = process.cpuUsage();
    await running.send[protocol](input);
    const { system, user } = process.cpuUsage(before);
    ms = Math.min(ms, (system + user) / 1000);
  }
  return ms;
}

/** Lists the protocols that take an input. */
const protocolsOf = ({ procedure }: CostlyInput) =>
  (Object.keys(running.send) as Protocol[]).filter((name) =>
    name === 'form' ? procedure.endsWith('_text') : name !== 'socket' || has('WebSockets'),
  );

/** Inputs that took long before schemas were bounded. */
const once: readonly TextInput[] = [
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
];

it.skipIf(!measures && process.env['INPUT_COSTS'] === undefined)(
  `a request takes at most ${maxMs} ms of processor time for each of ${once.length} inputs over every protocol, and of ${inputs} others over one, valid or not`,
  { timeout: 600_000 + (inputs === 'all' ? 30_000 : Number(inputs)) * 1000 },
  async () => {
    const random = new Random(testSeed);
    const all = costlyInputs(random);
    const chosen = inputs === 'all' ? all : Array.from({ length: Number(inputs) }, () => random.pick(all));
    const requests = [
      ...once.flatMap((row) =>
        protocolsOf(textInput(row)).map((each) => [each, () => textInput(row)] as const),
      ),
      ...chosen.map((create) => [undefined, create] as const),
    ];
    const problems: string[] = [];
    let worst = 0;
    for (const [known, create] of requests) {
      const input = create();
      const protocol = known ?? random.pick(protocolsOf(input));
      const ms = await costOf(protocol, input);
      worst = Math.max(worst, ms);
      if (ms > maxMs) problems.push(`${Math.round(ms)} ms: ${protocol}, ${input.name}. ${seedMessage}`);
    }
    if (process.env['INPUT_COSTS'] !== undefined) {
      process.stdout.write(`The slowest took ${Math.round(worst)} ms.\n${problems.join('\n')}\n`);
    }
    expect(problems).toEqual([]);
  },
);
