import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@petstore/testing/mongodb';
import {
  type FaultProxy,
  type RedisProcess,
  startFaultProxy,
  startRedis,
  startRedisGroup,
} from '@petstore/testing/redis';
import { mountDisk } from '@petstore/testing/smallDisk';

/**
 * Where a process finds its state, its log and its effects. The log is in the folder, unless it is in Redis. `embedded` and `database`
 * are of stores that have the effects.
 */
type Location =
  | { readonly kind: 'embedded' | 'folder' }
  /** `port`: of a Redis, or of the Sentinel of a group. */
  | { readonly kind: 'redis'; readonly port: number; readonly isSentinel: boolean }
  | { readonly kind: 'database' | 'mongodb'; readonly uri: string; readonly database: string };

export interface ProcessOptions {
  readonly server: 'bun' | 'node' | 'uws';
  readonly port: number;
  /** The folder of what the processes share. */
  readonly folder: string;
  /** The folder of their effects. */
  readonly outside: string;
  readonly location: Location;
}

/** What the processes of a service share. */
export interface Storage {
  /** The folder of their effects, which no fault affects. */
  readonly outside: string;
  /** The folder of their state and their log. */
  readonly folder: string;
  /** One Redis, or two with Sentinel; none if the state is elsewhere. */
  readonly servers: readonly RedisProcess[];
  /** Between each process and its Redis or MongoDB. None with Sentinel, whose clients connect to the address that it names. */
  readonly proxies: readonly FaultProxy[];
  readonly locationOf: (process: number) => Location;
  remove(): Promise<void>;
}

/** `smallDisk`: a folder on a disk of 2 MB. `sentinel`: a Redis that Sentinel replaces when it fails. */
export type StorageKind = 'database' | 'embedded' | 'folder' | 'mongodb' | 'redis' | 'sentinel' | 'smallDisk';

/** Creates what some processes share. Parts that are not of the kind are empty. */
export async function openStorage(kind: StorageKind, processes: number): Promise<Storage> {
  const outside = await mkdtemp(join(tmpdir(), 'faults-'));
  const folder = join(outside, 'folder');
  await mkdir(folder);
  const unmount = kind === 'smallDisk' ? mountDisk(folder) : () => {};
  const opened = await openServers(kind, processes);
  return {
    ...opened,
    outside,
    folder,
    async remove() {
      await Promise.all(opened.proxies.map((proxy) => proxy.close()));
      await opened.remove();
      unmount();
      await rm(outside, { recursive: true, force: true });
    },
  };
}

type Servers = Omit<Storage, 'folder' | 'outside'>;

async function openServers(kind: StorageKind, processes: number): Promise<Servers> {
  const proxiesOf = (uri: string) =>
    Promise.all(Array.from({ length: processes }, () => startFaultProxy(uri)));
  const none = { servers: [], proxies: [], remove: async () => {} };
  switch (kind) {
    case 'sentinel': {
      const { remove, replica, sentinel, server } = await startRedisGroup();
      const location: Location = { kind: 'redis', port: sentinel.port, isSentinel: true };
      return { ...none, servers: [server, replica], locationOf: () => location, remove };
    }
    case 'redis': {
      const server = await startRedis();
      const proxies = await proxiesOf(server.url);
      const portOf = (at: number) => Number(new URL(proxies[at]?.uri ?? '').port);
      const locationOf = (at: number): Location => ({ kind, port: portOf(at), isSentinel: false });
      return { servers: [server], proxies, locationOf, remove: server.remove };
    }
    case 'database':
    case 'mongodb': {
      const { database, drop, uri } = testDatabase();
      const proxies = await proxiesOf(uri);
      const locationOf = (at: number): Location => ({ kind, uri: proxies[at]?.uri ?? uri, database });
      return { ...none, proxies, locationOf, remove: drop };
    }
    default:
      return { ...none, locationOf: () => ({ kind: kind === 'embedded' ? kind : 'folder' }) };
  }
}
