import { readFile } from 'node:fs/promises';
import { everyForm } from '@petstore/testing/forms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { rawCaseGroups } from './cases/index.ts';
import { describeReceived } from './send.ts';
import { bareServer, gatewayServer, nodeServer, type RawServer } from './hosts.ts';
import { judge, type Deeds } from './judge.ts';
import { openLanes, type Lanes } from './lanes.ts';
import { nodeDifferences } from './nodeDifferences.ts';
import type { RawCase } from './rawCase.ts';
import { splits } from './splits.ts';
import { has } from '../servers.ts';
import { testSeed } from '../testSeed.ts';

const adapter = adapterOfRun();
const isUws = adapter === 'uws';
/** Whether the cases are tested too: on other servers, once. */
const runsOthers = everyForm && isUws;

const groups = Object.entries(rawCaseGroups).map(
  ([group, cases]) => [group, isUws ? cases : cases.map(onNode)] as const,
);
const all = groups.flatMap(([, cases]) => cases);

/** A case as the adapter on node:http has it. What uWebSockets.js alone cannot mend is right there. */
function onNode({ unmended: _ofUws, ...rawCase }: RawCase): RawCase {
  const difference = nodeDifferences.find(({ cases }) => cases.includes(rawCase.name));
  const us = difference?.node ?? rawCase.us.replaceAll(' by the parser', '');
  return { ...rawCase, us, serves: difference?.serves ?? rawCase.serves };
}

/** An error or no response, which each adapter has its own of for bytes that are no request. */
const isRejection = (told: string) => /^(nothing|400|413|414|417|431|505), (open|closed)$/.test(told);

/** How many servers are asked at once, each one thing at a time. */
const width = 16;
const inFull = { quietMs: 250, settleMs: 20 };
const inPieces = { quietMs: 15, settleMs: 3 };

/** Runs jobs, a few at once. */
async function workOff<Job>(jobs: Iterable<Job>, work: (job: Job) => Promise<void>): Promise<void> {
  const pending = jobs[Symbol.iterator]();
  const worker = async () => {
    for (let next = pending.next(); !next.done; next = pending.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Sends each case in one piece to a kind of server. */
async function whole(open: () => Promise<RawServer>): Promise<ReadonlyMap<RawCase, Deeds>> {
  const lanes = await openLanes(open, width);
  const done = new Map<RawCase, Deeds>();
  await workOff(all, async (rawCase) => {
    const { bytes, serves } = rawCase;
    done.set(rawCase, await lanes.run([bytes], { responses: serves.length, ...inFull }));
  });
  await lanes.close();
  return done;
}

const faultsOf = (deeds: ReadonlyMap<RawCase, Deeds>, rawCase: RawCase) => {
  const done = deeds.get(rawCase);
  if (done === undefined) throw new Error(`${rawCase.name} was not run.`);
  return judge(rawCase.serves, done);
};
const toldOf = (deeds: ReadonlyMap<RawCase, Deeds>, rawCase: RawCase) => {
  const done = deeds.get(rawCase);
  return done && describeReceived(done.exchanged);
};

/** All cuts, or every fifth, others in each run. */
const isTried = (_pieces: unknown, at: number) => everyForm || at % 5 === testSeed % 5;

/** What the parser takes for half a request, and waits for the rest of. */
const waiting = all.filter(({ us }) => us === 'nothing, open');

/** @returns which of them the server leaves open for more than 13 s */
async function waitForTheEnd(): Promise<readonly string[]> {
  const lanes = await openLanes(gatewayServer, waiting.length);
  const open: string[] = [];
  await Promise.all(
    waiting.map(async ({ name, bytes }) => {
      const { exchanged } = await lanes.run([bytes], { responses: 1, quietMs: 13_000, settleMs: 13_000 });
      if (!exchanged.isClosed) open.push(name);
    }),
  );
  await lanes.close();
  return open;
}

describe.runIf(has('a port'))('raw HTTP', () => {
  let us: ReadonlyMap<RawCase, Deeds>;
  let node: ReadonlyMap<RawCase, Deeds>;
  let bare: ReadonlyMap<RawCase, Deeds>;
  let lanes: Lanes;
  /** What is left open when all has been sent. It takes 12 s: it begins first. */
  let leftOpen: Promise<readonly string[]>;

  beforeAll(async () => {
    leftOpen = waitForTheEnd();
    us = await whole(gatewayServer);
    // What other hosts do with the cases is a test of the cases.
    if (runsOthers) {
      node = await whole(nodeServer);
      bare = await whole(bareServer);
    }
    lanes = await openLanes(gatewayServer, width);
  }, 60_000);
  afterAll(() => lanes.close());

  for (const [group, cases] of groups) {
    // oxlint-disable-next-line vitest/valid-title -- the groups' names
    describe(group, () => {
      it.each(cases.map((rawCase) => [rawCase.name, rawCase] as const))('%s', (_name, rawCase) => {
        // What is in the table, in its words; then the law.
        const told = toldOf(us, rawCase) ?? '';
        const isSame = !isUws && isRejection(told) && isRejection(rawCase.us) && rawCase.serves.length === 0;
        expect({
          us: isSame ? rawCase.us : told,
          node: runsOthers ? toldOf(node, rawCase) : rawCase.node,
        }).toEqual({
          us: rawCase.us,
          node: rawCase.node,
        });
        // Where one that cannot be mended is mended, the table and the documentation are to say so.
        const { unmended } = rawCase;
        expect({ isRight: faultsOf(us, rawCase).length === 0, unmended }).toEqual({
          isRight: unmended === undefined,
          unmended,
        });
      });

      it('never runs what is in a body, however the bytes are cut', async () => {
        const jobs = cases.flatMap((rawCase) =>
          rawCase.unmended === undefined
            ? [...splits(rawCase.bytes)].filter(isTried).map((pieces) => ({ rawCase, pieces }))
            : [],
        );
        const faults: string[] = [];
        await workOff(jobs, async ({ rawCase: { name, serves }, pieces }) => {
          const deeds = await lanes.run(pieces, { responses: serves.length, ...inPieces });
          for (const fault of judge(serves, deeds)) {
            faults.push(`${name}, cut at ${pieces.length > 2 ? 'each byte' : pieces[0]?.length}: ${fault}`);
          }
        });
        expect(faults).toEqual([]);
      }, 60_000);
    });
  }

  it('lists of the adapter on node:http cases that there are, each once', () => {
    const names = nodeDifferences.flatMap(({ cases }) => cases);
    expect(new Set(names).size).toBe(names.length);
    const known = new Set(all.map(({ name }) => name));
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  it('has at least 150 cases, each of its own name', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(150);
  });

  it.runIf(runsOthers)('turns red where the defences are off', () => {
    const red = all.filter((rawCase) => rawCase.unmended === undefined && faultsOf(bare, rawCase).length > 0);
    const ran = red.filter((rawCase) =>
      bare.get(rawCase)?.handled.some((target) => !rawCase.serves.includes(target)),
    );
    process.stdout.write(
      `Raw HTTP: ${all.length} cases; uWebSockets.js alone fails ${red.length}, and runs in ${ran.length} what it must not.\n`,
    );
    expect(red.length).toBeGreaterThan(90);
  });

  it('documents what cannot be mended', async () => {
    const page = await readFile(new URL('../../../../docs/edge.md', import.meta.url), 'utf8');
    const missing = all.filter(
      ({ unmended }) =>
        unmended !== undefined &&
        !page.includes(`### ${unmended}
`),
    );
    expect(missing).toEqual([]);
  });

  it('closes by itself what is left waiting, within 13 s', async () => {
    expect(waiting.length).toBeGreaterThan(0);
    expect(await leftOpen).toEqual([]);
  }, 30_000);
});
