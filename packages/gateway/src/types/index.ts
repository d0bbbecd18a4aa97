export { generateTypes, type TypesOptions } from './generateTypes.ts';
export { GatewayError } from '../gatewayError.ts';
