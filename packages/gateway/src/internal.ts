// For the other packages of this repository, which check options and call functions of a service as this one does. No part
// of the public interface: names and behaviour may change in any version.
export { formatProblems } from './checks/gatewayError.ts';
export { formatValue } from './http/formatValue.ts';
export { ignoreRejection, tryHook } from './http/hooks.ts';
export { isThenable } from './http/maybePromise.ts';
export { isTrpcError } from './procedures/isTrpcError.ts';
export { LimitError } from './procedures/limitError.ts';
export { editDistance, optional, optionProblems, type OptionRules, required } from './checks/optionRules.ts';
