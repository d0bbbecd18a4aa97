// A process of the laboratory's service, on Node or Bun: `serviceProcess.ts OPTIONS`, which are JSON.
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { createClient, createSentinel } from 'redis';
import type { State } from 'trpc-gateway';
import { run } from 'trpc-gateway-runtime';
import { log } from 'trpc-gateway-runtime/log';
import type { EventLog } from 'trpc-gateway-shared';
import { folderEventLog } from 'trpc-gateway-shared/events/folder';
import { redisEventLog } from 'trpc-gateway-shared/events/redis';
import { folderState } from 'trpc-gateway-shared/state/folder';
import { mongodbState } from 'trpc-gateway-shared/state/mongodb';
import { redisState } from 'trpc-gateway-shared/state/redis';
import { createProcessGateway, openProcess } from '../service/service.ts';
import type { ProcessOptions } from './storage.ts';
import { openOutside } from './storeOutside.ts';

interface Opened {
  readonly state: State & { close(): Promise<void> };
  readonly log: EventLog;
}

async function open({ folder, location }: ProcessOptions): Promise<Opened> {
  if (location.kind === 'redis') {
    const { isSentinel, port } = location;
    const host = '127.0.0.1';
    const connect = () =>
      isSentinel
        ? createSentinel({ name: 'tests', sentinelRootNodes: [{ host, port }] })
        : createClient({ url: `redis://${host}:${port}` });
    return { state: await redisState({ connect }), log: redisEventLog({ connect }) };
  }
  const path = join(folder, 'shared');
  if (location.kind !== 'mongodb') return { state: folderState({ path }), log: folderEventLog({ path }) };
  const { database, uri } = location;
  const state = await mongodbState({ connect: () => new MongoClient(uri), database });
  return { state, log: folderEventLog({ path }) };
}

const processOptions: ProcessOptions = JSON.parse(process.argv[2] ?? '');
const { port, server } = processOptions;

await run({
  server,
  listen: { port },
  log: log({ requests: 'all' }),
  async start({ onClose, options: { onResponse }, stopWithError }) {
    const { close, outside } = await openOutside(processOptions, stopWithError);
    onClose(({ timeoutMs }) => close(timeoutMs));
    const opened = await open(processOptions);
    onClose(() => opened.log.close());
    onClose(() => opened.state.close());
    const service = openProcess({ ...opened, outside });
    onClose(() => service.runs.close());
    const gateway = await createProcessGateway(() => service, onResponse);
    return { gateway };
  },
});
