import { expect, it } from 'vitest';
import { adapterDifferences } from '../adapterDifferences.ts';
import { adapterOfRun } from '../adapters.ts';
import { start } from '../trpc/start.ts';

const adapter = adapterOfRun();
const ownDifferences = adapterDifferences.filter(({ observed }) => adapter in observed);

it.each(ownDifferences)(`${adapter} handles $name as listed`, async ({ options, observe, observed }) => {
  expect(await observe(await start(options))).toEqual(observed[adapter]);
});

it('each entry of adapterDifferences differs between two adapters', () => {
  for (const { observed } of adapterDifferences) {
    expect(new Set(Object.values(observed).map((each) => JSON.stringify(each))).size).toBeGreaterThan(1);
  }
});
