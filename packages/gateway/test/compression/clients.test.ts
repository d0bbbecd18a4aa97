import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { browserMissing, startBrowser } from '@petstore/testing/browser';
import { everyForm } from '@petstore/testing/forms';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe, expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { animal } from './compressedGateway.ts';
import { startCompressed } from './startCompressed.ts';

const execute = promisify(execFile);
const animals = Array.from({ length: 100 }, (_, index) => animal(index + 1));
const codings = ['gzip', 'br', 'zstd'] as const;

async function start() {
  needs('a port');
  return startCompressed({ cors: { origins: () => true } });
}

const targets = ['/v1/animals', '/v1/csv', '/v1/ticks?count=3', '/openapi.json', '/large'];

const program = `
  const [origin, ...targets] = JSON.parse(globalThis.Deno ? Deno.args[0] : process.argv.at(-1));
  const results = [];
  for (const target of targets) {
    const response = await fetch(origin + target);
    const plain = await fetch(origin + target, { headers: { 'accept-encoding': 'identity' } });
    results.push([response.headers.get('content-encoding') ?? 'decoded', (await response.text()) === (await plain.text())]);
  }
  console.log(JSON.stringify(results));`;
const runtimes = [
  { name: 'node', title: 'this runtime', executable: process.execPath },
  ...(everyForm ? runtimesToTest('node24', 'node26', 'bun', 'deno') : []),
];

it.each(runtimes)('fetch of $title decodes what it accepts', async ({ executable, name }) => {
  const { origin } = await start();
  const run = {
    deno: ['eval', '--no-config', program],
    bun: ['-e', program],
  }[name] ?? ['--input-type=module', '-e', program];
  const { stdout } = await execute(executable, [...run, JSON.stringify([origin, ...targets])]);
  for (const [coding, isEqual] of JSON.parse(stdout) as [string, boolean][]) {
    // Deno and Bun may remove the header of what they have decoded.
    expect([...codings, 'decoded']).toContain(coding);
    expect(isEqual).toBe(true);
  }
});

describe.skipIf(!everyForm || browserMissing())('a browser', () => {
  it('decodes a list and events', async () => {
    const { origin } = await start();
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`${origin}/page`);
      const result: unknown = await page.evaluate(`(async () => {
        const list = await fetch('/v1/animals');
        const ids = [];
        const source = new EventSource('/v1/ticks?count=3');
        await new Promise((resolve) => {
          source.addEventListener('message', (event) => ids.push(event.lastEventId));
          source.addEventListener('end', resolve);
        });
        source.close();
        return { coding: list.headers.get('content-encoding'), list: await list.json(), ids };
      })()`);
      expect(result).toEqual({ coding: 'zstd', list: animals, ids: ['1', '2', '3'] });
    } finally {
      await browser.close();
    }
  });
});
