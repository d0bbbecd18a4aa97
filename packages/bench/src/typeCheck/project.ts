import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// A project of a server and its clients in TypeScript, for measuring how long its type check takes.

/** The root of this repository, whose packages the project uses. */
export const repository = fileURLToPath(new URL('../../../../', import.meta.url));

/** The procedures of one file of the server, and of the client file that calls them. */
const perFile = 10;

/** The libraries whose types are compared. */
export type Library = 'trpc' | 'orpc';

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  moduleDetection: 'force',
  types: [],
  strict: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
};

const schemas = (index: number) => ({
  item: `z.object({ id: z.int(), name: z.string(), price${index}: z.number(), tags: z.array(z.string()), state: z.enum(['new', 'sold']).optional() })`,
  input: `z.object({ name: z.string(), price${index}: z.number(), tags: z.array(z.string()).optional() })`,
});

/** A query and a mutation in turn, as most routers have them: of an item by its id, and of a new one. */
function procedure(library: Library, index: number): string {
  const { item, input } = schemas(index);
  const found = `({ id: input.id, name: 'Rex', price${index}: 1, tags: [] })`;
  const made = `({ id: 1, name: input.name, price${index}: input.price${index}, tags: input.tags ?? [] })`;
  const [reads, writes] = library === 'trpc' ? ['query', 'mutation'] : ['handler', 'handler'];
  return index % 2 === 0
    ? `procedure.input(z.object({ id: z.int() })).output(${item}).${reads}(({ input }) => ${found})`
    : `procedure.input(${input}).output(${item}).${writes}(({ input }) => ${made})`;
}

/** A call whose result has a type that the check must agree with. */
function call(library: Library, file: number, index: number): string {
  const [reads, writes] = library === 'trpc' ? ['.query', '.mutate'] : ['', ''];
  const [method, input] =
    index % 2 === 0 ? [reads, '{ id: 1 }'] : [writes, `{ name: 'Rex', price${index}: 2 }`];
  return `export const price${index}: number = (await client.r${file}.p${index}${method}(${input})).price${index};`;
}

const starts: Readonly<Record<Library, string>> = {
  trpc: "import { initTRPC } from '@trpc/server';\nexport const { procedure, router } = initTRPC.create();\n",
  orpc: "import { os } from '@orpc/server';\nexport const procedure = os;\n",
};

/** A router: in oRPC, an object. */
const routerOf = (library: Library, routes: string): string =>
  library === 'trpc' ? `start.router({ ${routes} })` : `{ ${routes} }`;

const clientOf: Readonly<Record<Library, (routerFile: string) => string>> = {
  trpc: (routerFile) =>
    `import type { TRPCClient } from '@trpc/client';\nimport type { AppRouter } from '${routerFile}';\nexport declare const client: TRPCClient<AppRouter>;\n`,
  orpc: (routerFile) =>
    `import type { RouterClient } from '@orpc/server';\nimport type { AppRouter } from '${routerFile}';\nexport declare const client: RouterClient<AppRouter>;\n`,
};

/** The folder of a server in a project, whose router is `AppRouter` of `index.ts`. */
const serverFolder = (library: Library) => `${library}Server`;

/** The folder of the clients that import a server's types from a file. */
export interface Client {
  readonly name: string;
  readonly library: Library;
  /** The file of `AppRouter`, from the client's folder. */
  readonly routerFile: string;
}

/** The clients of a project. `declarations` and `typegen` need files that `writeProject` does not write. */
export const clients = {
  trpc: { name: 'trpcClient', library: 'trpc', routerFile: '../trpcServer/index.ts' },
  trpcDeclarations: { name: 'trpcDeclarations', library: 'trpc', routerFile: '../trpcTypes/index.js' },
  typegen: { name: 'typegen', library: 'trpc', routerFile: './types.ts' },
  orpc: { name: 'orpcClient', library: 'orpc', routerFile: '../orpcServer/index.ts' },
  orpcDeclarations: { name: 'orpcDeclarations', library: 'orpc', routerFile: '../orpcTypes/index.js' },
} as const satisfies Readonly<Record<string, Client>>;

/**
 * Writes servers with this many procedures in tRPC and in oRPC, and clients that call each of them once.
 * @param procedures a multiple of 10
 */
export async function writeProject(folder: string, procedures: number): Promise<void> {
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  const files = Array.from({ length: procedures / perFile }, (_, file) => file);
  for (const library of ['trpc', 'orpc'] as const) await writeServer(folder, library, files);
  for (const client of Object.values(clients)) await writeClient(folder, client, files);
}

const indexesOf = (file: number) => Array.from({ length: perFile }, (_, index) => file * perFile + index);

async function writeServer(project: string, library: Library, files: readonly number[]): Promise<void> {
  const folder = await folderOf(project, serverFolder(library));
  await writeFile(join(folder, 'start.ts'), starts[library]);
  for (const file of files) {
    const procedures = indexesOf(file).map((index) => `  p${index}: ${procedure(library, index)},\n`);
    await writeFile(
      join(folder, `r${file}.ts`),
      `import { z } from 'zod';\nimport * as start from './start.ts';\nconst { procedure } = start;\nexport const r${file} = ${routerOf(library, `\n${procedures.join('')}`)};\n`,
    );
  }
  const imports = files.map((file) => `import { r${file} } from './r${file}.ts';\n`);
  const routes = files.map((file) => `r${file}`).join(', ');
  await writeFile(
    join(folder, 'index.ts'),
    `import * as start from './start.ts';\n${imports.join('')}export const appRouter = ${routerOf(library, routes)};\nexport type AppRouter = typeof appRouter;\n`,
  );
}

async function writeClient(project: string, client: Client, files: readonly number[]): Promise<void> {
  const { name, library, routerFile } = client;
  const folder = await folderOf(project, name);
  await writeFile(join(folder, 'client.ts'), clientOf[library](routerFile));
  for (const file of files) {
    const calls = indexesOf(file).map((index) => `${call(library, file, index)}\n`);
    await writeFile(
      join(folder, `calls${file}.ts`),
      `import { client } from './client.ts';\n${calls.join('')}`,
    );
  }
}

async function folderOf(project: string, name: string): Promise<string> {
  const folder = join(project, name);
  await mkdir(folder);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  return folder;
}
