#!/usr/bin/env node
import type { CommandResult } from './commandResult.ts';
import { isArgumentError, usage } from './usage.ts';

// Imported only if it runs: the report needs no adapter.
const commands: Readonly<Record<string, () => Promise<(argv: readonly string[]) => Promise<CommandResult>>>> =
  {
    report: async () => (await import('./reportCommand.ts')).reportCommand,
    serve: async () => (await import('./serveCommand.ts')).serveCommand,
  };

const [name = '', ...argv] = process.argv.slice(2);
const { stdout = '', stderr = '', code } = await run();
process.stderr.write(stderr);
process.stdout.write(stdout, () => {
  // Exits explicitly: what the router's module has opened would keep the process alive.
  if (code !== undefined) process.exit(code);
});

async function run(): Promise<CommandResult> {
  if (name === '--help' || argv.includes('--help')) return { stdout: usage, code: 0 };
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) return { stderr: usage, code: 2 };
  try {
    const command = await load();
    return await command(argv);
  } catch (error) {
    const { message } = error as Error;
    return isArgumentError(error)
      ? { stderr: `${message}\n\n${usage}`, code: 2 }
      : { stderr: `${message}\n`, code: 1 };
  }
}
