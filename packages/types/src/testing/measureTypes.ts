import { everyCompiler } from '@petstore/testing/compile';
import { budgets, measureCost } from './typeBudget.ts';

// `npm run measure:types -w @petstore/types` measures the compiler's cost of the generated types of 200 procedures for a consumer.
const row = (...cells: readonly (string | number)[]) =>
  process.stdout.write(`${cells.map((cell, at) => String(cell).padStart(at === 0 ? 24 : 15)).join('')}\n`);

row('', 'calls', 'types', 'instantiations', 'budget', 'check (s)', 'memory (MB)');
for (const options of everyCompiler) {
  for (const { calls, instantiations: budget } of budgets) {
    const { types, instantiations, seconds, megabytes } = await measureCost(calls, options);
    const mode = `${options.compiler}${options.exactOptionalPropertyTypes ? ', exact' : ''}`;
    row(mode, calls, types, instantiations, budget, seconds, megabytes.toFixed(0));
    if (instantiations > budget) process.exitCode = 1;
  }
}
if (process.exitCode) process.stderr.write('The generated types are over their budget.\n');
