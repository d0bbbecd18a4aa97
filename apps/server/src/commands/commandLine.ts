import { parseArgs } from 'node:util';
import { CommandError } from './commandError.ts';

/** A parsed command line. */
export type Command =
  | { readonly run: 'help' | 'version' }
  | { readonly run: 'serve' | 'check' | 'init' | 'openapi' }
  | { readonly run: 'keys list' }
  | { readonly run: 'keys add'; readonly name: string; readonly expires: string | undefined }
  | { readonly run: 'keys revoke'; readonly name: string }
  | { readonly run: 'backup'; readonly to: string }
  | { readonly run: 'verify'; readonly folder: string | undefined }
  | { readonly run: 'read-tables'; readonly folder: string; readonly tables: readonly string[] }
  | { readonly run: 'copy'; readonly from: string; readonly to: string; readonly resume: boolean };

const commands = `Usage: petstore [command]

Commands:
  serve [--check]    Serve the pet store. This is the default command. --check prints the configuration, or what is
                     wrong with it, without serving. Exit code 0 or 1.
  init               Create the store, and print its first API key, which is shown only once. For CREATE_STORE=never.
                     Exit code 1 if there is a store.
  keys add NAME [--expires WHEN]
                     Create an API key and print it. It is shown only once. WHEN is a time from now (90m, 12h, 30d), a
                     date or an instant (ISO 8601). Without it, the key is valid until it is revoked.
  keys list          List the API keys with their names and when they were created, expire, were last used, and were
                     revoked.
  keys revoke NAME   Revoke an API key. Every process rejects it within 5 seconds.
  backup FOLDER      Copy the data folder (DATA_DIR) to a new FOLDER. The data folder may be in use: the copy is a
                     snapshot, and it appears complete or not at all.
  verify [FOLDER]    Verify all data in a data folder (default: DATA_DIR), which may be in use. Exit code 0 if the data
                     is intact, otherwise 1 with a list of what is damaged.
  openapi            Print the OpenAPI document.
  copy --from STORE --to STORE [--resume]
                     Copy all data from one store to another. STORE is the path of a data folder, or a mongodb:// URI
                     (MONGODB_DB or its path names the database). Stop the servers of both stores first. --resume
                     continues an interrupted copy into a target that is not empty.

  --help, -h         Print this help.
  --version, -v      Print the version.

The commands keys, backup and verify can run while servers use the same store.`;

/** Returns the text of `--help`. @param configurationHelp the description of each environment variable */
export const helpText = (configurationHelp: string) =>
  `${commands}\n\nEnvironment variables (default in brackets):\n${configurationHelp}`;

/** @throws {CommandError} if the arguments are not a valid command */
export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parseArguments(args);
  if (values.help) return { run: 'help' };
  if (values.version) return { run: 'version' };
  const [command = 'serve', action, name, ...rest] = positionals;
  const { expires, from, to, resume } = values;
  if (expires !== undefined && !(command === 'keys' && action === 'add')) {
    throw new CommandError('--expires is only for keys add. See --help.');
  }
  if (command === 'copy' && action === undefined) {
    if (from === undefined || to === undefined) {
      throw new CommandError('copy requires --from STORE and --to STORE. See --help.');
    }
    return { run: 'copy', from, to, resume: resume ?? false };
  }
  if (from !== undefined || to !== undefined || resume !== undefined) {
    throw new CommandError('--from, --to and --resume are only for copy. See --help.');
  }
  if (values.check && command === 'serve' && action === undefined) return { run: 'check' };
  if (values.check) throw new CommandError('--check is only for serve. See --help.');
  if ((command === 'serve' || command === 'init' || command === 'openapi') && action === undefined) {
    return { run: command };
  }
  if (command === 'backup') {
    if (action === undefined || name !== undefined)
      throw new CommandError('backup requires one FOLDER. See --help.');
    return { run: 'backup', to: action };
  }
  if (command === 'verify') {
    if (name !== undefined) throw new CommandError('verify accepts at most one FOLDER. See --help.');
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
    throw new CommandError('keys requires one of add, list and revoke. See --help.');
  }
  if (command === 'keys' && (action === 'add' || action === 'revoke')) {
    throw new CommandError(`keys ${action} requires one NAME. See --help.`);
  }
  throw new CommandError(`${JSON.stringify(positionals.join(' '))} is not a command. See --help.`);
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
    throw new CommandError(`${reason}. See --help.`, { cause: error });
  }
}
