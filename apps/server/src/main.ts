import { readFile } from 'node:fs/promises';
import { endWithError } from 'trpc-gateway-runtime/signals';
import { z } from 'zod';
import { CommandError } from './commands/commandError.ts';
import { type Command, helpText, parseCommandLine } from './commands/commandLine.ts';
import { type Configuration, readConfiguration } from './configuration/configuration.ts';
import { expectedErrors } from './explain.ts';

/** The oldest Node version that the tests run on. */
const oldestNode = 22;

try {
  checkNode();
  await runCommand(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  endWithError(error, expectedErrors);
}

function checkNode(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= oldestNode) return;
  throw new CommandError(
    `The pet store requires Node ${oldestNode} or newer, but this is ${node}. Use npm start, which runs its own Node.`,
  );
}

/** Runs a command. Each command imports only the modules that it needs. */
async function runCommand(command: Command): Promise<void> {
  switch (command.run) {
    case 'help': {
      const { configurationHelp } = await import('./configuration/configurationText.ts');
      return printText(helpText(configurationHelp()));
    }
    case 'version':
      return printText(await version());
    case 'read-tables': {
      const { runReadTables } = await import('./commands/verify.ts');
      return runReadTables(command.folder, command.tables);
    }
    default: {
      const text = await runConfigured(command, readConfiguration(process.env));
      if (text !== undefined) printText(text);
    }
  }
}

/** @returns the text to print; `undefined` for none */
async function runConfigured(
  command: Exclude<Command, { readonly run: 'help' | 'version' | 'read-tables' }>,
  configuration: Configuration,
): Promise<string | undefined> {
  switch (command.run) {
    case 'serve': {
      const { run } = await import('trpc-gateway-runtime');
      const { serviceOptions } = await import('./serve.ts');
      await run(await serviceOptions(configuration, { environment: process.env }));
      return undefined;
    }
    case 'init':
      return (await import('./commands/init.ts')).runInit(configuration);
    case 'check':
      return (await import('./commands/check.ts')).runCheck(configuration, process.env);
    case 'openapi':
      return (await import('./commands/openapi.ts')).runOpenApi(configuration);
    case 'backup':
      return (await import('./commands/backup.ts')).runBackup(command.to, configuration);
    case 'verify':
      return (await import('./commands/verify.ts')).runVerify(command.folder, configuration);
    case 'copy':
      return (await import('./commands/copy.ts')).runCopy(command, configuration);
    default:
      return (await import('./commands/keys.ts')).runKeys(command, configuration);
  }
}

async function version(): Promise<string> {
  // The relative path is the same from src/ and from dist/.
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}

function printText(text: string): void {
  process.stdout.write(`${text}\n`);
}
