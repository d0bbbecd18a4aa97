import { parseArgs } from 'node:util';
import { CommandError } from './commandError.ts';

/** A parsed command line. */
export type Command =
  | { readonly run: 'help' | 'version' }
  | { readonly run: 'serve' | 'check' | 'openapi' }
  | { readonly run: 'keys list' }
  | { readonly run: 'keys add'; readonly name: string; readonly expires: string | undefined }
  | { readonly run: 'keys revoke'; readonly name: string }
  | { readonly run: 'backup'; readonly to: string }
  | { readonly run: 'verify'; readonly folder: string | undefined }
  | { readonly run: 'read-tables'; readonly folder: string; readonly tables: readonly string[] }
  | { readonly run: 'copy'; readonly from: string; readonly to: string; readonly resume: boolean };

const commands = `Usage: petstore [command]

Commands:
  serve [--check]    Serve the pet store. This is what runs without a command. With --check: say what would be served,
                     or what is wrong, and serve nothing. Code 0 or 1.
  keys add NAME [--expires WHEN]
                     Make an API key and print it. It is shown only now. WHEN is a time from now (90m, 12h, 30d), a date
                     or an instant in ISO 8601; without it the key is good until it is revoked.
  keys list          List the API keys: name, when made, when it expires, last used, revoked.
  keys revoke NAME   Revoke an API key: within 5 seconds no process accepts it.
  backup FOLDER      Copy the data folder (DATA_DIR) to a new one, FOLDER. It may be in use: the copy is as it was at one
                     moment, and appears complete or not at all.
  verify [FOLDER]    Read everything in a data folder (default: DATA_DIR), which may be in use. Code 0 where it is as it
                     was stored; code 1, and what is damaged, where it is not.
  openapi            Print the OpenAPI document.
  copy --from STORE --to STORE [--resume]
                     Copy everything from one store to another. STORE is the path of a data folder, or a mongodb:// URI
                     (MONGODB_DB names the database). Stop the servers of both first. --resume takes a target that is
                     not empty, and goes on where a copy was interrupted.

  --help, -h         Print this.
  --version, -v      Print the version.

The key commands, backup and verify may run while servers use the same store.`;

/**
 * Returns the text of `--help`.
 * @param configurationHelp the description of each environment variable
 */
export const helpText = (configurationHelp: string) =>
  `${commands}\n\nConfiguration, from the environment (default in brackets):\n${configurationHelp}`;

/** @throws {CommandError} if the arguments are not a valid command */
export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parseArguments(args);
  if (values.help) return { run: 'help' };
  if (values.version) return { run: 'version' };
  const [command = 'serve', action, name, ...rest] = positionals;
  const { expires, from, to, resume } = values;
  if (expires !== undefined && !(command === 'keys' && action === 'add')) {
    throw new CommandError('--expires is for keys add: --help lists the commands.');
  }
  if (command === 'copy' && action === undefined) {
    if (from === undefined || to === undefined) {
      throw new CommandError('copy takes --from STORE and --to STORE: --help says more.');
    }
    return { run: 'copy', from, to, resume: resume ?? false };
  }
  if (from !== undefined || to !== undefined || resume !== undefined) {
    throw new CommandError('--from, --to and --resume are for copy: --help lists the commands.');
  }
  if (values.check && command === 'serve' && action === undefined) return { run: 'check' };
  if (values.check) throw new CommandError('--check is for serve: --help lists the commands.');
  if ((command === 'serve' || command === 'openapi') && action === undefined) return { run: command };
  if (command === 'backup') {
    if (action === undefined || name !== undefined) throw new CommandError('backup takes one FOLDER.');
    return { run: 'backup', to: action };
  }
  if (command === 'verify') {
    if (name !== undefined) throw new CommandError('verify takes one FOLDER, or none.');
    return { run: 'verify', folder: action };
  }
  // Internal: `verify` starts this command to read tables.
  if (command === 'read-tables' && action !== undefined && name !== undefined) {
    return { run: 'read-tables', folder: action, tables: [name, ...rest] };
  }
  if (command === 'keys' && rest.length === 0) {
    if (action === 'list' && name === undefined) return { run: 'keys list' };
    if (action === 'add' && name !== undefined) return { run: 'keys add', name, expires };
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

function parseArguments(args: readonly string[]) {
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
        expires: { type: 'string' },
        check: { type: 'boolean' },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new CommandError(`${reason}: --help lists what there is.`, { cause: error });
  }
}
