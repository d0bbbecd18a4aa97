import { everyForm, hasUws } from '@petstore/testing/forms';
import { describe, expect, it } from 'vitest';
import { apiKey } from './cases.ts';
import { startContender } from './contenderProcess.ts';
import { caseOf, UnavailableError } from './contenders.ts';
import { readCommandLine, suites } from './commandLine.ts';
import { differences } from './verify.ts';

const isLinux = process.platform === 'linux';
if (!isLinux)
  process.stdout.write('SKIPPED: the contenders: they are pinned to a core by taskset, of Linux.\n');

/** Those that run where not every form of tests does. */
const brief = new Set(['minimal', 'gateway']);

it('a quick run of a suite without the pet store has all of its contenders', () => {
  const all = suites['http-arena']?.contenders.map(({ name }) => name);
  expect(readCommandLine(['--suite', 'http-arena', '--quick'])).toMatchObject({ contenders: all });
});

describe.skipIf(!isLinux || !hasUws)('every contender does the same work', () => {
  const served = Object.entries(suites).flatMap(([suite, { cases, contenders: all }]) =>
    all.filter(({ name }) => everyForm || brief.has(name)).map((contender) => ({ suite, cases, contender })),
  );
  for (const { suite, cases, contender } of served) {
    it(`${contender.name} answers every case of the suite ${suite} that it does not leave out as all others do`, async ({
      skip,
    }) => {
      const process = await startContender(contender).catch((error: unknown) => {
        if (error instanceof UnavailableError) skip(error.message);
        throw error;
      });
      try {
        const differencesByCase: Record<string, readonly string[]> = {};
        for (const subject of cases) {
          const own = caseOf(contender, subject);
          if (own) differencesByCase[subject.name] = await differences(process.port, own, contender.headers);
        }
        const supported = cases.filter((subject) => caseOf(contender, subject) !== undefined);
        expect(differencesByCase).toEqual(Object.fromEntries(supported.map(({ name }) => [name, []])));
        expect(await process.processorSeconds()).toBeGreaterThan(0);
        // Each checks its input, and does less than the others if it does not.
        if (suite !== 'pets') return;
        const post = (body: string) =>
          fetch(`http://127.0.0.1:${process.port}/v1/pets`, {
            method: 'POST',
            headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
            body,
          });
        expect([(await post('{')).status, (await post('{"name":1}')).status]).toEqual([400, 400]);
      } finally {
        await process.stop();
      }
    });
  }
});
