import { checkServeOptions, memberNames, formatValue, unknownOptions } from '@petstore/gateway/listen';
import type { AdminOptions, RunOptions, Started } from './options.ts';
import { StartError } from './signals/startError.ts';

const runOptionNames = memberNames<RunOptions>({
  start: true,
  server: true,
  listen: true,
  log: true,
  telemetry: true,
  docs: true,
  admin: true,
  workers: true,
  preventRestart: true,
  explain: true,
  expectedErrors: true,
});

const adminOptionNames = memberNames<AdminOptions>({ host: true, port: true, metrics: true });

const startedMemberNames = memberNames<Started>({
  gateway: true,
  checks: true,
  metrics: true,
  startupLogFields: true,
  onListening: true,
});

/**
 * Checks the options of `run`.
 * @throws {StartError} with one line per unknown option or invalid value
 */
export function checkRunOptions(options: RunOptions): void {
  if (!isNonNullObject(options)) {
    throw new StartError(`run takes an object of options, not ${formatValue(options)}: run({ start }).`);
  }
  const { start, server = 'auto', listen = {}, log, telemetry, docs, admin } = options;
  const problems = [...unknownOptions('run', options, runOptionNames)];
  const expect = (isMet: boolean, name: string, value: unknown, expected: string) => {
    if (!isMet) problems.push(`The option ${name} of run is ${formatValue(value)}; it must be ${expected}.`);
  };
  expect(isFunction(start), 'start', start, 'a function that returns { gateway }');
  expect(
    ['auto', 'uws', 'node'].some((name) => name === server) || hasMethod(server, 'serve'),
    'server',
    server,
    '"auto", "uws", "node" or an adapter: { server, serve }',
  );
  expect(log === undefined || hasMethod(log, 'open'), 'log', log, 'log() of @petstore/runtime/log');
  expect(
    telemetry === undefined || isFunction(telemetry),
    'telemetry',
    telemetry,
    'the function openTelemetry of @petstore/runtime/opentelemetry, not its result',
  );
  expect(docs === undefined || isNonNullObject(docs), 'docs', docs, 'docsPage() of @petstore/runtime/docs');
  if (isNonNullObject(admin)) {
    problems.push(...unknownOptions('admin', admin, adminOptionNames));
    const { metrics, port } = admin;
    expect(isPort(port), 'admin.port', port, 'an integer from 0 to 65535');
    expect(
      metrics === undefined || hasMethod(metrics, 'open'),
      'admin.metrics',
      metrics,
      'metrics() of @petstore/runtime/metrics',
    );
  } else expect(admin === undefined, 'admin', admin, 'an object, such as { port: 9090 }');
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  try {
    checkServeOptions(listen);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/**
 * Checks the result of `start`.
 * @throws {StartError} with one line per unknown member or invalid value
 */
export function checkStarted(started: Started): void {
  if (!isNonNullObject(started) || !isNonNullObject(started.gateway)) {
    const actual = isNonNullObject(started) ? 'an object without a gateway' : formatValue(started);
    throw new StartError(
      `start returned ${actual}; it must return { gateway }, where gateway is await createGateway({ … }).`,
    );
  }
  const problems = [...unknownOptions('the object that start returns', started, startedMemberNames)];
  for (const [name, check] of Object.entries(started.checks ?? {})) {
    if (isFunction(check)) continue;
    problems.push(
      `The check ${name} is ${formatValue(check)}; it must be a function that throws if the check fails.`,
    );
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
}

const isNonNullObject = <T>(value: T): value is T & object => typeof value === 'object' && value !== null;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const hasMethod = (value: unknown, name: string): boolean =>
  isNonNullObject(value) && isFunction(Reflect.get(value, name));

const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536;
