import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

describe('the lines of a log', () => {
  const defaults: { readonly isShared: boolean; readonly fields?: string } = { isShared: false };

  /** Runs code in a process that has opened a log, and returns its output. */
  const written = (code: string, options = defaults) =>
    promisify(execFile)(process.execPath, argumentsOf(code, options));

  function argumentsOf(code: string, { isShared, fields = 'undefined' } = defaults) {
    const from = JSON.stringify(new URL('openLog.ts', import.meta.url).href);
    const begin = `import { openLog } from ${from}; const log = openLog({ level: 'info', isShared: ${isShared}, fields: ${fields} });`;
    return ['--conditions=trpc-gateway-source', '--input-type=module', '--eval', `${begin} ${code}`];
  }

  test.each([
    [
      'lines are written if the process exits in the same event loop iteration',
      `log.info('1'); log.error('2'); process.exit(0);`,
      ['1', '2'],
    ],
    [
      'lines after end() are dropped without an error',
      `log.info('1'); await log.end(); log.info('2'); await new Promise(setImmediate);`,
      ['1'],
    ],
  ])('%s', async (_what, code, lines) => {
    const { stdout } = await written(code);
    expect([...stdout.matchAll(/"msg":"(.*?)"/g)].map(([, msg]) => msg)).toEqual(lines);
  });

  test('lines have the additional fields of the option fields', async () => {
    const { stdout } = await written(`log.info('1'); await log.end();`, {
      isShared: false,
      fields: `() => ({ trace_id: 'a' })`,
    });
    expect(JSON.parse(stdout)).toMatchObject({ msg: '1', trace_id: 'a' });
  });

  test('isShared fills each write with lines up to 4096 bytes and no more, also of multi-byte characters', async () => {
    // A line has 940 to 1020 bytes.
    const { stderr } = await written(
      `const { default: fs } = await import('node:fs'); const { write } = fs;
       fs.write = (fd, text, ...more) => {
         fs.writeSync(2, String(text.split('\\n').length - 1) + '\\n');
         write(fd, text, ...more);
       };
       for (let count = 0; count < 18; count += 1) log.info('€'.repeat(290));
       await log.end();`,
      { isShared: true },
    );
    expect(stderr.trim().split('\n').map(Number)).toEqual([4, 4, 4, 4, 2]);
  });

  test('a line of an error has its text and the texts of its causes once', async () => {
    const { stdout } = await written(
      `log.fatal(new Error('no disk', { cause: new Error('gone') }), 'the end'); await log.end();`,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      level: 60,
      msg: 'the end',
      err: { message: 'no disk: gone' },
    });
    expect(stdout.split('gone')).toHaveLength(2);
  });

  test.skipIf(!existsSync('/dev/full'))(
    'an output that rejects what is written ends neither the process nor its exit, and is named once on stderr',
    async ({ signal }) => {
      const code = `for (let count = 0; count < 3; count += 1) { log.info('a'); await new Promise((r) => setTimeout(r, 20)); }
        log.info('b'); process.exit(3);`;
      const command = ['-c', 'exec "$0" "$@" >/dev/full', process.execPath, ...argumentsOf(code)];
      await expect(
        promisify(execFile)('sh', command, { signal, killSignal: 'SIGKILL' }),
      ).rejects.toMatchObject({
        code: 3,
        stderr:
          'The log cannot be written: ENOSPC: no space left on device, write. Up to 8 MiB of lines wait for the next try.\n',
      });
    },
  );

  test('a log that is opened after another one has ended writes its lines, and neither leaves a listener', async () => {
    const { stdout, stderr } = await written(
      `log.info('1'); await log.end();
       const next = openLog({ level: 'info', isShared: false });
       next.info('2'); await next.end();
       process.stderr.write(String(process.listeners('exit').filter(({ name }) => name === 'onExit').length));`,
    );
    expect([...stdout.matchAll(/"msg":"(.*?)"/g)].map(([, msg]) => msg)).toEqual(['1', '2']);
    expect(stderr).toBe('0');
  });
});
