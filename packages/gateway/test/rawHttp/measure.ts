/** Prints what each host does with each case: `node --conditions=@petstore/source measure.ts [part of a name]`. */
import { rawCaseGroups } from './cases/index.ts';
import { exchange, tell } from './exchange.ts';
import { bareHost, gatewayHost, nodeHost } from './hosts.ts';

const [, , part = ''] = process.argv;
const hosts = { us: await gatewayHost(), node: await nodeHost(), bare: await bareHost() };
for (const [group, cases] of Object.entries(rawCaseGroups)) {
  for (const { name, bytes, serves } of cases) {
    if (!name.includes(part)) continue;
    const told: Record<string, unknown> = { group, name };
    for (const [kind, host] of Object.entries(hosts)) {
      host.handled.length = 0;
      // oxlint-disable-next-line no-await-in-loop -- each host is asked alone: what it handled is this case's
      const exchanged = await exchange(host.port, [bytes], {
        answers: serves.length,
        quietMs: 250,
        settleMs: 12,
      });
      told[kind] = tell(exchanged);
      told[`${kind}Handled`] = host.handled.splice(0).map((target) => target.slice(0, 60));
    }
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
}
process.exit();
