import { redisState } from 'trpc-gateway-shared/state/redis';
import { onTestFinished } from 'vitest';
import { openRedisLog } from '../../../../shared/src/events/testing/openRedisLog.ts';
import { describeEventLog } from '../../../../shared/src/events/testing/eventLogContract.ts';
import { describeState } from '../../../../shared/src/state/testing/stateContract.ts';
import { Random } from '@petstore/testing/random';
import { SimulatedProcess } from '../simulatedProcess.ts';
import { SimulatedRedis } from './simulatedRedis.ts';

const newRedis = () => new SimulatedRedis(new Random(Number(process.env['TEST_SEED'])));

describeState('in a simulated Redis', async () => {
  const redis = newRedis();
  const reopen = async () => {
    const state = await redisState({ connect: () => redis.client(new SimulatedProcess('p')) });
    onTestFinished(() => state.close());
    return state;
  };
  return { state: await reopen(), reopen };
});

describeEventLog('in a simulated Redis', async () => {
  const redis = newRedis();
  const reopen = async () => openRedisLog(() => redis.client(new SimulatedProcess('p')), 'events');
  return { log: await reopen(), reopen };
});
