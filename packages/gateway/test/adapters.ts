/** A feature of a server that a suite may need, besides `fetch`. All adapters with a port have all of them. */
export type Capability = 'a port' | 'WebSockets' | 'a count of its connections' | 'load shedding';

/** The adapters that the suites run over. `fetch` is `gateway.fetch`, in the process of the test. */
export const adapters = ['uws', 'node', 'bun', 'fetch'] as const;

export type Adapter = (typeof adapters)[number];

/** Reads `ADAPTER`. Default: uws, or node where uWebSockets.js has no binary. @throws {Error} if unknown */
export function adapterOfRun(): Adapter {
  const { ADAPTER = process.env['WITHOUT_UWS'] === undefined ? 'uws' : 'node' } = process.env;
  const adapter = adapters.find((name) => name === ADAPTER);
  if (adapter === undefined)
    throw new Error(`ADAPTER is "${ADAPTER}". Set it to one of ${adapters.join(', ')}.`);
  return adapter;
}
