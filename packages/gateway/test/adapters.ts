/** What a suite may ask of a server, besides `fetch`. */
export type Capability = 'a port' | 'WebSockets' | 'a count of its connections' | 'load shedding';

/** The adapters that the suites run over, and what each has. A test that asks for what its adapter lacks is skipped. */
export const adapters = {
  uws: ['a port', 'WebSockets', 'a count of its connections', 'load shedding'],
  node: ['a port', 'WebSockets', 'a count of its connections', 'load shedding'],
  /** `gateway.fetch`, in the process of the test. */
  fetch: [],
} as const satisfies Readonly<Record<string, readonly Capability[]>>;

export type Adapter = keyof typeof adapters;

/**
 * The adapter of this run: vitest.config.ts has a project for each, which sets the environment variable `ADAPTER`. A process
 * that is started by hand may set it too. Default: uws.
 */
export function adapterOfRun(): Adapter {
  const { ADAPTER: adapter = 'uws' } = process.env;
  if (!Object.hasOwn(adapters, adapter)) {
    throw new Error(`ADAPTER is "${adapter}". Set it to one of ${Object.keys(adapters).join(', ')}.`);
  }
  return adapter as Adapter;
}
