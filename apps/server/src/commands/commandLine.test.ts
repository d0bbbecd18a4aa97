import { describe, expect, test } from 'vitest';
import { CommandError } from './commandError.ts';
import { parseCommandLine } from './commandLine.ts';

describe('the command line', () => {
  test.each([
    [[], { run: 'serve' }],
    [['openapi'], { run: 'openapi' }],
    [['init'], { run: 'init' }],
    [['keys', 'list'], { run: 'keys list' }],
    [['keys', 'add', 'ci', '--expires', '30d'], { run: 'keys add', name: 'ci', expires: '30d' }],
    [['keys', 'revoke', 'ci'], { run: 'keys revoke', name: 'ci' }],
    [['keys', 'add', '--', '-x'], { run: 'keys add', name: '-x' }],
    [['copy', '--from', 'a', '--to', 'b'], { run: 'copy', from: 'a', to: 'b', resume: false }],
    [['copy', '--to=b', '--from=a', '--resume'], { run: 'copy', from: 'a', to: 'b', resume: true }],
    [['backup', 'b'], { run: 'backup', to: 'b' }],
    [['verify', 'b'], { run: 'verify', folder: 'b' }],
    [['--help'], { run: 'help' }],
    [['keys', '-h'], { run: 'help' }],
    [['-v'], { run: 'version' }],
  ])('the command line %j is parsed', (args, command) => {
    expect(parseCommandLine(args)).toEqual(command);
  });

  test.each([
    [['start'], '"start" is not a command. See --help.'],
    [['serve', 'pets'], '"serve pets" is not a command. See --help.'],
    [['keys'], 'keys requires one of add, list and revoke. See --help.'],
    [['keys', 'add'], 'keys add requires one NAME. See --help.'],
    [['keys', 'revoke', 'a', 'b'], 'keys revoke requires one NAME. See --help.'],
    [['keys', 'rotate', 'a'], '"keys rotate a" is not a command. See --help.'],
    [['copy', '--from', 'a'], 'copy requires --from STORE and --to STORE. See --help.'],
    [['copy', 'a', 'b'], '"copy a b" is not a command. See --help.'],
    [['backup', 'a', 'b'], 'backup requires one FOLDER. See --help.'],
    [['verify', 'a', 'b'], 'verify accepts at most one FOLDER. See --help.'],
    [['--from', 'a'], '--from, --to and --resume are only for copy. See --help.'],
    [['keys', 'list', '--expires', '1d'], '--expires is only for keys add. See --help.'],
    [['keys', 'list', '--check'], '--check is only for serve. See --help.'],
    [['--port', '1'], "Unknown option '--port'. See --help."],
    [['--help=1'], "Option '-h, --help' does not take an argument. See --help."],
  ])('the command line %j is rejected with an error message', (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(new CommandError(message));
  });
});
