import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '@petstore/core';
import { reservePort } from '@petstore/gateway/listen';
import { type Adapter, type ListenerAddress, loadAdapter } from '@petstore/runtime';
import { CommandError } from './commandError.ts';
import type { Configuration } from './configuration.ts';
import { configurationText } from './configurationText.ts';
import { openConfiguredStore } from './configuredStore.ts';
import { describingGateway } from './describingGateway.ts';
import { tlsFiles } from './edgeOptions.ts';
import { explain } from './explain.ts';
import { errorText } from './errorText.ts';

/** What people call the adapters. */
const serverNames: Readonly<Record<string, string>> = { uws: 'uWebSockets.js', node: 'node:http' };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Tries everything that a start needs: the certificate, the store, the ports. It makes no store where there is none.
 * @returns what would be served, without secrets
 * @throws {CommandError} with a sentence for each fault
 */
export async function runCheck(configuration: Configuration, environment: Environment): Promise<string> {
  const faults: string[] = [];
  let isOutdated = false;
  const adapter = loadAdapter(configuration.SERVER);
  const checkAdapter = () => checkEdge(configuration, adapter);
  for (const check of [checkAdapter, checkStore, checkPort, checkAdminPort]) {
    await check(configuration).catch((error: unknown) => {
      // A start brings the store up to date.
      if (error instanceof StoreError && error.code === 'migration-needed') isOutdated = true;
      else faults.push(errorText(explain(error)));
    });
  }
  if (faults.length > 0) throw new CommandError(faults.join('\n'));
  const { server } = await adapter;
  const succeeds = `A start with this would succeed${isOutdated ? ', and bring the store up to date' : ''}.`;
  return `${configurationText(environment)}\n${succeeds} It would serve on ${serverNames[server]}.`;
}

/** The limits and the certificate that are set, on a free port. */
async function checkEdge(configuration: Configuration, adapter: Promise<Adapter>): Promise<void> {
  const { serve } = await adapter;
  const gateway = await describingGateway(configuration);
  const tls = tlsFiles(configuration);
  await (await serve(gateway, tls && { tls })).close();
}

async function checkStore(configuration: Configuration): Promise<void> {
  const { DATA_DIR, MONGODB_URI } = configuration;
  if (MONGODB_URI === undefined && !(await isThere(join(DATA_DIR, 'petstore.mdb')))) {
    return checkRoom(resolve(DATA_DIR));
  }
  const store = await openConfiguredStore(configuration, { create: false });
  try {
    await store.ready();
  } finally {
    await store.close();
  }
}

/** Whether a first start can make its folder: the nearest one that is there must take it. */
async function checkRoom(folder: string): Promise<void> {
  let nearest = folder;
  while (!(await isThere(nearest))) nearest = dirname(nearest);
  const isFolder = (await stat(nearest)).isDirectory();
  if (isFolder && nearest === folder) {
    const { checkFolder } = await import('@petstore/core/store/embedded');
    return checkFolder(folder);
  }
  if (isFolder && (await isThere(nearest, constants.W_OK | constants.X_OK))) return;
  throw new StoreError(
    'forbidden',
    `The data folder ${folder} cannot be made: ${nearest} ${isFolder ? 'may not be written' : 'is no folder'}.`,
  );
}

const isThere = (path: string, mode = constants.F_OK) =>
  access(path, mode).then(
    () => true,
    () => false,
  );

const checkPort = ({ HOST: host, PORT: port }: Configuration) => tryPort({ listener: 'service', host, port });

async function checkAdminPort({ ADMIN_HOST: host, ADMIN_PORT: port }: Configuration): Promise<void> {
  if (port !== undefined) await tryPort({ listener: 'admin', host, port });
}

async function tryPort(at: ListenerAddress): Promise<void> {
  try {
    (await reservePort(at.host, at.port)).release();
  } catch (error) {
    throw explain(error, at);
  }
}
