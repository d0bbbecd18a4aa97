import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { CommandError } from './commandError.ts';
import { type Command, helpText, parseCommandLine } from './commandLine.ts';
import { readConfiguration } from './configuration.ts';
import { endWithFault } from './endProcess.ts';

/** The oldest Node that this is tested on. */
const oldestNode = 22;

try {
  checkNode();
  await run(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  endWithFault(error);
}

function checkNode(): void {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= oldestNode) return;
  throw new CommandError(
    `The pet store needs Node ${oldestNode} and this is ${node}: npm start runs it under its own.`,
  );
}

/** Each command loads what it needs and no more. */
async function run(command: Command): Promise<void> {
  switch (command.run) {
    case 'help': {
      const { configurationHelp } = await import('./configurationText.ts');
      return print(helpText(configurationHelp()));
    }
    case 'version':
      return print(await version());
    case 'serve': {
      const configuration = readConfiguration(process.env);
      const { stopOnSignals } = await import('./stopOnSignals.ts');
      const starting =
        configuration.WORKERS === 1
          ? import('./app.ts').then(({ startServer }) => startServer(configuration))
          : import('./supervisor.ts').then(({ startWorkers }) => startWorkers(configuration));
      stopOnSignals(starting);
      await starting;
      return;
    }
    case 'worker': {
      const configuration = readConfiguration(process.env);
      const { runWorker } = await import('./worker.ts');
      return runWorker(configuration, { createStore: command.createsStore });
    }
    case 'check': {
      const configuration = readConfiguration(process.env);
      const { runCheck } = await import('./check.ts');
      return print(await runCheck(configuration, process.env));
    }
    case 'openapi': {
      const configuration = readConfiguration(process.env);
      const { openApiText } = await import('./openapi.ts');
      return print(await openApiText(configuration));
    }
    case 'backup': {
      const configuration = readConfiguration(process.env);
      const { runBackup } = await import('./backup.ts');
      return print(await runBackup(command.to, configuration));
    }
    case 'verify': {
      const configuration = readConfiguration(process.env);
      const { runVerify } = await import('./verify.ts');
      return print(await runVerify(command.folder, configuration));
    }
    case 'read-tables': {
      const { runReadTables } = await import('./verify.ts');
      return runReadTables(command.folder, command.tables);
    }
    case 'copy': {
      const configuration = readConfiguration(process.env);
      const { runCopy } = await import('./copy.ts');
      return print(await runCopy(command, configuration));
    }
    default: {
      const configuration = readConfiguration(process.env);
      const { runKeys } = await import('./keys.ts');
      return print(await runKeys(command, configuration));
    }
  }
}

async function version(): Promise<string> {
  // The same place from src/ and from dist/.
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
