import { formatValue, optional, optionProblems, type OptionRules, required } from 'trpc-gateway/options';
import { serveRules } from 'trpc-gateway/serve';
import type { AdminOptions, RunOptions, Started } from './options.ts';
import { StartError } from './signals/endProcess.ts';

const isNonNullObject = <T>(value: T): value is T & object => typeof value === 'object' && value !== null;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const hasMethod = (name: string) => (value: unknown) =>
  isNonNullObject(value) && isFunction(Reflect.get(value, name));

const anything = optional(() => true, 'anything');

const adminRules: OptionRules<AdminOptions> = {
  host: optional((value) => typeof value === 'string', 'a string'),
  port: required(
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536,
    'an integer from 0 to 65535',
  ),
  metrics: optional(hasMethod('open'), 'metrics() of trpc-gateway-runtime/metrics'),
};

const isServerName = (value: unknown) => value === 'uws' || value === 'node' || value === 'bun';
const areServerNames = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 && value.every(isServerName) : isServerName(value);

const runRules: OptionRules<RunOptions> = {
  start: required(isFunction, 'a function that returns { gateway }'),
  server: optional(
    (value) => areServerNames(value) || hasMethod('serve')(value),
    '"uws", "node", "bun", a list of these, or an adapter: { server, serve }',
  ),
  listen: optional(isNonNullObject, 'an object, such as listen: { port: 3000 }', serveRules),
  log: optional(hasMethod('open'), 'log() of trpc-gateway-runtime/log'),
  telemetry: optional(
    isFunction,
    'the function openTelemetry of trpc-gateway-runtime/opentelemetry, not its result',
  ),
  docs: optional(isNonNullObject, 'docsPage() of trpc-gateway-runtime/docs'),
  admin: optional(isNonNullObject, 'an object, such as admin: { port: 9090 }', adminRules),
  workers: anything,
  preventRestart: optional(isFunction, 'a function'),
  explain: optional(isFunction, 'a function'),
  expectedErrors: anything,
};

const startedRules: OptionRules<Started> = {
  gateway: required(isNonNullObject, 'a gateway, such as await createGateway({ … })'),
  checks: anything,
  metrics: anything,
  startupLogFields: anything,
  onListening: anything,
};

/** Checks the options of `run`. @throws {StartError} with one line per unknown option or invalid value */
export function checkRunOptions(options: RunOptions): void {
  const problems = optionProblems('run', options, runRules, 'run.');
  if (problems.length > 0) throw new StartError(problems.join('\n'));
}

/** Checks the result of `start`. @throws {StartError} with one line per unknown member or invalid value */
export function checkStarted(started: Started): void {
  if (!isNonNullObject(started) || !isNonNullObject(started.gateway)) {
    const actual = isNonNullObject(started) ? 'an object without a gateway' : formatValue(started);
    throw new StartError(
      `start returned ${actual}; it must return { gateway }, where gateway is await createGateway({ … }).`,
    );
  }
  const problems = [...optionProblems('the object that start returns', started, startedRules)];
  for (const [name, check] of Object.entries(started.checks ?? {})) {
    if (isFunction(check)) continue;
    problems.push(
      `The check ${name} is ${formatValue(check)}; it must be a function that throws if the check fails.`,
    );
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
}
