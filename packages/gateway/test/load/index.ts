/** Load tests for any server that a `StartUnderLoad` function starts. */
export type { Adapter } from '../adapters.ts';
export { finish } from '../trpcClients/commandLine.ts';
export { briefFloods, fullFloods, measureFlood, measureFloods } from './floods.ts';
export { holdConnections, longHeld, shortHeld } from './held.ts';
export { loadLevels, longLevels, type Measured, shortLevels } from './levels.ts';
export type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
export { startPinned } from './pinned.ts';
export { apiKey, nameLength, pets } from './requests.ts';
