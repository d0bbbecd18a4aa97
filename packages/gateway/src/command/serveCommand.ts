import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '../adapters/node/serve.ts';
import { opensWebSockets } from '../adapters/node/webSockets.ts';
import type { AnyGatewayOptions } from '../assembly/options.ts';
import type { Routes } from '../calls/routes.ts';
import { warnOnce } from '../http/warnings.ts';
import type { ContextOptions } from '../procedures/contextOptions.ts';
import { mcp } from '../protocols/mcp/index.ts';
import type { OutputSchemas } from '../schemas/inferredOutput.ts';
import { trpcToOpenApi } from '../trpcToOpenApi/trpcToOpenApi.ts';
import { foreignContextArguments, type ForeignCreateContext } from './foreignContext.ts';
import { inferOutputs, type OutputReader } from './inferOutputs.ts';
import { loopbackOnly } from './loopbackOnly.ts';
import { createPartialGateway } from './partialGateway.ts';
import {
  findAbove,
  findExport,
  findRouter,
  importInstalled,
  importModule,
  ModuleError,
} from './routerModule.ts';
import { readServed } from './served.ts';
import { serveReport } from './serveReport.ts';
import { toolCosts } from './toolCosts.ts';
import { type CommandResult, usage } from './usage.ts';

/** Runs `trpc-gateway serve` with its arguments: the server runs until the process ends. */
export async function serveCommand(argv: readonly string[]): Promise<CommandResult> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      export: { type: 'string' },
      context: { type: 'string' },
      'context-export': { type: 'string' },
      // Not `env-file`, which Node itself reads wherever it stands.
      env: { type: 'string', multiple: true, default: [] },
      port: { type: 'string', default: '3000' },
      'no-types': { type: 'boolean', default: false },
      tools: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [file, another] = positionals;
  if (file === undefined || another !== undefined) return { stderr: usage, code: 2 };
  const port = readPort(values.port);
  for (const each of values.env) loadEnvFile(each);
  const router = findRouter(await importModule(file), file, values.export);
  const createForeignContext = await findCreateContext(values.context, values['context-export']);

  // The gateway is created again for each procedure that is left out, and when the types are read.
  warnOnce();
  // Both depend on this package.
  type Docs = { readonly docsPage: () => Routes };
  const docs = await importInstalled<Docs>('trpc-gateway-runtime/docs', file);
  const document = await describeService(file);
  /** @param outputs what the types of outputs say, once they are read */
  async function create(outputs?: OutputSchemas) {
    const served = await readServed(router, outputs);
    const gatewayOptions: AnyGatewayOptions = {
      ...(served.hasRestMetadata ? trpcToOpenApi(document) : { document, openapi: true }),
      router,
      createContext: (options: ContextOptions<unknown>) =>
        createForeignContext(...foreignContextArguments(options)),
      policies: [loopbackOnly],
      // The one client is on this machine.
      idempotency: { caller: () => undefined },
      mcp: mcp(served.hasToolMetadata ? {} : { tools: () => true }),
      ...(docs && { routes: docs.docsPage() }),
      ...(outputs && { outputs }),
    };
    const created = await createPartialGateway(gatewayOptions);
    // Generated now, so that what is wrong with it is printed.
    await created.gateway.document();
    return { ...created, served, toolCosts: values.tools ? await toolCosts(created.gateway) : [] };
  }

  let current = await create();
  // Servers read its functions anew for each request.
  const gateway = new Proxy(current.gateway, { get: (_first, name) => Reflect.get(current.gateway, name) });
  const { host, port: ownPort } = await serve(gateway, { port });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  endWithNpx();
  type Typegen = { readonly readOutputs: OutputReader };
  const needsTypes = !values['no-types'] && current.served.untyped > 0;
  const typegen = needsTypes ? await importInstalled<Typegen>('trpc-gateway-typegen', file) : undefined;
  const report = (readsTypes: boolean) =>
    serveReport({
      router,
      ...current,
      file,
      origin: `http://${host}:${ownPort}`,
      hasDocsPage: docs !== undefined,
      hasWebSockets: opensWebSockets(),
      hasContext: values.context !== undefined,
      readsTypes,
    });
  const stdout = report(typegen !== undefined);
  if (typegen) {
    const printed = stdout.split('\n');
    const isNew = (line: string) => !printed.includes(line);
    void inferOutputs(typegen.readOutputs({ file, name: values.export }), async (outputs) => {
      current = await create(outputs);
      const { toolCosts: table } = current;
      const lines = report(false)
        .split('\n')
        .filter((line) => isNew(line) && !table.includes(line));
      // Its rows are not understood without their headings.
      return table.some(isNew) ? [...lines, ...table] : lines;
    }).then((text) => process.stdout.write(text));
  }
  return { stdout, code: undefined };
}

/**
 * Ends with its parent if `npx` started it: on SIGTERM, npm 11 ends the shell between the two, which does not pass the
 * signal on, and the server would keep its port. Not in scripts of `npm run`, which may leave a server in the background.
 */
function endWithNpx(): void {
  const { env, ppid } = process;
  if (env['npm_command'] !== 'exec') return;
  setInterval(() => {
    if (process.ppid !== ppid) process.exit(0);
  }, 500).unref();
}

/** @throws {ModuleError} */
function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 65_536) return port;
  throw new ModuleError(`--port is ${text}; it must be an integer from 0 to 65535.`);
}

/** @throws {ModuleError} */
function loadEnvFile(file: string): void {
  try {
    process.loadEnvFile(file);
  } catch (cause) {
    throw new ModuleError(`${file} cannot be read: ${(cause as Error).message}. Correct --env.`, {
      cause,
    });
  }
}

/** @throws {ModuleError} */
async function findCreateContext(
  file: string | undefined,
  name: string | undefined,
): Promise<ForeignCreateContext> {
  if (file === undefined) return () => ({});
  const isFunction = (value: unknown): value is ForeignCreateContext => typeof value === 'function';
  const usual = ['createContext', 'createTRPCContext', 'default'];
  const { found, names } = findExport(await importModule(file), isFunction, usual, name);
  if (found) return found;
  const choice =
    names.length === 0
      ? 'Name the module that exports it.'
      : `Choose one of ${names.join(', ')} with --context-export.`;
  throw new ModuleError(`${file} exports no function ${name ?? 'createContext'}. ${choice}`);
}

/** Returns the title and the version of the document: those of the package that the router belongs to. */
async function describeService(file: string): Promise<{ readonly title: string; readonly version: string }> {
  const manifest = findAbove(resolve(file), 'package.json');
  const text = manifest === undefined ? '{}' : await readFile(manifest, 'utf8');
  type Manifest = { readonly name?: string; readonly version?: string };
  const { name = basename(file), version = '0.0.0' } = JSON.parse(text) as Manifest;
  return { title: name, version };
}
