/** Prints what each host does with each case: `node --conditions=@petstore/source measure.ts [part of a name]`. */
import { rawCaseGroups } from './cases/index.ts';
import { send, describeReceived } from './send.ts';
import { bareServer, gatewayServer, nodeServer } from './hosts.ts';

const [, , part = ''] = process.argv;
const hosts = { us: await gatewayServer(), node: await nodeServer(), bare: await bareServer() };
for (const [group, cases] of Object.entries(rawCaseGroups)) {
  for (const { name, bytes, serves } of cases) {
    if (!name.includes(part)) continue;
    const told: Record<string, unknown> = { group, name };
    for (const [kind, host] of Object.entries(hosts)) {
      host.handled.length = 0;
      // oxlint-disable-next-line no-await-in-loop -- each host is asked alone: what it handled is this case's
      const exchanged = await send(host.port, [bytes], {
        responses: serves.length,
        quietMs: 250,
        settleMs: 12,
      });
      told[kind] = describeReceived(exchanged);
      told[`${kind}Handled`] = host.handled.splice(0).map((target) => target.slice(0, 60));
    }
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}
process.exit();
