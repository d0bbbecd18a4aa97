import { everyForm, hasUws } from '@petstore/testing/forms';
import { describe, expect, it } from 'vitest';
import { apiKey } from './cases.ts';
import { startContender } from './contenderProcess.ts';
import { caseOf, contenders, UnavailableError } from './contenders.ts';
import { suites } from './suites.ts';
import { differences } from './verify.ts';

const isLinux = process.platform === 'linux';
if (!isLinux)
  process.stdout.write('SKIPPED: the contenders: they are pinned to a core by taskset, of Linux.\n');

/** Those that run where not every form of tests does. */
const brief = new Set(['minimal', 'gateway']);
const isRun = ({ name }: { readonly name: string }) => everyForm || brief.has(name);

describe.skipIf(!isLinux || !hasUws)('every contender does the same work', () => {
  // Those with a middleware run all that those with async resolvers alone run.
  const served = Object.entries(suites).flatMap(([suite, { cases, contenders: all }]) =>
    all
      .filter(({ name, store }) => store === 'memory' && !name.endsWith('-async'))
      .filter(isRun)
      .map((contender) => ({ suite, cases, contender })),
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
      } finally {
        await process.stop();
      }
    });
  }

  it('every contender rejects malformed JSON and an invalid body with 400', async () => {
    const statuses: Record<string, readonly number[]> = {};
    const byHand = [
      'minimal',
      'same-response',
      'same-response-compiled',
      'node',
      'fastify',
      'hono',
      'gateway',
    ];
    for (const contender of contenders.filter((each) => byHand.includes(each.name) && isRun(each))) {
      const process = await startContender(contender);
      const post = (body: string) =>
        fetch(`http://127.0.0.1:${process.port}/v1/pets`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body,
        });
      statuses[contender.name] = [(await post('{')).status, (await post('{"name":1}')).status];
      await process.stop();
    }
    expect(statuses).toEqual(
      Object.fromEntries(byHand.filter((name) => isRun({ name })).map((name) => [name, [400, 400]])),
    );
  });
});
