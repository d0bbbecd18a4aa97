// For services and packages that check their own options as `createGateway` does: a line for each invalid one.
export { formatValue } from '../http/formatValue.ts';
export {
  editDistance,
  optional,
  optionProblems,
  type OptionRule,
  type OptionRules,
  required,
} from './optionRules.ts';
