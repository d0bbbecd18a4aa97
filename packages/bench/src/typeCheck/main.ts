// `npm run bench:types -w @petstore/bench`: how long the type check of a client takes, and of the server that it takes its types from.
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from '../statistics.ts';
import { clients, writeProject } from './project.ts';
import { checkTypes, compilerVersion, type TypeCheck, writeDeclarations, writeTypes } from './typeScript.ts';

const { values } = parseArgs({
  options: {
    /** How many procedures, with commas between the sizes. */
    procedures: { type: 'string', default: '1000,3000' },
    /** How often each is checked: the median counts. */
    runs: { type: 'string', default: '3' },
  },
});

const rows: readonly (readonly [folder: string, title: string])[] = [
  ['typegen', 'client, types of `trpc-gateway-typegen`'],
  ['trpcClient', "client, tRPC's `typeof appRouter`"],
  ['trpcDeclarations', "client, tRPC's `typeof appRouter` from declarations"],
  ['orpcClient', "client, oRPC's `RouterClient<typeof router>`"],
  ['orpcDeclarations', "client, oRPC's `RouterClient<typeof router>` from declarations"],
  ['trpcServer', 'server alone, tRPC'],
  ['orpcServer', 'server alone, oRPC'],
];

const print = (line: string) => void process.stdout.write(`${line}\n`);

print(`TypeScript ${await compilerVersion()}, ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores.\n`);
print('| procedures | checked | seconds | processor time, s | memory, MB | types |');
print('|--:|---|--:|--:|--:|--:|');
for (const procedures of values.procedures.split(',').map(Number)) {
  const project = await mkdtemp(join(tmpdir(), 'petstore-types-'));
  try {
    await writeProject(project, procedures);
    await writeTypes(project);
    const checks = new Map<string, TypeCheck[]>(rows.map(([folder]) => [folder, []]));
    for (const { library, name } of [clients.trpcDeclarations, clients.orpcDeclarations]) {
      try {
        await writeDeclarations(project, library);
      } catch (error) {
        if (!String(error).includes('TS7056')) throw error;
        checks.delete(name);
        process.stderr.write(`SKIPPED: ${name} of ${procedures}: ${String(error)}\n`);
      }
    }
    // In turn: what else the machine does falls on all of them alike.
    for (let run = 0; run < Number(values.runs); run += 1) {
      for (const [folder, list] of checks) list.push(await checkTypes(join(project, folder)));
    }
    for (const [folder, title] of rows) {
      const runs = checks.get(folder);
      if (runs === undefined) continue;
      const of = (figure: keyof TypeCheck) => median(runs.map((each) => each[figure]));
      const figures = [
        of('seconds').toFixed(2),
        of('processorSeconds').toFixed(2),
        of('memoryMb').toFixed(0),
        of('types').toLocaleString('en-US'),
      ];
      print(`| ${procedures.toLocaleString('en-US')} | ${title} | ${figures.join(' | ')} |`);
    }
  } finally {
    await rm(project, { recursive: true });
  }
}
