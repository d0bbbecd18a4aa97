export { generateTypes, type TypesOptions } from './generateTypes.ts';
export { TypegenError } from './typegenError.ts';
export type { ReadOutputs } from './outputs/describeOutputs.ts';
export { readOutputs } from './outputs/readOutputs.ts';
export type { RouterLocation } from './outputs/routerTypes.ts';
