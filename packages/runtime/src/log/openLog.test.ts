import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

describe('lines of the two ways to write one', () => {
  const defaults: { readonly isShared: boolean; readonly fields?: string } = { isShared: false };

  /** What a process writes that opens a log and then runs this. */
  async function written(code: string, { isShared, fields = 'undefined' } = defaults) {
    const from = JSON.stringify(new URL('openLog.ts', import.meta.url).href);
    const open = `import { openLog } from ${from}; const log = openLog({ level: 'info', isShared: ${isShared}, fields: ${fields} });`;
    const flags = ['--conditions=@petstore/source', '--input-type=module'];
    return promisify(execFile)(process.execPath, [...flags, '--eval', `${open} ${code}`]);
  }

  test.each([
    [
      'come out in the order that they were written in',
      `log.line('{"msg":"1"}\\n'); log.error('2'); log.line('{"msg":"3"}\\n'); log.info('4'); await log.end();`,
      ['1', '2', '3', '4'],
    ],
    [
      'come out where the process exits in the same turn',
      `log.line('{"msg":"1"}\\n'); process.exit(0);`,
      ['1'],
    ],
    [
      'are nothing to a log that has ended',
      `log.info('1'); await log.end(); log.line('{"msg":"2"}\\n'); await new Promise(setImmediate);`,
      ['1'],
    ],
  ])('%s', async (_what, code, lines) => {
    const { stdout } = await written(code);
    expect([...stdout.matchAll(/"msg":"(.*?)"/g)].map(([, msg]) => msg)).toEqual(lines);
  });

  test('have the further fields that are given for them', async () => {
    const { stdout } = await written(`log.info('1'); await log.end();`, {
      isShared: false,
      fields: `() => ({ trace_id: 'a' })`,
    });
    expect(JSON.parse(stdout)).toMatchObject({ msg: '1', trace_id: 'a' });
  });

  test('go out in pieces that a pipe takes whole, whatever script they are in', async () => {
    const line = JSON.stringify(`{"msg":"${'€'.repeat(300)}"}\n`);
    const sizes = await written(
      `const { default: fs } = await import('node:fs'); const { write } = fs;
       fs.write = (fd, text, ...more) => {
         write(2, String(Buffer.byteLength(text)) + '\\n', () => {});
         write(fd, text, ...more);
       };
       for (let count = 0; count < 20; count += 1) log.line(${line});
       await log.end();`,
      { isShared: true },
    );
    expect(Math.max(...sizes.stderr.split('\n').map(Number))).toBeLessThanOrEqual(4096);
  });
});
