/**
 * Prints the behaviour of each server for each case: `node --conditions=trpc-gateway-source measure.ts [part of a name]`.
 */
import { rawCaseGroups } from './cases/index.ts';
import { bareServer, gatewayServer, nodeServer } from './rawServers.ts';
import { describeReceived, send } from './send.ts';

const [, , namePart = ''] = process.argv;
const servers = { uws: await gatewayServer(), node: await nodeServer(), bare: await bareServer() };
for (const [group, cases] of Object.entries(rawCaseGroups)) {
  for (const { name, bytes, serves } of cases) {
    if (!name.includes(namePart)) continue;
    const row: Record<string, unknown> = { group, name };
    for (const [kind, server] of Object.entries(servers)) {
      server.handled.length = 0;
      // oxlint-disable-next-line no-await-in-loop -- one case at a time: all handled requests are of this case
      const received = await send(server.port, [bytes], {
        responses: serves.length,
        quietMs: 250,
        settleMs: 12,
      });
      row[kind] = describeReceived(received);
      row[`${kind}Handled`] = server.handled.splice(0).map((target) => target.slice(0, 60));
    }
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}
process.exit();
