import { parseArgs } from 'node:util';
import { CommandError } from './commandError.ts';

/** What was asked for on the command line. */
export type Command =
  | { readonly run: 'serve' | 'openapi' | 'help' | 'version' }
  | { readonly run: 'keys list' }
  | { readonly run: 'keys add' | 'keys revoke'; readonly name: string };

const commands = `Usage: petstore [command]

Commands:
  serve              Serve the pet store. This is what runs without a command.
  keys add NAME      Make an API key and print it. It is shown only now.
  keys list          List the API keys: name, when made, last used, revoked.
  keys revoke NAME   Revoke an API key: within 5 seconds no process accepts it.
  openapi            Print the OpenAPI document.

  --help, -h         Print this.
  --version, -v      Print the version.

The key commands may run while servers use the same data folder.`;

/** @param configurationHelp what is known about each variable */
export const helpText = (configurationHelp: string) =>
  `${commands}\n\nConfiguration, from the environment (default in brackets):\n${configurationHelp}`;

/** @throws {CommandError} where the arguments make no command */
export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { run: 'help' };
  if (values.version) return { run: 'version' };
  const [command = 'serve', action, name, ...rest] = positionals;
  if ((command === 'serve' || command === 'openapi') && action === undefined) return { run: command };
  if (command === 'keys' && rest.length === 0) {
    if (action === 'list' && name === undefined) return { run: 'keys list' };
    if (action === 'add' && name !== undefined) return { run: 'keys add', name };
    if (action === 'revoke' && name !== undefined) return { run: 'keys revoke', name };
  }
  if (command === 'keys' && action === undefined) {
    throw new CommandError('keys takes one of add, list and revoke: --help lists them.');
  }
  if (command === 'keys' && (action === 'add' || action === 'revoke')) {
    throw new CommandError(`keys ${action} takes one NAME.`);
  }
  throw new CommandError(`${JSON.stringify(positionals.join(' '))} is not a command: --help lists them.`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new CommandError(`${reason}: --help lists what there is.`, { cause: error });
  }
}
