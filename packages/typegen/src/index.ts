export { generateTypes, type TypesOptions } from './generateTypes.ts';
export { TypegenError } from './typegenError.ts';
