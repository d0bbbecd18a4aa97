/** Until all protocols import `Failure`. */
export { Failure as Failed } from './execute.ts';
