#!/usr/bin/env node
import type { AnyTRPCRouter } from '@trpc/server';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { migrationReport, type ProcedureReport } from './migrationReport.ts';

const usage = `Usage: trpc-gateway report FILE [--export NAME]

Prints what clients of a router on trpc-to-openapi 3.3 would see differently on trpc-gateway.

  FILE           The module that exports the router: JavaScript, or TypeScript whose types Node can strip. For other
                 TypeScript, set NODE_OPTIONS to its loader, such as --import=tsx.
  --export NAME  The name of the exported router. Default: the only router that the module exports.
`;

/** Writes a text, and exits explicitly: what the router's module has opened would keep the process alive. */
const end = (stream: NodeJS.WriteStream, text: string, code: number) =>
  stream.write(text, () => process.exit(code));

try {
  const { values, positionals } = parseArgs({
    options: { export: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [command, file] = positionals;
  if (values.help) end(process.stdout, usage, 0);
  else if (command !== 'report' || file === undefined) end(process.stderr, usage, 2);
  else end(process.stdout, print(await migrationReport(await routerOf(file, values.export))), 0);
} catch (error) {
  end(process.stderr, `${(error as Error).message}\n`, 1);
}

async function routerOf(file: string, name: string | undefined): Promise<AnyTRPCRouter> {
  const exported = (await import(pathToFileURL(resolve(file)).href)) as Record<string, AnyTRPCRouter>;
  const names = Object.keys(exported).filter(
    (each) => (exported[each] as AnyTRPCRouter | undefined)?._def?.router,
  );
  // Under two names it is one router.
  const [router, another] = new Set(
    names.filter((each) => each === (name ?? each)).map((each) => exported[each]),
  );
  if (router && !another) return router;
  throw new Error(
    `${file} exports ${names.length === 0 ? 'no router' : `the routers ${names.join(', ')}; choose one with --export`}.`,
  );
}

function print(report: readonly ProcedureReport[]): string {
  const kinds = {
    always: 'always',
    withoutPreset: 'without preset',
    withAuthentication: 'with authentication',
  } as const;
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const lines = report.flatMap(({ procedure, operation, ...changes }) => {
    const found = names.filter((kind) => changes[kind].length > 0);
    const name = operation === undefined ? procedure : `${operation} (${procedure})`;
    const each = found.map((kind) => `  ${kinds[kind]}: ${changes[kind].join('; ')}`);
    return each.length > 0 ? [name, ...each] : [];
  });
  const counts = names.map(
    (kind) => `${report.filter((each) => each[kind].length > 0).length} ${kinds[kind]}`,
  );
  return [
    ...lines,
    'Every error without preset: { code, message, status }, not { message, code, data, issues }',
    `Of ${report.length} procedures change: ${counts.join(', ')}`,
    '',
  ].join('\n');
}
