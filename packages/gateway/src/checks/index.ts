// For services and packages whose own options are checked as those of `createGateway`: with one line for each that is unknown,
// misspelled or invalid.
export { formatValue } from '../http/formatValue.ts';
export {
  editDistance,
  optional,
  optionProblems,
  type OptionRule,
  type OptionRules,
  required,
} from './optionRules.ts';
