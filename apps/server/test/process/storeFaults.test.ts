import { setTimeout as sleep } from 'node:timers/promises';
import { commandMissing } from '@petstore/testing/commandMissing';
import { everyForm, longForm } from '@petstore/testing/forms';
import { mongodbUri } from '@petstore/testing/mongodb';
import { slowness } from '@petstore/testing/slowness';
import { expect, test } from 'vitest';
import { listAll, problemsOf, startCreates } from '../testing/creates.ts';
import { faults, startFaultyService } from '../testing/faultyService.ts';

// What the processes share besides their store has the faults of packages/faults.

const rounds = longForm ? 50 : 2;
/** Acknowledged creates before and after each fault. */
const createsAround = 30;

const seed = Number(process.env['TEST_SEED'] ?? 1);
const cells = (['folder', 'database'] as const)
  .flatMap((store) => Object.entries(faults[store]).map(([fault, begin]) => ({ store, fault, begin })))
  .filter(({ store }) => store === 'folder' || mongodbUri !== undefined)
  .filter(({ fault }) => !(fault.startsWith('EIO') && commandMissing('strace')))
  // `npm test` runs a sixth, and another one each time.
  .filter((_, at) => everyForm || (at + seed) % 6 === 0);

// The long form: `npm run test:storefaults -w @petstore/server`.
test.each(cells)(
  'with the fault "$fault", two processes on a $store lose no acknowledged animal, store none twice and recover',
  { timeout: rounds * 60_000 * slowness },
  async ({ store, fault, begin }) => {
    const service = await startFaultyService(store);
    const creates = startCreates(service.places.map(({ front }) => front.uri));
    for (let round = 0; round < rounds; round += 1) {
      await creates.acknowledgedMore(createsAround);
      const end = await begin(service);
      await sleep(Math.random() * 1000);
      await end();
      await creates.acknowledgedMore(createsAround);
    }
    await creates.stop();
    const serving = service.places.find(({ server: { child } }) => child.exitCode === null);
    expect(problemsOf(creates, await listAll(serving?.server.origin ?? ''))).toEqual([]);
    const exits = await Promise.all(service.places.map(({ server }) => server.stop()));
    // LMDB cannot be used after an error of a meta page, and lmdb 3.5.6 damages its heap at times after a failed write.
    const mayFail = fault === 'EIO of pwrite64';
    expect(exits.filter(({ code }) => code !== 0 && !mayFail)).toEqual([]);
    const verified = store === 'folder' ? await service.command(['verify']) : { code: 0 };
    expect(verified).toMatchObject({ code: 0 });
  },
);
