/** A process that generates load. Start it with `startPinned(1, …)`. */
import { OpenLoop, type Load } from './openLoop.ts';
import { respondToParent } from './pinned.ts';

/** Opens connections, or sends requests on the open connections. */
export type GeneratorMessage =
  | { readonly open: { readonly port: number; readonly connections: number; readonly request: string } }
  | { readonly run: Load };

let loop: OpenLoop | undefined;

respondToParent(async (received) => {
  const message = received as GeneratorMessage;
  if ('run' in message) {
    if (loop === undefined) throw new Error('No connections are open.');
    return loop.run(message.run);
  }
  const { port, connections, request } = message.open;
  loop = new OpenLoop(port, connections, request);
  await loop.open();
  return {};
});
