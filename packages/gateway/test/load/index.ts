/** Load tests for any server that a `StartUnderLoad` function starts. */
export type { Adapter } from '../adapters.ts';
export { finish } from './measured.ts';
export { briefFloods, fullFloods, measureFlood, measureFloods } from './floods.ts';
export type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
export { startPinned } from './pinned.ts';
export { apiKey, nameLength, pets } from './requests.ts';
