import { describe, expect, test } from 'vitest';
import { CommandError } from './commandError.ts';
import { parseCommandLine } from './commandLine.ts';

describe('the command line', () => {
  test.each([
    [[], { run: 'serve' }],
    [['serve'], { run: 'serve' }],
    [['openapi'], { run: 'openapi' }],
    [['keys', 'list'], { run: 'keys list' }],
    [['keys', 'add', 'ci'], { run: 'keys add', name: 'ci' }],
    [['keys', 'add', 'ci', '--expires', '30d'], { run: 'keys add', name: 'ci', expires: '30d' }],
    [['keys', 'revoke', 'ci'], { run: 'keys revoke', name: 'ci' }],
    [['keys', 'add', '--', '-x'], { run: 'keys add', name: '-x' }],
    [['copy', '--from', 'a', '--to', 'b'], { run: 'copy', from: 'a', to: 'b', resume: false }],
    [['copy', '--to=b', '--from=a', '--resume'], { run: 'copy', from: 'a', to: 'b', resume: true }],
    [['backup', 'b'], { run: 'backup', to: 'b' }],
    [['verify'], { run: 'verify', folder: undefined }],
    [['verify', 'b'], { run: 'verify', folder: 'b' }],
    [['--help'], { run: 'help' }],
    [['keys', '-h'], { run: 'help' }],
    [['-v'], { run: 'version' }],
  ])('the command line %j is parsed', (args, command) => {
    expect(parseCommandLine(args)).toEqual(command);
  });

  test.each([
    [['start'], '"start" is not a command: --help lists them.'],
    [['serve', 'pets'], '"serve pets" is not a command: --help lists them.'],
    [['keys'], 'keys takes one of add, list and revoke: --help lists them.'],
    [['keys', 'add'], 'keys add takes one NAME.'],
    [['keys', 'add', 'a', 'b'], 'keys add takes one NAME.'],
    [['keys', 'revoke'], 'keys revoke takes one NAME.'],
    [['keys', 'revoke', 'a', 'b'], 'keys revoke takes one NAME.'],
    [['keys', 'rotate', 'a'], '"keys rotate a" is not a command: --help lists them.'],
    [['keys', 'list', 'a'], '"keys list a" is not a command: --help lists them.'],
    [['copy'], 'copy takes --from STORE and --to STORE: --help says more.'],
    [['copy', '--from', 'a'], 'copy takes --from STORE and --to STORE: --help says more.'],
    [['copy', 'a', 'b'], '"copy a b" is not a command: --help lists them.'],
    [['backup'], 'backup takes one FOLDER.'],
    [['backup', 'a', 'b'], 'backup takes one FOLDER.'],
    [['verify', 'a', 'b'], 'verify takes one FOLDER, or none.'],
    [['--from', 'a'], '--from, --to and --resume are for copy: --help lists the commands.'],
    [['keys', 'list', '--expires', '1d'], '--expires is for keys add: --help lists the commands.'],
    [['keys', 'list', '--resume'], '--from, --to and --resume are for copy: --help lists the commands.'],
    [['--port', '1'], "Unknown option '--port': --help lists what there is."],
    [['--help=1'], "Option '-h, --help' does not take an argument: --help lists what there is."],
  ])('the command line %j is rejected with an error message', (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(new CommandError(message));
  });
});
