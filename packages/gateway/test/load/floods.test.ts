import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe, expect, it } from 'vitest';
import { type Adapter, adapterOfRun } from '../adapters.ts';
import { briefFloodNames, briefFloods, measureFlood } from './floods.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

const adapter = adapterOfRun();
/** Bun runs beside the first adapter, from Node: Vitest on Bun cannot start processes. */
const bun = adapter === 'uws' ? runtimesToTest('bun') : [];
const servers: readonly (readonly [adapter: Adapter, executable: string])[] = [
  ...(adapter === 'fetch' ? [] : [[adapter, process.execPath] as const]),
  ...bun.map(({ executable }) => ['bun', executable] as const),
];

describe.each(servers)('on %s', (name, executable) => {
  it.each(briefFloodNames)(
    'other clients are served, and the process grows by at most 100 MB: %s',
    async (flood) => {
      const { problems } = await measureFlood(() => startPetsUnderLoad(name, executable), flood, briefFloods);
      expect(problems).toEqual([]);
    },
  );
});
