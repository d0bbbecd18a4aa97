import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { readReadme } from '../readmes/readme.ts';
import { readManifest } from './packages.ts';
import { callMcp, start, testProject } from './testProject.ts';

// Follows the skill for coding agents word for word in an empty folder: it saves each file, and runs each command, in order.

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
  expect(inject('packed').files['trpc-gateway']).toContain(`skills/${name}/SKILL.md`);
  expect(await readManifest('trpc-gateway')).toMatchObject({
    keywords: expect.arrayContaining(['tanstack-intent']) as unknown,
  });
});

it('the skill for coding agents can be followed word for word in an empty folder', async () => {
  const [, install = ''] = /^npm install (.*)$/m.exec(body) ?? [];
  const names = install.replace(/\.\/trpc-gateway-[\d.]+\.tgz/, 'trpc-gateway').split(' ');
  const project = await testProject(names);
  const PATH = `${join(project.folder, 'node_modules/.bin')}:${process.env['PATH']}`;
  const ran: string[] = [];
  for (const step of stepsOf(body)) {
    if ('file' in step) {
      await project.write({ [step.file]: step.content });
    } else if (!step.command.startsWith('npm install ')) {
      const command = step.command.replace(/^npx --no /, '');
      const env = { ...process.env, PATH, NODE_OPTIONS: '' };
      const until = servers.get(step.command);
      const { stop, text: output } = await start(project, ['bash', '-c', `exec ${command}`], until, env);
      const code = until === undefined ? await stop() : 0;
      const missing = step.printed.filter((line) => !output.includes(line));
      if (code !== 0 || missing.length > 0) throw new Error(`${command} ended with ${code}: ${output}`);
      ran.push(step.command);
    }
  }
  expect(ran).toEqual(
    expect.arrayContaining([...servers.keys(), 'node --test books.test.ts', 'node wrong.ts']),
  );
  const tools = await callMcp('http://127.0.0.1:4002', 'tools/list');
  expect(tools).toMatchObject({ result: { tools: [{ name: 'bookById' }] } });
});
