import { expect, test } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

/** The names that the snippets of the pages use without an import or a declaration. */
const namesModule = `
import type { Gateway, GatewayOptions } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import type { EventChannel, EventLog } from 'trpc-gateway-shared';
import { type AnyTRPCRouter, initTRPC } from '@trpc/server';
import type { Server } from 'node:http';
import { z } from 'zod';

export { createGateway } from 'trpc-gateway';
export { resyncErrors } from 'trpc-gateway/procedures';
export { handleUpgrades, nodeHandler, serve } from 'trpc-gateway/node';
export { createWSClient, httpSubscriptionLink, retryLink, wsLink } from '@trpc/client';
export { tracked } from '@trpc/server';
export { writeFile } from 'node:fs/promises';
export { z };

export const t = initTRPC.meta<GatewayMeta>().create();
export const Tick = z.object({ n: z.int() });
export const Change = z.object({ status: z.string() });
export declare const options: GatewayOptions<AnyTRPCRouter, unknown>;
export const { router, createContext } = options;
export declare const gateway: Gateway;
export declare const app: Readonly<Record<'get' | 'use', (path: string, handler: unknown) => void>>;
export declare const createTRPCContext: (options: { headers: Headers }) => Promise<object>;
export declare const requireAdmin: unknown;
export declare const server: Server;
export declare const client: { callTool(call: object): Promise<object> };
export declare const png: Uint8Array<ArrayBuffer>;
export declare const save: (...file: unknown[]) => Promise<void>;
export declare const pathOf: (name: string) => string;
export declare const key: string;
export declare const currentToken: () => Promise<string>;
export declare const url: string;
export declare const log: EventLog;
export declare const askModel: (question: string, signal: AbortSignal) => AsyncIterable<string>;
export declare const changes: EventChannel<z.infer<typeof Change>>;
export declare const loadAnimals: () => Promise<void>;
export declare const show: (change: object) => void;
export declare const certFile: string;
export declare const keyFile: string;
`;
const exportedNames = [
  ...namesModule.matchAll(/^export (?:declare )?(?:const )?(?:\{ ([^}]*) \}|(\w+))/gm),
].flatMap(([, list, name = '']) => list?.split(', ') ?? [name]);

/** A snippet as a module: procedures within a router, and imports of the names that it does not declare. */
function moduleOf(snippet: string): string {
  const code = /^\w+: t\.procedure$/m.test(snippet)
    ? `export const appRouter = t.router({\n${snippet}});\n`
    : snippet;
  const used = exportedNames.filter(
    (name) =>
      new RegExp(`(?<![\\w'/])(?<!\\w\\.)${name}\\b(?!:)`).test(code) &&
      !new RegExp(`\\b(?:const|import) (?:\\{[^}]*)?\\b${name}\\b`).test(code),
  );
  return `import { ${used.join(', ')} } from './names.ts';\n${code}export {};\n`;
}

/** Pages of docs, with the languages of their snippets. Of the others, CI starts the programs. */
const pages = {
  events: ['ts', 'typescript'],
  mcp: ['ts'],
  'migrating/from-orpc': ['ts'],
  'migrating/from-trpc-to-openapi': ['typescript'],
  'migrating/from-ts-rest': ['ts'],
  mounting: ['typescript'],
  streams: ['ts'],
  websockets: ['ts'],
} as const;

test('the snippets of the pages compile', async () => {
  const { write, compile } = await newSnippets();
  await write({ 'names.ts': namesModule });
  for (const [page, languages] of Object.entries(pages)) {
    const { blocks } = await readReadme(`docs/${page}.md`);
    const snippets = languages.flatMap(blocks);
    expect({ page, count: snippets.length }).not.toEqual({ page, count: 0 });
    await write(
      Object.fromEntries(
        snippets.map((snippet, index) => [`${page.replace('/', '-')}${index}.ts`, moduleOf(snippet)]),
      ),
    );
  }
  await expect(compile()).resolves.toBeUndefined();
});

test('the snippets of docs/next.md are files of the app that CI builds with Next', async () => {
  const { blocks } = await readReadme('docs/next.md');
  const snippets = [...blocks('ts'), ...blocks('tsx')];
  expect(snippets.length).toBeGreaterThan(5);
  for (const snippet of snippets) {
    const [, path = ''] = /^\/\/ (.+)\n/.exec(snippet) ?? [];
    expect(snippet).toBe((await readReadme(`apps/examples/src/adapters/next/${path}`)).text);
  }
});
