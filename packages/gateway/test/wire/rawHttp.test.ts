import { readFile } from 'node:fs/promises';
import { longForm } from '@petstore/testing/forms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { has } from '../servers.ts';
import { testSeed } from '../testSeed.ts';
import { rawCaseGroups } from './cases/index.ts';
import { findProblems, type RawOutcome } from './findProblems.ts';
import type { RawCase } from './rawCase.ts';
import { openServerPool, type ServerPool } from './rawServers.ts';
import { describeReceived } from './send.ts';
import { splits } from './splits.ts';

const adapter = adapterOfRun();
const isUws = adapter === 'uws';
const isOlderUws = isUws && (await import('trpc-gateway/uws')).uwsVersion.startsWith('uws-pack ');

const groups = Object.entries(rawCaseGroups).map(
  ([group, cases]) => [group, cases.map(isUws ? onUws : onNode)] as const,
);
const allCases = groups.flatMap(([, cases]) => cases);

/** Returns a case with the expectations for the version of uWebSockets.js that is loaded. */
function onUws(rawCase: RawCase): RawCase {
  return isOlderUws ? { ...rawCase, uws: rawCase.differences.older ?? rawCase.uws } : rawCase;
}

/** Returns a case with the expectations for the adapter on node:http, which has no known limitations of uWebSockets.js. */
function onNode({ knownLimitation: _ofUws, ...rawCase }: RawCase): RawCase {
  const { node = rawCase.uws.replaceAll(' by the parser', ''), serves = rawCase.serves } =
    rawCase.differences;
  return { ...rawCase, uws: node, serves };
}

/** Whether the server sent an error or nothing. For malformed requests each adapter has different errors. */
const isRejection = (description: string) =>
  /^(nothing|400|413|414|417|431|505), (open|closed)$/.test(description);

/** How many servers run at the same time. Each handles one case at a time. */
const concurrency = 16;
const timesOfWhole = { quietMs: 250, settleMs: 20 };
const timesOfPieces = { quietMs: 15, settleMs: 3 };

type Outcomes = ReadonlyMap<RawCase, RawOutcome>;

/** Sends each case in one piece. */
async function runAllCases(): Promise<Outcomes> {
  const pool = await openServerPool(concurrency);
  const outcomes = allCases.map(async (rawCase) => {
    const { bytes, serves } = rawCase;
    return [rawCase, await pool.run([bytes], { responses: serves.length, ...timesOfWhole })] as const;
  });
  const received = new Map(await Promise.all(outcomes));
  await pool.close();
  return received;
}

const problemsOf = (outcomes: Outcomes, rawCase: RawCase) => {
  const outcome = outcomes.get(rawCase);
  if (outcome === undefined) throw new Error(`${rawCase.name} was not run.`);
  return findProblems(rawCase.serves, outcome);
};
const descriptionOf = (outcomes: Outcomes, rawCase: RawCase) => {
  const outcome = outcomes.get(rawCase);
  return outcome && describeReceived(outcome.received);
};

/** Selects all divisions, or every fifth one, starting at an offset that depends on the seed. */
const isSampled = (_pieces: unknown, at: number) => longForm || at % 5 === testSeed % 5;

/** The cases that the parser reads as an incomplete request, so the server waits for more bytes. */
const incompleteCases = allCases.filter(({ uws }) => uws === 'nothing, open');

/** Returns the names of the incomplete cases for which the server keeps the connection open for more than 13 s. */
async function findConnectionsLeftOpen(): Promise<readonly string[]> {
  const pool = await openServerPool(incompleteCases.length);
  const open: string[] = [];
  await Promise.all(
    incompleteCases.map(async ({ name, bytes }) => {
      const { received } = await pool.run([bytes], { responses: 1, quietMs: 13_000, settleMs: 13_000 });
      if (!received.isClosed) open.push(name);
    }),
  );
  await pool.close();
  return open;
}

describe.runIf(has('a port'))('raw HTTP', () => {
  let onGateway: Outcomes;
  let pool: ServerPool;
  /** Starts first, because it takes 12 s. */
  let leftOpen: Promise<readonly string[]>;

  beforeAll(async () => {
    leftOpen = findConnectionsLeftOpen();
    onGateway = await runAllCases();
    pool = await openServerPool(concurrency);
  });
  afterAll(() => pool.close());

  for (const [group, cases] of groups) {
    // oxlint-disable-next-line vitest/valid-title -- the groups' names
    describe(group, () => {
      it.each(cases.map((rawCase) => [rawCase.name, rawCase] as const))('%s', (_name, rawCase) => {
        // First the expectation of the table, then the rules that hold for every case.
        const description = descriptionOf(onGateway, rawCase) ?? '';
        const isSame =
          !isUws && isRejection(description) && isRejection(rawCase.uws) && rawCase.serves.length === 0;
        expect(isSame ? rawCase.uws : description).toBe(rawCase.uws);
        // If a known limitation is fixed, the table and docs/adapters.md must be updated.
        const { knownLimitation } = rawCase;
        expect({ isCorrect: problemsOf(onGateway, rawCase).length === 0, knownLimitation }).toEqual({
          isCorrect: knownLimitation === undefined,
          knownLimitation,
        });
      });

      it(`no bytes inside a body run as a request, however the ${group} cases are divided into packets`, async () => {
        const jobs = cases.flatMap((rawCase) =>
          rawCase.knownLimitation === undefined
            ? [...splits(rawCase.bytes)].filter(isSampled).map((pieces) => ({ rawCase, pieces }))
            : [],
        );
        const problems = jobs.map(async ({ rawCase: { name, serves }, pieces }) => {
          const outcome = await pool.run(pieces, { responses: serves.length, ...timesOfPieces });
          const cut = pieces.length > 2 ? 'each byte' : pieces[0]?.length;
          return findProblems(serves, outcome).map((problem) => `${name}, cut at ${cut}: ${problem}`);
        });
        expect((await Promise.all(problems)).flat()).toEqual([]);
      });
    });
  }

  it('docs/adapters.md has a heading for each known limitation', async () => {
    const page = await readFile(new URL('../../../../docs/adapters.md', import.meta.url), 'utf8');
    const missing = allCases.filter(
      ({ knownLimitation }) => knownLimitation !== undefined && !page.includes(`### ${knownLimitation}\n`),
    );
    expect(missing).toEqual([]);
  });

  it('the server closes a connection with an incomplete request within 13 s', async () => {
    expect(incompleteCases.length).toBeGreaterThan(0);
    expect(await leftOpen).toEqual([]);
  });
});
