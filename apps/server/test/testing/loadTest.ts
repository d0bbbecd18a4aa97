/**
 * Floods the pet store's process: `npm run test:floods -w @petstore/server`. `SERVER` chooses the adapter; without it,
 * all three are measured. Prints the measurements and exits with code 1 if a goal is missed.
 */
import { type Adapter, finish, fullFloods, measureFloods } from 'trpc-gateway-test/load';
import { startPetStoreUnderLoad } from './petStoreUnderLoad.ts';

const { SERVER } = process.env;
const byServer: Record<string, object> = {};
const allProblems: string[] = [];
for (const server of SERVER === undefined ? (['uws', 'node', 'bun'] as const) : [SERVER as Adapter]) {
  const { measured, problems } = await measureFloods(() => startPetStoreUnderLoad(server), fullFloods);
  byServer[server] = measured;
  allProblems.push(...problems.map((problem) => `${server}: ${problem}`));
}
finish(byServer, allProblems);
