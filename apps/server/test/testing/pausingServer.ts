import { setTimeout as sleep } from 'node:timers/promises';
import { collections } from '@petstore/core';
import { openMongodbStore } from '@petstore/core/store/mongodb';
import { startServer } from '../../src/serve.ts';
import { readConfiguration } from '../../src/configuration/configuration.ts';

// A server on MongoDB that sometimes pauses between the reservation of an idempotent create and its write. It logs
// `{"msg":"paused"}`, so that a test can kill it at this point. Only tests start this file: production cannot pause.
const pausedShare = 0.1;
const pauseMs = 400;

const configuration = readConfiguration(process.env);
await startServer(configuration, {
  openStore: ({ MONGODB_DB, MONGODB_URI = '', MONGODB_TIMEOUT_MS }) =>
    openMongodbStore({
      uri: MONGODB_URI,
      database: MONGODB_DB,
      operationTimeoutMs: MONGODB_TIMEOUT_MS,
      async afterReservation() {
        if (Math.random() >= pausedShare) return;
        process.stdout.write(`${JSON.stringify({ msg: 'paused' })}\n`);
        await sleep(pauseMs);
      },
      collections,
    }),
});
