import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A revision of MCP with a frozen list of scenarios. */
export type Revision = '2026-07-28' | '2025-11-25';

const command = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** The scenarios, or checks of scenarios, that a server of tools cannot pass, with the reason for each. */
const exceptionsFile = new URL('conformanceExceptions.json', import.meta.url);

/**
 * Runs the conformance suite of the Model Context Protocol against a server of tools.
 * @param exceptions what may fail. One that passes fails the run
 * @returns the exit code, and what the suite has printed
 */
export async function runConformance(url: string, revision: Revision, exceptions: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
  try {
    const baseline = join(folder, 'exceptions.yml');
    await writeFile(baseline, `server:\n${exceptions.map((name) => `  - ${name}\n`).join('')}`);
    const options = ['--url', url, '--requirements', revision, '--expected-failures', baseline];
    const child = spawn(process.execPath, [command, 'server', ...options], { cwd: folder });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Reads what may fail with the requirements of a revision.
 * @param hasTools whether the server has the tools of the suite
 */
export async function readExceptions(revision: Revision, hasTools = true): Promise<readonly string[]> {
  type ByRevision = Readonly<Record<Revision, Readonly<Record<string, string>>>>;
  const text = await readFile(exceptionsFile, 'utf8');
  const { otherTools, ...always } = JSON.parse(text) as ByRevision & { readonly otherTools: ByRevision };
  return Object.keys({ ...always[revision], ...(!hasTools && otherTools[revision]) });
}
