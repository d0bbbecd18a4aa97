#!/usr/bin/env node
import { type CommandResult, isArgumentError, usage } from './usage.ts';

const [name = '', ...argv] = process.argv.slice(2);
const { stdout = '', stderr = '', code } = await run();
process.stderr.write(stderr);
process.stdout.write(stdout, () => {
  // Exits explicitly: what the router's module has opened would keep the process alive.
  if (code !== undefined) process.exit(code);
});

async function run(): Promise<CommandResult> {
  if (name === '--help' || argv.includes('--help')) return { stdout: usage, code: 0 };
  if (name !== 'serve') return { stderr: usage, code: 2 };
  try {
    // Its modules throw on a Node that is too old.
    const { serveCommand } = await import('./serveCommand.ts');
    return await serveCommand(argv);
  } catch (error) {
    const { message } = error as Error;
    return isArgumentError(error)
      ? { stderr: `${message}\n\n${usage}`, code: 2 }
      : { stderr: `${message}\n`, code: 1 };
  }
}
