// For commands that read the router of a code base, as `trpc-gateway serve` and `trpc-gateway-typegen` do.
export { formatProblems } from '../checks/gatewayError.ts';
export { loadLazyRouters } from '../procedures/procedure.ts';
export { readErrors } from '../procedures/readErrors.ts';
export { findRouter, importModule, ModuleError, type ModuleExports } from './routerModule.ts';
export { type CommandResult, isArgumentError } from './usage.ts';
