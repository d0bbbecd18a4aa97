/** A feature of a server that a suite may need, besides `fetch`. */
export type Capability = 'a port' | 'WebSockets' | 'a count of its connections' | 'load shedding';

/** The adapters that the suites run over, with their features. A test that needs another feature is skipped. */
export const adapters = {
  uws: ['a port', 'WebSockets', 'a count of its connections', 'load shedding'],
  node: ['a port', 'WebSockets', 'a count of its connections', 'load shedding'],
  bun: ['a port', 'WebSockets', 'a count of its connections', 'load shedding'],
  /** `gateway.fetch`, in the process of the test. */
  fetch: [],
} as const satisfies Readonly<Record<string, readonly Capability[]>>;

export type Adapter = keyof typeof adapters;

/** Reads `ADAPTER`. Default: uws, or node where uWebSockets.js has no binary. @throws {Error} if unknown */
export function adapterOfRun(): Adapter {
  const { ADAPTER: adapter = process.env['WITHOUT_UWS'] === undefined ? 'uws' : 'node' } = process.env;
  if (!Object.hasOwn(adapters, adapter)) {
    throw new Error(`ADAPTER is "${adapter}". Set it to one of ${Object.keys(adapters).join(', ')}.`);
  }
  return adapter as Adapter;
}
