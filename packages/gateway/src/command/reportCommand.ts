import { parseArgs } from 'node:util';
import { migrationReport, type ProcedureReport } from '../trpcToOpenApi/migrationReport.ts';
import type { CommandResult } from './commandResult.ts';
import { findRouter, importModule } from './routerModule.ts';
import { usage } from './usage.ts';

/** Runs `trpc-gateway report` with its arguments. */
export async function reportCommand(argv: readonly string[]): Promise<CommandResult> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { export: { type: 'string' } },
    allowPositionals: true,
  });
  const [file, another] = positionals;
  if (file === undefined || another !== undefined) return { stderr: usage, code: 2 };
  const router = findRouter(await importModule(file), file, values.export);
  return { stdout: print(await migrationReport(router)), code: 0 };
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
