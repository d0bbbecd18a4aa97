import { expect, it } from 'vitest';
import { adapterDifferences } from '../adapterDifferences.ts';
import { adapterOfRun } from '../adapters.ts';
import { serveGateway, serveOfficial, startRpc } from '../trpc/rpcServers.ts';

const adapter = adapterOfRun();
const ownDifferences = adapterDifferences.filter(({ observed }) => adapter in observed);

it.each(ownDifferences)(`${adapter} handles $name as listed`, async ({ options, observe, observed }) => {
  expect(await observe(await startRpc(serveGateway, options))).toEqual(observed[adapter]);
});

it.runIf(adapter === 'uws').each(adapterDifferences.filter(({ official }) => official !== undefined))(
  'tRPC’s own adapters handle $name as listed',
  async ({ options, observe, official }) => {
    expect(await observe(await startRpc(serveOfficial, options))).toEqual(official);
  },
);
