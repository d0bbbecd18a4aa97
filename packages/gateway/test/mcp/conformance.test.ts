import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { serveInTest } from './serveTools.ts';
import { createToolGateway } from './toolRouter.ts';

const command = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** The scenarios, or checks of scenarios, that a server of tools cannot pass, with the reason for each, by revision. */
const exceptionsFile = new URL('conformanceExceptions.json', import.meta.url);

it.each(['2026-07-28', '2025-11-25'])(
  'the suite of MCP passes with the requirements of %s, except for what is not about tools',
  async (revision) => {
    needs('a port');
    const { server } = await serveInTest(await createToolGateway());
    const folder = await temporaryFolder();
    const exceptions = JSON.parse(await readFile(exceptionsFile, 'utf8')) as Record<string, object>;
    const names = Object.keys(exceptions[revision] ?? {});
    // One that passes fails the run.
    const baseline = join(folder, 'exceptions.yml');
    await writeFile(baseline, `server:\n${names.map((name) => `  - ${name}\n`).join('')}`);
    const url = `${server.origin}/mcp`;
    const options = ['--url', url, '--requirements', revision, '--expected-failures', baseline];
    const args = [command, 'server', ...options];
    const { stderr, stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    const output = stdout + stderr;
    expect(output).not.toContain('Unexpected failures');
    expect(output).toMatch(/✓ tools-list: [1-9]/);
    expect(output).toMatch(/✓ dns-rebinding-protection: [1-9]/);
  },
);
