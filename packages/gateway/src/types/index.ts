export { generateTypes, type TypesOptions } from './generateTypes.ts';
export { GatewayError } from '../procedures/gatewayError.ts';
