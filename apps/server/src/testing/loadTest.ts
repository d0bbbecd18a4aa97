/**
 * Measures the pet store's process under load: `npm run test:load` (`levels`), `test:floods` and `test:held`; with `--long`
 * the long form. It prints what it measured, and ends with 1 where a goal is missed.
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
if (measure === undefined) throw new Error(`Which measurement? ${Object.keys(measurements).join(', ')}`);
const { measured, faults } = await measure();
finish(measured, faults);
