/**
 * Measures the pet store's process under load: `npm run test:load` (`levels`), `test:floods` and `test:held`. `--long` runs
 * the long form. Prints the measurements and exits with code 1 if a goal is missed.
 */
import {
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
} from '@petstore/gateway-test/load';
import { startPetStoreUnderLoad as start } from './petStoreUnderLoad.ts';

const isLong = process.argv.includes('--long');
const measurements: Readonly<Record<string, () => Promise<Measured>>> = {
  levels: () => loadLevels(start, isLong ? longLevels : shortLevels),
  floods: () => measureFloods(start, fullFloods),
  held: () => holdConnections(start, isLong ? longHeld : shortHeld),
};
const measure = measurements[process.argv[2] ?? ''];
if (measure === undefined)
  throw new Error(`Name one of the measurements: ${Object.keys(measurements).join(', ')}`);
const { measured, problems } = await measure();
finish(measured, problems);
