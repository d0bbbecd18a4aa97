import { readFile } from 'node:fs/promises';
import { longForm } from '@petstore/testing/forms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { has } from '../servers.ts';
import { testSeed } from '../testSeed.ts';
import { chunkCases } from './cases/chunks.ts';
import { connectionCases } from './cases/connection.ts';
import { framingCases } from './cases/framing.ts';
import { headerCases } from './cases/headers.ts';
import { requestLineCases } from './cases/requestLine.ts';
import { findProblems, type RawOutcome } from './findProblems.ts';
import type { RawCase } from './rawCase.ts';
import { openServerPool, type ServerPool } from './rawServers.ts';
import { describeReceived } from './send.ts';

const adapter = adapterOfRun();
const isUws = adapter === 'uws';
const isOlderUws = isUws && (await import('trpc-gateway/uws')).uwsVersion.startsWith('uws-pack ');

/** All cases, by the part of a request that they test. */
const groups = Object.entries({
  'request line': requestLineCases,
  framing: framingCases,
  chunks: chunkCases,
  headers: headerCases,
  connection: connectionCases,
}).map(([group, cases]) => [group, cases.map(isUws ? onUws : onNode)] as const);
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

/** Yields the tested divisions of bytes into packets: one packet, one per byte, and two packets cut at each offset. */
function* splits(bytes: string): Generator<readonly string[]> {
  yield [bytes];
  // A very long request is cut only around its line ends and at some offsets in between.
  const isShort = bytes.length <= 700;
  if (isShort) {
    yield bytes.split('');
    // uWebSockets.js 20 rejects a request line in pieces, so the line is also sent whole and the rest byte by byte.
    const lineLength = bytes.indexOf('\n') + 1;
    yield [bytes.slice(0, lineLength), ...bytes.slice(lineLength).split('')];
  }
  for (let at = 1; at < bytes.length; at += 1) {
    const isNearEnd = /[\r\n:]/.test(bytes.slice(Math.max(0, at - 2), at + 2));
    if (isShort || isNearEnd || at % 1009 === 0) yield [bytes.slice(0, at), bytes.slice(at)];
  }
}

/** Selects all divisions, or every fifth one, starting at an offset that depends on the seed. */
const isSampled = (_pieces: unknown, at: number) => longForm || at % 5 === testSeed % 5;

/** The cases that the parser reads as an incomplete request, so the server waits for more bytes. */
const incompleteCases = allCases.filter(({ uws }) => uws === 'nothing, open');

describe.runIf(has('a port'))('raw HTTP', () => {
  /** What each case does in one piece. */
  const outcomes = new Map<RawCase, RawOutcome>();
  let pool: ServerPool;
  /** Starts first, because it takes 12 s: the incomplete cases whose connection the server keeps open for more than 13 s. */
  let leftOpen: Promise<readonly string[]>;

  async function findLeftOpen({ name, bytes }: RawCase): Promise<readonly string[]> {
    const { received } = await pool.run([bytes], { responses: 1, quietMs: 13_000, settleMs: 13_000 });
    return received.isClosed ? [] : [name];
  }

  beforeAll(async () => {
    pool = await openServerPool(concurrency + incompleteCases.length);
    leftOpen = Promise.all(incompleteCases.map(findLeftOpen)).then((names) => names.flat());
    const running = allCases.map(async (rawCase) => {
      const { bytes, serves } = rawCase;
      outcomes.set(rawCase, await pool.run([bytes], { responses: serves.length, ...timesOfWhole }));
    });
    await Promise.all(running);
  });
  afterAll(() => pool.close());

  for (const [group, cases] of groups) {
    // oxlint-disable-next-line vitest/valid-title -- the groups' names
    describe(group, () => {
      it.each(cases.map((rawCase) => [rawCase.name, rawCase] as const))('%s', (_name, rawCase) => {
        // First the expectation of the table, then the rules that hold for every case.
        const outcome = outcomes.get(rawCase) as RawOutcome;
        const description = describeReceived(outcome.received);
        const isSame =
          !isUws && isRejection(description) && isRejection(rawCase.uws) && rawCase.serves.length === 0;
        expect(isSame ? rawCase.uws : description).toBe(rawCase.uws);
        // If a known limitation is fixed, the table and docs/adapters.md must be updated.
        const problems = findProblems(rawCase.serves, outcome);
        expect({ problems, isLimited: problems.length > 0 }).toEqual({
          problems,
          isLimited: rawCase.knownLimitation !== undefined,
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
