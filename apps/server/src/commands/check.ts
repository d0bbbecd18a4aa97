import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { StoreError } from '@petstore/core';
import { reservePort } from 'trpc-gateway/serve';
import { type Adapter, type ListenerAddress, loadAdapter } from 'trpc-gateway-runtime';
import { CommandError } from './commandError.ts';
import { type Configuration, ConfigurationError } from '../configuration/configuration.ts';
import { configurationText } from '../configuration/configurationText.ts';
import { openStore } from '../store/openStore.ts';
import { describingGateway } from './openapi.ts';
import { servers } from '../serve.ts';
import { tlsFiles } from '../configuration/options.ts';
import { explain, formatError } from '../explain.ts';
import { misspelledVariables } from '../configuration/misspelledVariables.ts';
import { uncreatedStore } from '../store/missingStore.ts';

/** Display names of the adapters. */
const serverNames: Readonly<Record<string, string>> = { uws: 'uWebSockets.js', node: 'node:http' };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Checks everything that a start needs: the certificate, the store and the ports. It does not create a store.
 * @returns the effective configuration, without secrets
 * @throws {CommandError} with one line per problem
 */
export async function runCheck(configuration: Configuration, environment: Environment): Promise<string> {
  const problems: string[] = [];
  let isOutdated = false;
  const adapter = loadAdapter(servers[configuration.SERVER]);
  const checkAdapter = () => checkLimitsAndCertificate(configuration, adapter);
  for (const check of [checkAdapter, checkStore, checkPort, checkAdminPort]) {
    await check(configuration).catch((error: unknown) => {
      // A start adds the missing collections and indexes.
      if (error instanceof StoreError && error.code === 'migration-needed') isOutdated = true;
      else problems.push(formatError(explain(error)));
    });
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  const { server, version } = await adapter;
  const verdict = `The service would start with this configuration${isOutdated ? ' and migrate the store' : ''}.`;
  return [
    configurationText(environment),
    ...misspelledVariables(environment),
    `${verdict} It would serve on ${serverNames[server]} (${version}).`,
  ].join('\n');
}

/** Checks the limits and the certificate by serving on a free port. */
async function checkLimitsAndCertificate(
  configuration: Configuration,
  adapter: Promise<Adapter>,
): Promise<void> {
  const { serve } = await adapter;
  const gateway = await describingGateway(configuration);
  const tls = tlsFiles(configuration);
  await (await serve(gateway, tls && { tls })).close();
}

async function checkStore(configuration: Configuration): Promise<void> {
  const { DATA_DIR, MONGODB_URI } = configuration;
  const uncreated = uncreatedStore(configuration);
  if (uncreated !== undefined) throw new ConfigurationError(uncreated);
  if (MONGODB_URI === undefined && !(await exists(join(DATA_DIR, 'petstore.mdb')))) {
    return checkFolderCanBeCreated(resolve(DATA_DIR));
  }
  const store = await openStore(configuration, { create: false });
  try {
    await store.ready();
  } finally {
    await store.close();
  }
}

/** Checks that a first start can create the folder: the nearest existing parent must be writable. */
async function checkFolderCanBeCreated(folder: string): Promise<void> {
  let nearest = folder;
  while (!(await exists(nearest))) nearest = dirname(nearest);
  const isFolder = (await stat(nearest)).isDirectory();
  if (isFolder && nearest === folder) {
    const { checkFolder } = await import('@petstore/embedded-store');
    return checkFolder(folder);
  }
  if (isFolder && (await exists(nearest, constants.W_OK | constants.X_OK))) return;
  throw new StoreError(
    'forbidden',
    `The data folder ${folder} cannot be created: ${nearest} ${isFolder ? 'is not writable' : 'is not a folder'}.`,
  );
}

const exists = (path: string, mode = constants.F_OK) =>
  access(path, mode).then(
    () => true,
    () => false,
  );

const checkPort = ({ HOST: host, PORT: port }: Configuration) => tryPort({ listener: 'service', host, port });

async function checkAdminPort({ ADMIN_HOST: host, ADMIN_PORT: port }: Configuration): Promise<void> {
  if (port !== undefined) await tryPort({ listener: 'admin', host, port });
}

async function tryPort(address: ListenerAddress): Promise<void> {
  try {
    (await reservePort(address.host, address.port)).release();
  } catch (error) {
    throw explain(error, address);
  }
}
