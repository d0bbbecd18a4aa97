import { once } from 'node:events';
import { join } from 'node:path';
import { startProcess } from '@petstore/testing/startProcess';
import { expect, inject, it, onTestFinished } from 'vitest';
import { readReadme } from '../readmes/readme.ts';
import { newProject, readManifest } from './packages.ts';

// Follows the skill for coding agents word for word in an empty folder: it saves each file, and runs each command, in order.

const packed = inject('packed');
const { text } = await readReadme('packages/gateway/skills/trpc-gateway/SKILL.md');
const [, frontMatter = '', body = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];

/** A file to save, or a command with what it prints. */
type Step =
  | { readonly file: string; readonly content: string }
  | { readonly command: string; readonly printed: readonly string[] };

function stepsOf(markdown: string): readonly Step[] {
  return [...markdown.matchAll(/^```(ts|sh)\n([^]*?)^```$/gm)].flatMap(([, language, block = '']): Step[] => {
    if (language === 'ts') return [{ file: /^\/\/ (\S+)\n/.exec(block)?.[1] ?? '', content: block }];
    return [...block.matchAll(/^([^#\n].*)\n((?:# .*\n)*)/gm)].map(([, command = '', comments = '']) => ({
      command,
      printed: [...comments.matchAll(/^# (.*)$/gm)].map(([, line = '']) => line),
    }));
  });
}

/** The commands that run until they are stopped, and what they print when they serve. */
const servers = new Map([
  [
    'npx --no trpc-gateway serve router.ts --port 4001',
    /A server of your own: node_modules\/trpc-gateway\/README\.md/,
  ],
  ['node server.ts', /openapi\.json/],
]);

it('the skill for coding agents has the form of Agent Skills, in which TanStack Intent finds it', async () => {
  const [, name] = /^name: ([a-z-]+)$/m.exec(frontMatter) ?? [];
  const [, description = ''] = /^description: >-\n((?: {2}.*\n)+)/m.exec(frontMatter) ?? [];
  expect(name).toBe('trpc-gateway');
  expect(description.length).toBeGreaterThan(100);
  // The limit of the format.
  expect(description.length).toBeLessThan(1024);
  expect(packed.files['trpc-gateway']).toContain(`skills/${name}/SKILL.md`);
  expect(await readManifest('trpc-gateway')).toMatchObject({
    keywords: expect.arrayContaining(['tanstack-intent']) as unknown,
  });
});

it('the skill for coding agents can be followed word for word in an empty folder', async () => {
  const [, install = ''] = /^npm install (.*)$/m.exec(body) ?? [];
  const names = install.replace(/\.\/trpc-gateway-[\d.]+\.tgz/, 'trpc-gateway').split(' ');
  const { folder, write, remove } = await newProject(packed, names);
  onTestFinished(() => remove());
  const bin = join(folder, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, NODE_OPTIONS: '' };

  /** Runs a command. Resolves with its output, of a server when it serves. */
  async function execute(command: string): Promise<string> {
    const child = startProcess('bash', ['-c', `exec ${command}`], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGTERM'));
    let printed = '';
    const ended = once(child, 'exit');
    const serves = servers.get(command.replace(/^trpc-gateway/, 'npx --no trpc-gateway'));
    for await (const chunk of child.stdout ?? []) {
      printed += String(chunk);
      if (serves?.test(printed)) return printed;
    }
    const [code] = (await ended) as [number];
    expect({ command, code, printed }).toMatchObject({ code: 0 });
    return printed;
  }

  const steps = stepsOf(body);
  const ran: string[] = [];
  const printed: (readonly [command: string, actual: readonly string[], expected: readonly string[]])[] = [];
  for (const step of steps) {
    if ('file' in step) {
      await write({ [step.file]: step.content });
    } else if (!step.command.startsWith('npm install ')) {
      const output = await execute(step.command.replace(/^npx --no /, ''));
      ran.push(step.command);
      if (step.printed.length > 0) printed.push([step.command, output.trimEnd().split('\n'), step.printed]);
    }
  }
  expect(ran).toEqual(
    expect.arrayContaining([...servers.keys(), 'node --test books.test.ts', 'node wrong.ts']),
  );
  const tools = await fetch('http://127.0.0.1:4002/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(await tools.json()).toMatchObject({ result: { tools: [{ name: 'bookById' }] } });
});
