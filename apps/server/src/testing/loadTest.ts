/**
 * Measures the pet store's process under load: `npm run test:load -w @petstore/server` (`levels`), `test:floods` and
 * `test:held`. `--long` runs the long form. `SERVER` chooses the adapter; without it, `test:floods` measures all three. Prints
 * the measurements and exits with code 1 if a goal is missed.
 */
import {
  type Adapter,
  finish,
  fullFloods,
  holdConnections,
  loadLevels,
  longHeld,
  longLevels,
  type Measured,
  measureFloods,
  shortHeld,
  shortLevels,
} from 'trpc-gateway-test/load';
import { startPetStoreUnderLoad } from './petStoreUnderLoad.ts';

const { SERVER } = process.env;
const start = () => startPetStoreUnderLoad(SERVER ?? 'auto');
const isLong = process.argv.includes('--long');
const measurements: Readonly<Record<string, () => Promise<Measured>>> = {
  levels: () => loadLevels(start, isLong ? longLevels : shortLevels),
  floods: measureFloodsOnAdapters,
  held: () => holdConnections(start, isLong ? longHeld : shortHeld),
};
const measure = measurements[process.argv[2] ?? ''];
if (measure === undefined)
  throw new Error(`Name one of the measurements: ${Object.keys(measurements).join(', ')}`);
const result = await measure();
finish(result.measured, result.problems);

async function measureFloodsOnAdapters(): Promise<Measured> {
  const byServer: Record<string, object> = {};
  const allProblems: string[] = [];
  for (const server of SERVER === undefined ? (['uws', 'node', 'bun'] as const) : [SERVER as Adapter]) {
    const ofServer = await measureFloods(() => startPetStoreUnderLoad(server), fullFloods);
    byServer[server] = ofServer.measured;
    allProblems.push(...ofServer.problems.map((problem) => `${server}: ${problem}`));
  }
  return { measured: byServer, problems: allProblems };
}
