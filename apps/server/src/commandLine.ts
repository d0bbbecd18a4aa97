import { parseArgs } from 'node:util';
import { CommandError } from './commandError.ts';

/** What was asked for on the command line. */
export type Command =
  | { readonly run: 'serve' | 'openapi' | 'help' | 'version' }
  | { readonly run: 'keys list' }
  | { readonly run: 'keys add' | 'keys revoke'; readonly name: string }
  | { readonly run: 'copy'; readonly from: string; readonly to: string; readonly resume: boolean };

const commands = `Usage: petstore [command]

Commands:
  serve              Serve the pet store. This is what runs without a command.
  keys add NAME      Make an API key and print it. It is shown only now.
  keys list          List the API keys: name, when made, last used, revoked.
  keys revoke NAME   Revoke an API key: within 5 seconds no process accepts it.
  openapi            Print the OpenAPI document.
  copy --from STORE --to STORE [--resume]
                     Copy everything from one store to another. STORE is the path of a data folder, or a mongodb:// URI
                     (MONGODB_DB names the database). Stop the servers of both first. --resume takes a target that is
                     not empty, and goes on where a copy was interrupted.

  --help, -h         Print this.
  --version, -v      Print the version.

The key commands may run while servers use the same store.`;

/** @param configurationHelp what is known about each variable */
export const helpText = (configurationHelp: string) =>
  `${commands}\n\nConfiguration, from the environment (default in brackets):\n${configurationHelp}`;

/** @throws {CommandError} where the arguments make no command */
export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { run: 'help' };
  if (values.version) return { run: 'version' };
  const [command = 'serve', action, name, ...rest] = positionals;
  const { from, to, resume } = values;
  if (command === 'copy' && action === undefined) {
    if (from === undefined || to === undefined) {
      throw new CommandError('copy takes --from STORE and --to STORE: --help says more.');
    }
    return { run: 'copy', from, to, resume: resume ?? false };
  }
  if (from !== undefined || to !== undefined || resume !== undefined) {
    throw new CommandError('--from, --to and --resume are for copy: --help lists the commands.');
  }
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
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        from: { type: 'string' },
        to: { type: 'string' },
        resume: { type: 'boolean' },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new CommandError(`${reason}: --help lists what there is.`, { cause: error });
  }
}
