import type { Case } from '../cases.ts';
import { bun, type Contender, contender, node } from '../contenders.ts';

/** Cases that are measured together, and who answers them. */
export interface Suite {
  readonly cases: readonly Case[];
  readonly contenders: readonly Contender[];
}

/** One router, served by the gateway on each of its servers. */
export const gatewayOnEach = (file: string, readyPath: string): readonly Contender[] => [
  contender({
    name: 'gateway',
    title: 'this gateway on uWebSockets.js',
    command: node(file),
    environment: { SERVER: 'uws' },
    readyPath,
  }),
  contender({
    name: 'gateway-node',
    title: 'this gateway on node:http',
    command: node(file),
    environment: { SERVER: 'node' },
    readyPath,
  }),
  contender({
    name: 'gateway-bun',
    title: 'this gateway on Bun',
    runtime: 'bun',
    command: bun(file),
    environment: { SERVER: 'bun' },
    readyPath,
  }),
];
